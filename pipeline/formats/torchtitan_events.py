"""torchtitan, structured events: one JSON object a line for the begin and the end of what a rank does."""

from __future__ import annotations

from pipeline.formats._torchtitan_records import (
    BLOCKING,
    ENDS,
    ERRORS,
    LENGTH,
    MESSAGE,
    STARTS,
    STEP,
    TIMED,
    VERSIONS,
    checkpoint,
    phase,
    record,
    untagged,
)
from pipeline.formats._words import other_than
from pipeline.formats.format import Derived, Format, Value

STEPS = (
    record(
        "step",
        ("optim_end",),
        "steps",
        note="The update is done here. The span of the whole step also ends where the data have run out or "
        "an exception was raised, and holds save and evaluation.",
        step_last=STEP,
        ts_edge=Value(const="end"),
    ),
    record(
        "timer",
        tuple(f"{name}_end" for name in TIMED),
        "timers",
        note="Time of the host: kernels run on behind it.",
        step=STEP,
        component=Value(group="span"),
        mean_s=LENGTH,
    ),
    record(
        "batch",
        ("fetching_batch_end",),
        "timers",
        when=("short",),
        step=STEP,
        component=Value(group="span"),
        mean_s=LENGTH,
    ),
)

PHASES = (
    phase("process_start", ("structured_logger_started",), "process_start", "point"),
    phase("init_begin", ("torch_distributed_init_start",), "init", "begin"),
    phase("init_end", ("torch_distributed_init_end",), "init", "end", duration_s=LENGTH),
    phase("model_begin", ("model_parallelism_init_start",), "model_setup", "begin"),
    phase("model_end", ("model_parallelism_init_end",), "model_setup", "end", duration_s=LENGTH),
    phase(
        "trainer_ready",
        ("training_start",),
        "model_setup",
        "end",
        note="Everything is built; a checkpoint is read after it.",
    ),
    phase(
        "loop_begin",
        ("step_start",),
        "loop",
        "begin",
        when=("first",),
        note="The first step of a process, as `relative_step` says.",
        step=STEP,
    ),
    phase("eval_begin", ("eval_start",), "eval", "begin", step=STEP),
    phase("eval_end", ("eval_end",), "eval", "end", step=STEP, duration_s=LENGTH),
    phase("batch_begin", ("fetching_batch_start",), "data_wait", "begin", step=STEP, detail=BLOCKING),
    phase(
        "batch_late",
        ("fetching_batch_end",),
        "data_wait",
        "end",
        when=("late",),
        note="A batch for which the loop waited a second or longer; shorter ones are timers.",
        step=STEP,
        duration_s=LENGTH,
        detail=BLOCKING,
    ),
    phase(
        "gc",
        ("gc_collect_end",),
        "gc",
        "end",
        when=("collected",),
        note="The span is there in every step; a tag of the step says that something was collected.",
        step=STEP,
        duration_s=LENGTH,
    ),
    phase(
        "data_exhausted",
        ("fetching_batch_error",),
        "loop",
        "end",
        note="Where it was another error, an exception leaves the step as well.",
        step=STEP,
        detail=Value(const="data_exhausted"),
    ),
    phase(
        "failed",
        ("step_error",),
        "exit",
        "point",
        note="An exception left the step.",
        detail=MESSAGE,
        step=STEP,
    ),
    phase("error", (), "custom", "point", when=("other_error",), step=STEP, detail=MESSAGE),
    phase("shutdown", ("torch_distributed_teardown_start",), "shutdown", "begin"),
    phase(
        "completed",
        ("torch_distributed_teardown_end",),
        "exit",
        "point",
        note="Only after a clean end.",
        detail=Value(const="completed"),
    ),
)


_FAILED = Value(const=False)

CHECKPOINTS = (
    checkpoint(
        "save",
        ("checkpoint_save_end",),
        "save",
        "blocked",
        when=("saved",),
        note="The span is there in every step; a tag of the step says that something was saved. It holds the "
        "wait for the save before. The loop goes on, and an asynchronous save is not durable yet.",
        step=STEP,
        blocking_s=LENGTH,
    ),
    checkpoint("save_failed", ("checkpoint_save_error",), "save", "end", step=STEP, ok=_FAILED),
    checkpoint("load_begin", ("checkpoint_load_start",), "load", "begin"),
    checkpoint(
        "load_end",
        ("checkpoint_load_end",),
        "load",
        "end",
        note="Also where there was nothing to load. The step is not named: it is the one before the first.",
        blocking_s=LENGTH,
    ),
    checkpoint("load_failed", ("checkpoint_load_error",), "load", "end", ok=_FAILED),
)

KNOWN = (
    record("no_save", ("checkpoint_save_end",), when=("unsaved",)),
    record("no_collection", ("gc_collect_end",), when=("uncollected",)),
    record("step_begin", ("step_start",), when=("later",)),
    record("span_begin", (), when=("other_start",)),
    record("span_end", (), when=("other_end",)),
    record("scalar", ("metric_value",)),
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
        "unsaved": untagged("checkpoint_save", "checkpoint_save_end"),
        "collected": Derived(("step_tags",), r'(?P<v>"gc")'),
        "uncollected": untagged("gc", "gc_collect_end"),
        "late": Derived(("value",), r"^(?P<v>\d{4,})(?:\.\d*)?$"),
        "short": Derived(("value",), r"^(?P<v>\d{1,3}(?:\.\d*)?(?:[eE]-\d+)?)$"),
        "other_start": Derived(("log_type_name",), rf"^(?P<v>{other_than(STARTS)}_start)$"),
        "other_end": Derived(("log_type_name",), rf"^(?P<v>{other_than(ENDS)}_end)$"),
        "other_error": Derived(("log_type_name",), rf"^(?P<v>{other_than(ERRORS)}_error)$"),
    },
    versions=VERSIONS,
    next_save_waits=True,
    flops_attention="full_attention",
)
