"""torchtitan, structured events: one JSON object a line for the begin and the end of what a rank does."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._words import other_than
from pipeline.formats.format import Derived, Format, Pattern, Value

_VERSIONS = "2026-05 to 2026-08"
_STEP = Value(group="step", kind="int")
#: Spans tell their length in milliseconds, at their end.
_LENGTH = Value(group="value", kind="float", scale=1e-3)
_MESSAGE = Value(group="message")
#: The loop stands still for a batch; elsewhere data may be loaded beside the steps.
_BLOCKING = Value(const="blocking")
_COMMON: Mapping[str, Value] = {
    "ts": Value(group="time_us", kind="stamp", stamp="epoch_us"),
    "rank": Value(group=("global_rank", "rank"), kind="int"),
    "host": Value(group="host_name"),
}
#: Spans of which a pattern reads the start or the end; the others are timers or known.
_STARTS = (
    *("torch_distributed_init", "model_parallelism_init", "checkpoint_load", "eval", "fetching_batch"),
    *("step", "torch_distributed_teardown", "training"),
)
_TIMED = ("step", "fwd_bwd", "post_dataloading_process", "collect_dist_metrics")
_ENDS = (
    *("torch_distributed_init", "model_parallelism_init", "checkpoint_load", "checkpoint_save", "eval"),
    *("fetching_batch", "optim", "gc_collect", "torch_distributed_teardown", *_TIMED),
)
_ERRORS = ("step", "fetching_batch", "checkpoint_save", "checkpoint_load")


def _untagged(tag: str, name: str) -> Derived:
    """Return a field that is there where no tag of the step is ``tag``; a step without tags has no list."""
    other = other_than((tag,))
    return Derived(("step_tags", "log_type_name"), rf'^(?P<v>{name}|\["{other}"(?:,\s*"{other}")*\])$')


def _record(
    name: str,
    types: tuple[str, ...],
    table: str = "",
    when: tuple[str, ...] = (),
    note: str = "",
    **columns: Value,
) -> Pattern:
    """Return the pattern of records of some types."""
    return Pattern(
        name=name,
        table=table,
        when=("time_us", *when),
        where={"log_type_name": types} if types else {},
        columns={**_COMMON, **columns} if table else {},
        versions=_VERSIONS,
        note=note,
    )


def _phase(
    name: str,
    types: tuple[str, ...],
    phase: str,
    edge: str,
    when: tuple[str, ...] = (),
    note: str = "",
    **more: Value,
) -> Pattern:
    """Return the pattern of records that begin or end a phase."""
    columns = {"phase": Value(const=phase), "edge": Value(const=edge), **more}
    return _record(name, types, "phases", when, note, **columns)


STEPS = (
    _record(
        "step",
        ("optim_end",),
        "steps",
        note="The update is done here. The span of the whole step also ends where the data have run out or "
        "an exception was raised, and holds save and evaluation.",
        step_last=_STEP,
        ts_edge=Value(const="end"),
    ),
    _record(
        "timer",
        tuple(f"{name}_end" for name in _TIMED),
        "timers",
        note="Time of the host: kernels run on behind it.",
        step=_STEP,
        component=Value(group="span"),
        mean_s=_LENGTH,
    ),
    _record(
        "batch",
        ("fetching_batch_end",),
        "timers",
        when=("short",),
        step=_STEP,
        component=Value(group="span"),
        mean_s=_LENGTH,
    ),
)

PHASES = (
    _phase("process_start", ("structured_logger_started",), "process_start", "point"),
    _phase("init_begin", ("torch_distributed_init_start",), "init", "begin"),
    _phase("init_end", ("torch_distributed_init_end",), "init", "end", duration_s=_LENGTH),
    _phase("model_begin", ("model_parallelism_init_start",), "model_setup", "begin"),
    _phase("model_end", ("model_parallelism_init_end",), "model_setup", "end", duration_s=_LENGTH),
    _phase(
        "trainer_ready",
        ("training_start",),
        "model_setup",
        "end",
        note="Everything is built; a checkpoint is read after it.",
    ),
    _phase(
        "loop_begin",
        ("step_start",),
        "loop",
        "begin",
        when=("first",),
        note="The first step of a process, as `relative_step` says.",
        step=_STEP,
    ),
    _phase("eval_begin", ("eval_start",), "eval", "begin", step=_STEP),
    _phase("eval_end", ("eval_end",), "eval", "end", step=_STEP, duration_s=_LENGTH),
    _phase("batch_begin", ("fetching_batch_start",), "data_wait", "begin", step=_STEP, detail=_BLOCKING),
    _phase(
        "batch_late",
        ("fetching_batch_end",),
        "data_wait",
        "end",
        when=("late",),
        note="A batch for which the loop waited a second or longer; shorter ones are timers.",
        step=_STEP,
        duration_s=_LENGTH,
        detail=_BLOCKING,
    ),
    _phase(
        "gc",
        ("gc_collect_end",),
        "gc",
        "end",
        when=("collected",),
        note="The span is there in every step; a tag of the step says that something was collected.",
        step=_STEP,
        duration_s=_LENGTH,
    ),
    _phase(
        "data_exhausted",
        ("fetching_batch_error",),
        "loop",
        "end",
        note="Where it was another error, an exception leaves the step as well.",
        step=_STEP,
        detail=Value(const="data_exhausted"),
    ),
    _phase(
        "failed",
        ("step_error",),
        "exit",
        "point",
        note="An exception left the step.",
        detail=_MESSAGE,
        step=_STEP,
    ),
    _phase("error", (), "custom", "point", when=("other_error",), step=_STEP, detail=_MESSAGE),
    _phase("shutdown", ("torch_distributed_teardown_start",), "shutdown", "begin"),
    _phase(
        "completed",
        ("torch_distributed_teardown_end",),
        "exit",
        "point",
        note="Only after a clean end.",
        detail=Value(const="completed"),
    ),
)


def _checkpoint(
    name: str,
    types: tuple[str, ...],
    op: str,
    edge: str,
    when: tuple[str, ...] = (),
    note: str = "",
    **more: Value,
) -> Pattern:
    """Return the pattern of records that begin or end a save or a load."""
    columns = {"op": Value(const=op), "edge": Value(const=edge), **more}
    return _record(name, types, "checkpoints", when, note, **columns)


_FAILED = Value(const=False)

CHECKPOINTS = (
    _checkpoint(
        "save",
        ("checkpoint_save_end",),
        "save",
        "blocked",
        when=("saved",),
        note="The span is there in every step; a tag of the step says that something was saved. It holds the "
        "wait for the save before. The loop goes on, and an asynchronous save is not durable yet.",
        step=_STEP,
        blocking_s=_LENGTH,
    ),
    _checkpoint("save_failed", ("checkpoint_save_error",), "save", "end", step=_STEP, ok=_FAILED),
    _checkpoint("load_begin", ("checkpoint_load_start",), "load", "begin"),
    _checkpoint(
        "load_end",
        ("checkpoint_load_end",),
        "load",
        "end",
        note="Also where there was nothing to load. The step is not named: it is the one before the first.",
        blocking_s=_LENGTH,
    ),
    _checkpoint("load_failed", ("checkpoint_load_error",), "load", "end", ok=_FAILED),
)

KNOWN = (
    _record("no_save", ("checkpoint_save_end",), when=("unsaved",)),
    _record("no_collection", ("gc_collect_end",), when=("uncollected",)),
    _record("step_begin", ("step_start",), when=("later",)),
    _record("span_begin", (), when=("other_start",)),
    _record("span_end", (), when=("other_end",)),
    _record("scalar", ("metric_value",)),
)

FORMAT = Format(
    name="torchtitan_events",
    title="torchtitan, structured events",
    link="https://github.com/pytorch/torchtitan/tree/main/torchtitan/observability/structured_logger",
    role="trainer",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *KNOWN),
    shape="records",
    step_time="No step time is read: a step ends where its update does, and saves and evaluations come after "
    "it. The span `step`, which is kept as a timer, holds both, and the wait for data.",
    step_time_excludes_stalls=False,
    deciding=(
        "step",
        "process_start",
        "init_begin",
        "init_end",
        "model_begin",
        "trainer_ready",
        "load_begin",
    ),
    derive={
        "span": Derived(("log_type_name",), r"^(?P<v>.+)_end$"),
        "first": Derived(("relative_step",), r"^(?P<v>1)$"),
        "later": Derived(("relative_step", "log_type_name"), r"^(?P<v>[02-9]|\d{2,}|step_start)$"),
        "saved": Derived(("step_tags",), r'(?P<v>"checkpoint_save")'),
        "unsaved": _untagged("checkpoint_save", "checkpoint_save_end"),
        "collected": Derived(("step_tags",), r'(?P<v>"gc")'),
        "uncollected": _untagged("gc", "gc_collect_end"),
        "late": Derived(("value",), r"^(?P<v>\d{4,})(?:\.\d*)?$"),
        "short": Derived(("value",), r"^(?P<v>\d{1,3}(?:\.\d*)?(?:[eE]-\d+)?)$"),
        "other_start": Derived(("log_type_name",), rf"^(?P<v>{other_than(_STARTS)}_start)$"),
        "other_end": Derived(("log_type_name",), rf"^(?P<v>{other_than(_ENDS)}_end)$"),
        "other_error": Derived(("log_type_name",), rf"^(?P<v>{other_than(_ERRORS)}_error)$"),
    },
    versions=_VERSIONS,
)
