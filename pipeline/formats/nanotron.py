"""nanotron: step lines, checkpoints and events; the module `_nanotron_setup` holds the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._nanotron_setup import HEAD, SETUP, told
from pipeline.formats.format import Format, Head, Pattern, Value

_ALL = "0.4 to 2026-04"
_STEP = Value(group="step", kind="int")


def _number(scale: float = 1.0) -> Value:
    """Return how a number of three digits with a unit behind it is read."""
    return Value(group="v", kind="human", scale=scale)


_BARS: Mapping[str, tuple[tuple[str, ...], Value]] = {
    "step_time_s": (("time_per_iteration_ms", "elapsed_time_per_iteration_ms"), _number(1e-3)),
    "tokens_per_s": (("tokens_per_sec",), _number()),
    "tokens_per_s_per_gpu": (("tokens_per_sec_per_gpu",), _number()),
    "loss": (("lm_loss",), _number()),
    "tflops_per_gpu": (("model_tflops_per_gpu",), _number()),
}
#: The field may be the last one, which no bar ends.
_NORM: Mapping[str, tuple[str, Value]] = {"grad_norm": (r"\| grad_norm: (?P<v>[\w.+-]+)", _number())}
_BEGIN = rf"{HEAD}iteration: (?P<step>\d+) / (?P<target>\d+) \| consumed_tokens: "
_COLUMNS = told(
    step_last=_STEP,
    step_target=Value(group="target", kind="int"),
    ts_edge=Value(const="end"),
)

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="0.5 to 2026-04",
        literals=(" | consumed_tokens: ",),
        unique=True,
        regex=rf"{_BEGIN}\S+ \| time_per_iteration_ms: \S+ \| ",
        columns=_COLUMNS,
        bars=_BARS,
        extras=_NORM,
        note="Numbers have three digits. Of the iterations 1, 1 + k, …; the batch size is in tokens.",
    ),
    Pattern(
        name="step_v0_4",
        table="steps",
        versions="0.4",
        literals=(" | consumed_tokens: ",),
        unique=True,
        regex=rf"{_BEGIN}\S+ \| elapsed_time_per_iteration_ms: \S+ \| ",
        columns=_COLUMNS,
        bars={**_BARS, "batch_size": (("global_batch_size",), _number())},
        extras=_NORM,
        note="Numbers have three digits, that of samples in a batch as well.",
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Saving checkpoint at ",),
        regex=HEAD + r"Saving checkpoint at (?P<path>\S*?/(?P<step>\d+))/?$",
        columns=told(op=Value(const="save"), edge=Value(const="begin"), step=_STEP, path=Value(group="path")),
        note="No line says when it is over. The loop waits for it; what it sends to an object store goes on "
        "beside the loop.",
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Loading weights from ",),
        regex=HEAD + r"Loading weights from (?P<path>\S*?/(?P<step>\d+))/?$",
        columns=told(op=Value(const="load"), edge=Value(const="begin"), step=_STEP, path=Value(group="path")),
        note="Over when the loop begins: data are set up in between.",
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=("No checkpoint path provided.",),
        regex=HEAD + r"No checkpoint path provided\.",
        columns=told(op=Value(const="load"), edge=Value(const="none")),
    ),
)


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a phase."""
    return told(phase=Value(const=phase), edge=Value(const=edge), **more)


EVENTS = (
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=("]: Config:",),
        regex=HEAD + r"Config:\s*$",
        columns=_phase("init", "end"),
        note="The first line that every process has: before it the ranks have met.",
    ),
    Pattern(
        name="model_built",
        table="phases",
        versions=_ALL,
        literals=("[After model building] Memory usage: ",),
        regex=HEAD + r"\[After model building\] Memory usage: ",
        columns=_phase("model_setup", "end"),
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions="0.5 to 2026-04",
        literals=("Start training",),
        regex=HEAD + r"Start training$",
        columns=_phase("loop", "begin"),
    ),
    Pattern(
        name="loop_begin_v0_4",
        table="phases",
        versions="0.4",
        literals=("[Start training] datetime: ",),
        regex=HEAD + r"\[Start training\] datetime: .* start_iteration_step: (?P<step>\d+) \| ",
        columns=_phase("loop", "begin", step=_STEP),
    ),
)

FORMAT = Format(
    name="nanotron",
    title="nanotron",
    link="https://github.com/huggingface/nanotron/blob/main/src/nanotron/trainer.py",
    role="trainer",
    patterns=(*STEPS, *CHECKPOINTS, *EVENTS, *SETUP),
    step_time="Of the one iteration that the line names, up to a barrier of all ranks, and no mean over the "
    "interval. Waiting for data is inside; a save comes after the line and is outside. There is no "
    "evaluation in the loop.",
    step_time_excludes_stalls=True,
    heads=(
        Head(
            r"[0-9]{2}/[0-9]{2}(?:/[0-9]{4})? [0-9]{2}:[0-9]{2}:[0-9]{2} "
            r"\[[A-Z]+(?:\|[A-Za-z_]+|\|[A-Z]+=[0-9]+)*(?:\|[A-Za-z][0-9A-Za-z_.-]*)?\]: ",
            "twin",
        ),
    ),
    deciding=(
        "step",
        "step_v0_4",
        "start",
        "loop_begin_v0_4",
        "model_built",
        "load_none",
        "load_begin",
        "save_begin",
    ),
    versions="0.4 to 2026-04",
    degrees=("pipeline_parallel", "data_parallel", "context_parallel", "tensor_parallel"),
    step_time_of_one=("step", "step_v0_4"),
    save_end_untold=True,
)
