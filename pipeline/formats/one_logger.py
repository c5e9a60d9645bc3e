"""NVIDIA one-logger: spans and events of a training, as its file exporter writes them, one record a line.

A span that holds no other is one record (`complete`); others have one for their start and one for their stop.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Format, Pattern, Value

_VERSIONS = "2.0 to 2.3"

_START = "start_event/attributes/timestamp_msec"
_STOP = "stop_event/attributes/timestamp_msec"
_EVENT = "event/attributes/timestamp_msec"

#: Edges of the types of record, the field of their time, and the end of the names of their patterns.
_TYPES: Mapping[str, tuple[str, str, str]] = {
    "start": ("begin", _START, "_begin"),
    "stop": ("end", _STOP, "_end"),
    "complete": ("span", _START, "_whole"),
}


def _ms(field: str) -> Value:
    """Return a time in milliseconds since the epoch."""
    return Value(group=field, kind="stamp", stamp="epoch_ms")


def _event(field: str, kind: str = "int") -> Value:
    """Return an attribute of an event."""
    return Value(group=f"event/attributes/{field}", kind="int" if kind == "int" else "float")


_LENGTH = Value(group="attributes/duration_msec", kind="float", scale=1e-3)


def _spans(name: str, phase: str, names: tuple[str, ...], ends_at_once: bool = False) -> tuple[Pattern, ...]:
    """Return the patterns of the records of spans that are phases.

    Of a start-up phase that is one record, its end counts.
    """
    found = []
    for kind, (edge, field, suffix) in _TYPES.items():
        at_end = kind == "complete" and ends_at_once
        found.append(
            Pattern(
                name=f"{name}{suffix}",
                table="phases",
                where={"type": (kind,), "name": names},
                columns={
                    "ts": _ms(_STOP if at_end else field),
                    "phase": Value(const=phase),
                    "edge": Value(const="end" if at_end else edge),
                    "detail": Value(group="name"),
                    **({} if kind == "start" else {"duration_s": _LENGTH}),
                },
                versions=_VERSIONS,
            )
        )
    return tuple(found)


PHASES = (
    Pattern(
        name="process_start",
        table="phases",
        where={"type": ("start", "complete"), "name": ("application",)},
        columns={
            "ts": _ms(_START),
            "phase": Value(const="process_start"),
            "edge": Value(const="point"),
            "detail": Value(group="attributes/perf_tag"),
        },
        versions=_VERSIONS,
    ),
    Pattern(
        name="exit",
        table="phases",
        where={"type": ("stop",), "name": ("application",)},
        columns={
            "ts": _ms(_STOP),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(const="application ended"),
        },
        versions=_VERSIONS,
        note="Only where the program ended by itself, whatever made it end.",
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        where={"type": ("start", "complete"), "name": ("training_loop",)},
        columns={
            "ts": _ms(_START),
            "phase": Value(const="loop"),
            "edge": Value(const="begin"),
            "step": Value(group="attributes/train_iterations_start", kind="int", offset=1),
        },
        versions=_VERSIONS,
        note="The attribute counts the steps that were done before, the column names the first one to come.",
    ),
    Pattern(
        name="loop_end",
        table="phases",
        where={"type": ("stop",), "name": ("training_loop",)},
        columns={"ts": _ms(_STOP), "phase": Value(const="loop"), "edge": Value(const="end")},
        versions=_VERSIONS,
    ),
    *_spans("init", "init", ("distributed_code_initialization",), ends_at_once=True),
    *_spans("data_setup", "data_setup", ("data_loader_initialization",), ends_at_once=True),
    *_spans("model_setup", "model_setup", ("model_initialization", "optimizer_initialization"), True),
    *_spans("evaluation", "eval", ("validation_loop", "testing_loop")),
)

_STEP_OF_SAVE = Value(group="attributes/current_iteration", kind="int")


def _saves(name: str, span: str, done: Mapping[str, Value], last: str) -> tuple[Pattern, ...]:
    """Return the patterns of the records of a save: ``last`` is the edge of its stop."""
    return tuple(
        Pattern(
            name=f"{name}{suffix}",
            table="checkpoints",
            where={"type": (kind,), "name": (span,)},
            columns={
                "ts": _ms(field),
                "op": Value(const="save"),
                "edge": Value(const=last if kind == "stop" else edge),
                "step": _STEP_OF_SAVE,
                **({} if kind == "start" else {"blocking_s": _LENGTH, **done}),
            },
            versions=_VERSIONS,
        )
        for kind, (edge, field, suffix) in _TYPES.items()
    )


CHECKPOINTS = (
    *_saves("save", "checkpoint_save_sync", {"ok": Value(const=True)}, "end"),
    *_saves("save_async", "checkpoint_save_async", {}, "blocked"),
    Pattern(
        name="save_success",
        table="checkpoints",
        where={"type": ("event",), "event/name": ("save_checkpoint_success",)},
        columns={
            "ts": _ms(_EVENT),
            "op": Value(const="save"),
            "edge": Value(const="end"),
            "step": _event("current_iteration"),
            "ok": Value(const=True),
        },
        versions=_VERSIONS,
        note="Durable.",
    ),
    *(
        Pattern(
            name=f"load{suffix}",
            table="checkpoints",
            where={"type": (kind,), "name": ("checkpoint_load",)},
            columns={
                "ts": _ms(field),
                "op": Value(const="load"),
                "edge": Value(const=edge),
                **({} if kind == "start" else {"blocking_s": _LENGTH, "ok": Value(const=True)}),
            },
            versions=_VERSIONS,
            note="The step that was read is not told; the loop tells where it goes on.",
        )
        for kind, (edge, field, suffix) in _TYPES.items()
    ),
)

STEPS = (
    Pattern(
        name="steps",
        table="steps",
        where={"type": ("event",), "event/name": ("training_metrics_update",)},
        columns={
            "ts": _ms(_EVENT),
            "ts_edge": Value(const="end"),
            "step_last": Value(group="event/attributes/current_iteration", kind="int", offset=1),
            "steps": _event("interval"),
            "batch_size": _event("avg_batch_size"),
            "tokens_per_s": _event("avg_tokens_per_second", "float"),
            "tflops_per_gpu": _event("train_throughput_per_gpu", "float"),
            "loss": _event("latest_loss", "float"),
        },
        versions=_VERSIONS,
        note="Written every so many steps, and steps count from 0. The time is that of the record. Means and "
        "counts of iterations are those of the whole process so far, and are not read.",
    ),
)

OTHERS = (
    Pattern(
        name="world_size",
        table="facts",
        where={"type": ("event",), "event/name": ("one_logger_initialization",)},
        columns={
            "ts": _ms(_EVENT),
            "host": Value(group="event/attributes/node_name"),
            "rank": _event("rank"),
            "key": Value(const="world_size"),
            "value": Value(group="event/attributes/world_size"),
        },
        versions=_VERSIONS,
    ),
    Pattern(
        name="batch",
        table="facts",
        where={"type": ("event",), "event/name": ("update_training_telemetry_config",)},
        columns={
            "ts": _ms(_EVENT),
            "key": Value(const="global_batch_size"),
            "value": Value(group="event/attributes/global_batch_size"),
        },
        versions=_VERSIONS,
    ),
    Pattern(
        name="error",
        table="phases",
        where={"type": ("application_error",)},
        columns={
            "ts": _ms(_EVENT),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(group=("event/attributes/exception_message", "event/attributes/error_message")),
        },
        versions=_VERSIONS,
    ),
    Pattern(
        name="known_events",
        table="",
        where={
            "type": ("event",),
            "event/name": (
                *("validation_metrics_update", "testing_metrics_update", "sync_checkpoint_metrics_update"),
            ),
        },
        versions=_VERSIONS,
    ),
    Pattern(
        name="known_spans",
        table="",
        where={
            "type": ("start", "stop", "complete"),
            "name": (
                *("training_single_iteration", "validation_single_iteration", "TESTING_SINGLE_ITERATION"),
                *("checkpoint_save_finalization", "data_loading", "model_forward", "zero_grad"),
                *("model_backward", "optimizer_update"),
            ),
        },
        versions=_VERSIONS,
    ),
    Pattern(
        name="telemetry_error",
        table="",
        where={"type": ("telemetry_data_error",)},
        when=("error/name",),
        versions=_VERSIONS,
    ),
)

FORMAT = Format(
    name="one_logger",
    title="NVIDIA one-logger, exported as JSON lines",
    link="https://github.com/NVIDIA/nv-one-logger",
    role="trainer",
    shape="records",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *OTHERS),
    step_time="No time of a step is told: the mean in a record is that of the whole process so far.",
    step_time_excludes_stalls=False,
    deciding=("steps", "process_start", "loop_begin", "save_success", "world_size"),
    unrendered="It holds what the console of the same trainer tells, once more.",
    versions=_VERSIONS,
)
