"""EleutherAI's GPT-NeoX, console. The stamps of its steps are in the lines of DeepSpeed, on which it is "
"built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pipeline.formats._deepspeed_head import HEAD
from pipeline.formats._gpt_neox_facts import FACTS
from pipeline.formats._megatron_known import KNOWN
from pipeline.formats._megatron_phases import PHASES
from pipeline.formats._megatron_timers import TIMERS
from pipeline.formats.format import Format, Pattern, Value, known_line

_VERSIONS = "1.0 to 2.0 and later"

#: What it kept of Megatron-LM 1.1.
_KEPT = {"exit_v1", "timers_v1", "start_texts", "compiled"}


def _kept(patterns: Iterable[Pattern]) -> Iterable[Pattern]:
    """Return the patterns of Megatron-LM that it prints too."""
    return (replace(pattern, versions=_VERSIONS) for pattern in patterns if pattern.name in _KEPT)


def _field(*labels: str, integer: bool = False) -> tuple[tuple[str, ...], Value]:
    """Return how a field is found by its labels; the bar behind it proves that its number is whole."""
    return labels, Value(group="v", kind="int" if integer else "float")


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_VERSIONS,
        literals=("approx flops per GPU: ",),
        unique=True,
        regex=r"samples/sec: (?P<rate>[\d.]+) \| iteration +(?P<step>\d+)/ *(?P<target>\d+) \| "
        r"elapsed time per iteration \(ms\): (?P<ms>\d+\.\d+) \| .*approx flops per GPU: ",
        columns={
            "step_last": Value(group="step", kind="int"),
            "step_target": Value(group="target", kind="int"),
            "step_time_s": Value(group="ms", kind="float", scale=1e-3),
            "ts_edge": Value(const="end"),
            "samples_per_s": Value(group="rate", kind="float"),
        },
        bars={
            "loss": _field("lm_loss"),
            "skipped": _field("number of skipped iterations", integer=True),
            "nan": _field("number of nan iterations", integer=True),
        },
        extras={
            "tflops_per_gpu": (r"approx flops per GPU: (?P<v>[\d.]+)TFLOPS", Value(group="v", kind="float")),
            "mfu": (r"\| MFU: (?P<v>[\d.]+)%", Value(group="v", kind="float", scale=0.01)),
        },
        note="Printed by rank 0 without a time. It divides by `log_interval` even where fewer steps ran "
        "since a "
        "load. The rate of operations counts what is computed twice, and is read only in TFLOPS.",
    ),
    Pattern(
        name="step_of_engine",
        table="steps",
        versions=_VERSIONS,
        literals=("] step=",),
        regex=rf"{HEAD}\[Rank (?P<rank>\d+)\] step=(?P<step>[1-9]\d*), skipped=\d+, lr=\[",
        columns={
            "rank": Value(group="rank", kind="int"),
            "step_last": Value(group="step", kind="int"),
            "ts_edge": Value(const="end"),
        },
        note="DeepSpeed's line of the same steps, with a time: where there are such lines, they are the "
        "ruler.",
    ),
    known_line(
        "step_of_pipeline",
        (" iter time (s): ",),
        r"^steps: \d+ loss: .* iter time \(s\): [\d.]+ samples/sec: ",
        versions=_VERSIONS,
    ),
)

REST = (
    Pattern(
        name="load_step",
        table="checkpoints",
        versions=_VERSIONS,
        literals=("Loading checkpoint and starting from iteration ",),
        regex=r"^\s*Loading checkpoint and starting from iteration (?P<step>\d+)",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="end"),
            "step": Value(group="step", kind="int"),
            "ok": Value(const=True),
        },
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_VERSIONS,
        literals=("successfully loaded ",),
        regex=r"^\s*successfully loaded (?P<path>\S*global_step(?P<step>\d+)\S*)\s*$",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="end"),
            "step": Value(group="step", kind="int"),
            "path": Value(group="path"),
            "ok": Value(const=True),
        },
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_VERSIONS,
        literals=("Unable to load checkpoint.",),
        regex=r"^\s*Unable to load checkpoint\.\s*$",
        columns={"op": Value(const="load"), "edge": Value(const="none")},
    ),
    Pattern(
        name="evaluation",
        table="phases",
        versions=_VERSIONS,
        literals=("validation results at ", "test results at "),
        regex=r"(?:^|\s)(?:validation|test) results at (?:iteration (?P<step>\d+)"
        r"|the end of training for (?P<set>\w+) data) \| .*value: ",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="point"),
            "step": Value(group="step", kind="int"),
            "detail": Value(group="set"),
        },
        note="Printed without a time when the evaluation is over.",
    ),
    known_line(
        "texts",
        (
            "-------------------- arguments --------------------",
            "---------------- end of arguments ----------------",
            "NeoXArgs.",
            "DeepSpeed is enabled.",
            "Training for a total of ",
            "> number of parameters on model parallel rank ",
            "Deleting old checkpoints",
            "ploading checkpoint",
            "ploaded checkpoint",
            "> validated currently set args",
            "> could not find arguments in the checkpoint",
            "Configuring Optimizer type: ",
            "-" * 60,
        ),
        r"^-{20} arguments -{20}|^-{16} end of arguments -{16}|^NeoXArgs\.\w+\(\)|^DeepSpeed is enabled\."
        r"|^Training for a total of \d+ iterations|> number of parameters on model parallel rank \d"
        r"|^WARNING: Deleting old checkpoints|^\[RANK \d+\] Upload(?:ing|ed) checkpoint "
        r"|^\s*> (?:validated currently set args|could not find arguments in the checkpoint)"
        r"|^Configuring Optimizer type: |^-{60,}\s*$",
        versions=_VERSIONS,
    ),
)

FORMAT = Format(
    name="gpt_neox",
    title="EleutherAI GPT-NeoX, console",
    link="https://github.com/EleutherAI/gpt-neox/blob/main/megatron/logging.py",
    role="trainer",
    patterns=(*STEPS, *FACTS, *REST, *_kept(PHASES), *_kept(TIMERS), *_kept(KNOWN)),
    step_time="The printed time is a mean: all time since the line before, divided by `log_interval`. "
    "Waiting for "
    "data, evaluations and saves are inside it; nothing ever stops its timer.",
    flops_recomputed=True,
    step_time_excludes_stalls=False,
    deciding=("step", "arguments"),
    # A fence: somebody quotes lines of a log.
    foreign=("```",),
    versions=_VERSIONS,
    step_time_runs_on=True,
)
