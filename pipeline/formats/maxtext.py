"""MaxText, console: the step lines of every release; the modules `_maxtext_*` hold the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._maxtext_events import EVENTS, HEAD
from pipeline.formats._maxtext_facts import FACTS, KNOWN
from pipeline.formats.format import Format, Pattern, Value

_COLUMNS: Mapping[str, Value] = {"step_last": Value(group="step", kind="int"), "ts_edge": Value(const="end")}


def _field(label: str, number: str = r"[\d.]+|nan|inf") -> tuple[str, Value]:
    """Return how a field is found by its label, wherever it stands."""
    return rf", {label}: (?P<v>-?(?:{number}))(?:,|\s*$)", Value(group="v", kind="float")


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="2023 to 2026-08, 0.1.0 to 0.2.0",
        literals=("completed step: ",),
        regex=HEAD + r"(?:\[Rampup Batch Size Phase\], )?completed step: (?P<step>\d+), "
        r"seconds: (?P<seconds>[\d.]+), (?:[a-zA-Z_/ ]+: [^,]+, )*"
        r"(?:TFLOP/s(?:/device)?|total_weights|lm_loss|loss): [^,]+",
        columns={**_COLUMNS, "step_time_s": Value(group="seconds", kind="float")},
        extras={
            "tflops_per_gpu": _field("TFLOP/s(?:/device)?"),
            "tokens_per_s_per_gpu": _field("Tokens/s/device"),
            "loss": _field("loss"),
        },
        note="Steps count from 0. Every process prints the line, one step late, when the step has really "
        "ended; `seconds` is the time from one dispatch to the next, so that the first ones of a process and "
        "the one after a stall, are far too short. `total_weights` are the tokens that the loss counts.",
    ),
    Pattern(
        name="step_profiled",
        table="steps",
        versions="2026-03 to 2026-08",
        literals=("completed profiler activation/deactivation step: ",),
        regex=HEAD + r"(?:\[Rampup Batch Size Phase\], )?completed profiler activation/deactivation step: "
        r"(?P<step>\d+), ",
        columns=_COLUMNS,
        extras={"loss": _field("loss")},
        note="A step at which a trace begins or ends: no time is printed, for it would be wrong.",
    ),
)

FORMAT = Format(
    name="maxtext",
    title="MaxText, console",
    link="https://github.com/AI-Hypercomputer/maxtext/blob/main/src/maxtext/common/metric_logger.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS, *FACTS, *KNOWN),
    step_time="The printed time is that between two dispatches on the host, of one step. The blocking part "
    "of a save, an evaluation, a trace or a wait for data that follow on a step are inside the time of the "
    "next one. Only the sum over many steps is right: stamps are the ruler.",
    step_time_excludes_stalls=False,
    deciding=("step", "step_profiled", "init_begin", "devices"),
    versions="2023 to 2026-08, 0.1.0 to 0.2.0",
)
