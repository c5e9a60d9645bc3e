"""Job records of ml-goodput-measurement, and the checkpoint statistics of Orbax in the same log."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Format, Pattern, Value


def _time(*fields: str) -> Value:
    """Return the time of a record: ISO text in exports, seconds since the epoch in the log store itself."""
    return Value(group=fields, kind="stamp", stamp="iso")


def _seconds(*fields: str) -> Value:
    """Return a duration."""
    return Value(group=fields, kind="float")


def _phase(
    name: str, field: str, phase: str, edge: str, *, kind: str = "", note: str = "", **more: Value
) -> Pattern:
    """Return the pattern of records whose time is in ``field``; the field ``kind`` names the event."""
    return Pattern(
        name=name,
        table="phases",
        when=(field, kind) if kind else (field,),
        columns={
            "ts": _time(field),
            "phase": Value(const=phase),
            "edge": Value(const=edge),
            **({"detail": Value(group=kind)} if kind else {}),
            **more,
        },
        versions="0.0.1 to 0.2.3",
        note=note,
    )


PHASES = (
    _phase(
        "job_start",
        "job_start_time",
        "process_start",
        "point",
        detail=Value(group="job_name"),
        note="One a process start. A name may be used again by another run.",
    ),
    _phase(
        "job_end",
        "job_end_time",
        "loop",
        "end",
        detail=Value(const="completed"),
        note="Only after a clean end. The process is still there: no record says when it left.",
    ),
    _phase("init_begin", "tpu_init_start_time", "init", "begin"),
    _phase("init_end", "tpu_init_end_time", "init", "end"),
    _phase("prep_begin", "training_prep_start_time", "model_setup", "begin", note="A restore lies inside."),
    _phase("prep_end", "training_prep_end_time", "model_setup", "end"),
    _phase(
        "data_begin", "data_loading_start_time", "data_wait", "begin", note="One batch; may run beside steps."
    ),
    _phase("data_end", "data_loading_end_time", "data_wait", "end"),
    _phase(
        "custom_begin", "custom_badput_event_start_time", "custom", "begin", kind="custom_badput_event_type"
    ),
    _phase("custom_end", "custom_badput_event_end_time", "custom", "end", kind="custom_badput_event_type"),
    _phase("wait_begin", "elastic_wait_start_time", "custom", "begin", kind="elastic_wait_event_type"),
    _phase("wait_end", "elastic_wait_end_time", "custom", "end", kind="elastic_wait_event_type"),
    _phase(
        "reinit_begin", "elastic_reinit_start_time", "custom", "begin", detail=Value(const="elastic_reinit")
    ),
    _phase("reinit_end", "elastic_reinit_end_time", "custom", "end", detail=Value(const="elastic_reinit")),
)

STEPS = (
    Pattern(
        name="step",
        table="steps",
        when=("step_count", "step_start_time"),
        columns={
            "ts": _time("step_start_time"),
            "step_last": Value(group="step_count", kind="int"),
            "ts_edge": Value(const="begin"),
        },
        versions="0.0.1 to 0.2.3",
        note="The time at which the step was dispatched; no record says when it ended. After a crash the "
        "last records may be missing, and records may arrive out of order.",
    ),
)

_SAVE: Mapping[str, Value] = {
    "ts": _time("checkpoint_manager_blocking_start_time", "checkpointer_blocking_start_time"),
    "op": Value(const="save"),
    "edge": Value(const="span"),
    "step": Value(group="step", kind="int"),
    "blocking_s": _seconds(
        "checkpoint_manager_blocking_duration_secs", "checkpointer_blocking_duration_secs"
    ),
    "path": Value(group="directory"),
}
_LOAD: Mapping[str, Value] = {
    "ts": _time("checkpoint_manager_start_time", "checkpointer_start_time"),
    "op": Value(const="load"),
    "edge": Value(const="span"),
    "step": Value(group="step", kind="int"),
    "blocking_s": _seconds("checkpoint_manager_duration_secs", "checkpointer_duration_secs"),
    "path": Value(group="directory"),
    "ok": Value(const=True),
}
_ORBAX = "Orbax to 0.12"

CHECKPOINTS = (
    Pattern(
        name="save",
        table="checkpoints",
        where={"event_type": ("save",), "synchronous": ("true",)},
        columns={**_SAVE, "ok": Value(const=True)},
        versions=_ORBAX,
        note="One record a reporting host. The blocking time of the manager contains the waits for the save "
        "before, for the writer and for old steps: they are not added. Durable at its end.",
    ),
    Pattern(
        name="save_async",
        table="checkpoints",
        where={"event_type": ("save",), "synchronous": ("false",)},
        columns=_SAVE,
        versions=_ORBAX,
        note="The blocking part alone; no record says when the save was durable.",
    ),
    Pattern(
        name="restore",
        table="checkpoints",
        where={"event_type": ("restore",)},
        columns=_LOAD,
        versions=_ORBAX,
        note="One record a reporting host.",
    ),
    Pattern(
        name="emergency_restore",
        table="checkpoints",
        where={"event_type": ("emergency_restore",)},
        columns={**_LOAD, "tier": Value(const="local")},
        versions=_ORBAX,
        note="From local storage, or by broadcast from another slice.",
    ),
)

FACTS = (
    Pattern(
        name="slices",
        table="facts",
        when=("elastic_slice_counts_timestamp", "active_slices"),
        columns={
            "ts": _time("elastic_slice_counts_timestamp"),
            "key": Value(const="active_slices"),
            "value": Value(group="active_slices"),
        },
        versions="0.2.0 to 0.2.3",
        note="Slices that train, of those that the run wants.",
    ),
)

FORMAT = Format(
    name="goodput_records",
    title="ml-goodput-measurement job records and Orbax step statistics",
    link="https://github.com/AI-Hypercomputer/ml-goodput-measurement",
    role="trainer",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *FACTS),
    shape="records",
    unwrap=("jsonPayload",),
    step_time="No step time is printed: a record marks the start of a step, and the step ends where the next "
    "record begins. Saves, evaluations and waits for data that lie between two starts are inside.",
    step_time_excludes_stalls=False,
    deciding=("step", "job_start", "init_begin", "prep_begin", "data_begin", "save", "save_async", "restore"),
    versions="0.0.1 to 0.2.3",
    ordered_by_time=True,
    start_names_run=True,
)
