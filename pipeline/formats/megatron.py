"""NVIDIA Megatron-LM, console: the step lines of every release; the modules `_megatron_*` hold the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._megatron_checkpoints import CHECKPOINTS
from pipeline.formats._megatron_facts import FACTS
from pipeline.formats._megatron_known import KNOWN
from pipeline.formats._megatron_phases import PHASES
from pipeline.formats._megatron_timers import TIMERS
from pipeline.formats.format import Format, Head, Pattern, Value

#: A quotation mark before the line means that somebody quotes it. Other text may be an unfinished line of
#: another program that the step line is glued to.
_NOT_QUOTED = r"(?:^|[^\s\]`'\"(>|])\s*"

_STEP = r"""
iteration\s+(?P<step>\d+)\s*/\s*(?P<target>\d+)\s*\|     # step just finished / last step
"""
_CONSUMED = r"""
\s*consumed\ samples:\s+(?P<consumed>\d+)\s*\|           # samples since the start of the training
(?:\s*(?:consumed\ bins|skipped\ samples):\s+\d+\s*\|)*  # packed sequences; samples that were passed over
"""
#: The forks print `consumed tokens` before this field, or seconds in it, so that neither matches.
_ELAPSED = r"""
\s*elapsed\ time\ per\ iteration\ \(ms\):\s+(?P<ms>\d+\.\d+)\s*\|  # mean of the steps since the last line
"""


def _field(*labels: str, integer: bool = False) -> tuple[tuple[str, ...], Value]:
    """Return how a field is found by its labels; the bar behind it proves that its number is whole."""
    return labels, Value(group="v", kind="int" if integer else "float")


_COLUMNS: Mapping[str, Value] = {
    "step_last": Value(group="step", kind="int"),
    "step_target": Value(group="target", kind="int"),
    "step_time_s": Value(group="ms", kind="float", scale=1e-3),
    "ts_edge": Value(const="end"),
}
_BARS: Mapping[str, tuple[tuple[str, ...], Value]] = {
    "batch_size": _field("global batch size", integer=True),
    "tflops_per_gpu": _field("throughput per GPU (TFLOP/s/GPU)"),
    "tokens_per_s": _field("toks/s"),
    "tokens_per_s_per_gpu": _field(
        "toks/s/gpu", "Tokens per second per GPU (Tok/s/GPU)", "tokens per GPU (tokens/s/GPU)"
    ),
    "loss": _field("lm loss"),
    "grad_norm": _field("grad norm"),
    "skipped": _field("number of skipped iterations", integer=True),
    "nan": _field("number of nan iterations", integer=True),
}
_LITERALS = ("elapsed time per iteration (ms): ",)

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="core 0.6 to 0.19",
        literals=_LITERALS,
        unique=True,
        regex=rf"""(?x)
            {_NOT_QUOTED}
            \[(?P<ts>\d{{4}}-\d\d-\d\d\ \d\d:\d\d:\d\d(?:\.\d+)?)\]\s  # end of the step; fraction since 0.16
            {_STEP}{_CONSUMED}{_ELAPSED}""",
        columns={
            "ts": Value(group="ts", kind="stamp", stamp="iso"),
            "consumed_samples": Value(group="consumed", kind="int"),
            **_COLUMNS,
        },
        bars=_BARS,
        note="Printed by the last rank. Since 0.16 the first step of a process has a line of its own, and "
        "the line after it averages over both: trust the stamps, not the printed time. A loss that is not a "
        "number makes its field vanish.",
    ),
    Pattern(
        name="step_untimed",
        table="steps",
        versions="2.0 to core 0.5",
        literals=_LITERALS,
        unique=True,
        regex=rf"(?x) {_NOT_QUOTED} {_STEP}{_CONSUMED}{_ELAPSED}",
        columns={"consumed_samples": Value(group="consumed", kind="int"), **_COLUMNS},
        bars=_BARS,
        note="No time: spans are laid end to end from the nearest `datetime` line.",
    ),
    Pattern(
        name="step_v1",
        table="steps",
        versions="1.0 to 1.1",
        literals=_LITERALS,
        unique=True,
        regex=rf"(?x) {_NOT_QUOTED} {_STEP}{_ELAPSED} \s*learning\ rate:",
        columns=_COLUMNS,
        bars=_BARS,
        note="No samples and no batch size: the configuration dump has them. The counters of skipped steps "
        "came with 1.1.",
    ),
)

FORMAT = Format(
    name="megatron",
    title="NVIDIA Megatron-LM, console",
    link="https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/training.py",
    role="trainer",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *TIMERS, *FACTS, *KNOWN),
    step_time="The printed time is a mean: the interval timer over the steps since the line before. "
    "Waiting for data is inside it. Evaluation and regular saves are outside it since core 0.5; up to 0.4 "
    "they are inside and pollute the mean of their interval.",
    step_time_excludes_stalls=True,
    heads=(Head(r"\[[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}[^\]]{0,7}\] ", "step"),),
    deciding=("step", "step_v1", "world_size", "initialized", "loop_begin", "process_start"),
    # The forks on DeepSpeed keep the start-up texts and the checkpoint lines, and print steps of their own.
    # Bridge and Primus print its words too, and some of their own.
    foreign=(
        *(
            "MODEL_TFLOP/s/GPU",
            "(Non-Default Values vs Megatron Core)",
            "[after tokenizer is built] datetime: ",
        ),
        *("[Primus:", "| tokens/s/GPU inst/harmonic mean: ", "| hip mem usage/free/total/usage_ratio: "),
        *("elapsed time per iteration (s): ", "tokens per gpu per second (tgs): ", "| consumed tokens: "),
        *("[INFO] [logging.py:", "[INFO] [config.py:", "[INFO] [engine.py:", "[INFO] [launch.py:"),
        *("DeepSpeed general environment info", "DeepSpeed C++/CUDA extension op report", "[deepspeed] "),
        *("Git info for Megatron:", "DeepSpeed is enabled.", "elapsed_time_per_iteration_ms="),
    ),
    versions="1.0 to core 0.19",
)
