"""The trainer of PaddleNLP and PaddleFormers: one logger, whose level is padded to eight letters."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._paddlenlp_set_up import HEAD, SET_UP, STAMP
from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "2.5 to 3.0, PaddleFormers 1.2"
_LATER = "2.8 to 3.0, PaddleFormers 1.2"
_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")
_FLOAT = Value(kind="float")


def _entry(name: str) -> str:
    """Return the expression of one entry of a line of metrics."""
    return rf"\b{name}: (?P<v>-?[\d.]+(?:e[+-]?\d+)?)"


def _line(
    name: str,
    literal: str,
    message: str,
    table: str,
    columns: Mapping[str, Value],
    versions: str = _ALL,
    note: str = "",
) -> Pattern:
    """Return the pattern of a line of the logger."""
    return Pattern(
        name, table, {"ts": STAMP, **columns}, (literal,), HEAD + message, versions=versions, note=note
    )


def _op(op: str, edge: str, **more: Value) -> dict[str, Value]:
    """Return the columns of a save or a load."""
    return {"op": Value(const=op), "edge": Value(const=edge), **more}


def _phase(phase: str, edge: str, **more: Value) -> dict[str, Value]:
    """Return the columns of a phase."""
    return {"phase": Value(const=phase), "edge": Value(const=edge), **more}


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=("interval_runtime: ",),
        unique=True,
        regex=HEAD + r"loss: (?P<loss>[\d.naif-]+), .*\bglobal_step: (?P<step>\d+), .*\binterval_runtime: ",
        columns={
            "ts": STAMP,
            "step_last": _STEP,
            "ts_edge": Value(const="end"),
            "loss": Value(group="loss", kind="float"),
        },
        extras={
            "samples_per_s": (_entry("interval_samples_per_second"), _FLOAT),
            "tokens_per_s_per_gpu": (_entry("interval_tokens_per_second_per_device"), _FLOAT),
            "tflops_per_gpu": (
                _entry("interval_hardware_tflops_per_device"),
                Value(kind="float", scale=2**40 / 1e12),
            ),
        },
        note="Hardware TFLOP/s are printed in units of 2^40, and count what is computed twice.",
    ),
    Pattern(
        name="profile",
        table="timers",
        versions=_ALL,
        literals=("[Profile global_step: ",),
        regex=HEAD + r"\[Profile global_step: (?P<step>\d+)\] ",
        each=r"\| (?P<component>[A-Za-z][\w-]*) : (?P<ms>[\d.]+)",
        columns={
            "ts": STAMP,
            "step": _STEP,
            "component": Value(group="component"),
            "mean_s": Value(group="ms", kind="float", scale=1e-3),
        },
        note="`read-data` is the wait for data.",
    ),
)

CHECKPOINTS = (
    _line(
        "save_begin",
        "Saving model checkpoint to ",
        r"Saving model checkpoint to (?P<path>\S*checkpoint-(?P<step>\d+))",
        "checkpoints",
        _op("save", "begin", step=_STEP, path=_PATH),
    ),
    _line(
        "save_end",
        "Saving model checkpoint finish signal to ",
        r"Saving model checkpoint finish signal to (?P<path>\S*checkpoint-(?P<step>\d+))",
        "checkpoints",
        _op("save", "end", step=_STEP, path=_PATH),
        _LATER,
    ),
    _line(
        "save_time",
        "[timelog] checkpoint saving time: ",
        r"\[timelog\] checkpoint saving time: (?P<spent>[\d.]+)s",
        "timers",
        {"component": Value(const="save-checkpoint"), "mean_s": Value(group="spent", kind="float")},
        _LATER,
        note="Printed when the loop goes on.",
    ),
    _line(
        "load_begin",
        "Loading model from ",
        r"Loading model from (?P<path>\S*checkpoint-(?P<step>\d+))",
        "checkpoints",
        _op("load", "begin", step=_STEP, path=_PATH),
    ),
    _line(
        "load_end",
        "  Continuing training from global step ",
        r" *Continuing training from global step (?P<step>\d+)",
        "checkpoints",
        _op("load", "end", step=_STEP),
    ),
    _line(
        "load_time",
        "[timelog] checkpoint loading time: ",
        r"\[timelog\] checkpoint loading time: (?P<spent>[\d.]+)s",
        "timers",
        {"component": Value(const="load-checkpoint"), "mean_s": Value(group="spent", kind="float")},
        _LATER,
    ),
    _line(
        "delete",
        "Deleting older checkpoint [",
        r"Deleting older checkpoint \[(?P<path>\S*checkpoint-(?P<step>\d+))\]",
        "checkpoints",
        _op("delete", "begin", step=_STEP, path=_PATH),
    ),
)

PHASES = (
    _line(
        "loop_begin",
        "***** Running training *****",
        r"\*+ Running training \*+",
        "phases",
        _phase("loop", "begin"),
    ),
    _line(
        "eval_begin",
        "***** Running Evaluation *****",
        r"\*+ Running Evaluation \*+",
        "phases",
        _phase("eval", "begin"),
    ),
    _line(
        "eval_end",
        "eval_runtime: ",
        r"(?:eval_\w+: \S+, )*eval_runtime: (?P<spent>[\d.]+)",
        "phases",
        _phase("eval", "end", duration_s=Value(group="spent", kind="float")),
    ),
    Pattern(
        name="completed",
        table="phases",
        versions=_ALL,
        literals=("Training completed.",),
        # A line break stands between the header and the text.
        regex=r"^(?:\[[^\]]*\] \[ *[A-Z]+\] - )?Training completed\.",
        columns=_phase("loop", "end", detail=Value(const="completed")),
    ),
)

KNOWN = (
    known_line("empty", ("] - ",), HEAD + r"\s*$", _ALL),
    known_line(
        "loading",
        (
            "Starting training from resume",
            "Loading optimizer and",
            "Saving optimizer files",
            "Loading best model",
        ),
        HEAD + r"(?:Starting training from resume_from_checkpoint : |Loading optimizer and scheduler"
        r"|Saving optimizer files|Loading best model from )",
        _ALL,
    ),
    known_line(
        "resuming",
        ("Continuing training from", "Will skip the first ", "DistributedBatchSampler consumed_samples"),
        HEAD + r" *(?:Continuing training from (?:epoch|checkpoint)|Will skip the first \d+ "
        r"|Set DistributedBatchSampler consumed_samples to \d+)",
        _ALL,
    ),
    known_line(
        "counting",
        ("optimizer not run, ", "trained_effective_tokens: "),
        HEAD + r"(?:optimizer not run, scale_before: |Update to now, trained_effective_tokens: )",
        _ALL,
    ),
)

FORMAT = Format(
    name="paddlenlp",
    title="PaddleNLP and PaddleFormers trainer",
    link="https://github.com/PaddlePaddle/PaddleNLP/blob/develop/paddlenlp/trainer/trainer.py",
    role="trainer",
    patterns=(*STEPS, *CHECKPOINTS, *PHASES, *SET_UP, *KNOWN),
    step_time="`interval_runtime` is the time since the line before, for all steps since then: a save and an "
    "evaluation after that line are inside. It is no time of one step, and is not read.",
    flops_recomputed=True,
    step_time_excludes_stalls=False,
    deciding=("step", "profile", "save_time", "load_time", "arguments"),
    versions=_ALL,
    unrendered="Its stories are those of the Hugging Face trainer, of which it is a descendant.",
)
