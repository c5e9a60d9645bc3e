"""Hugging Face Trainer, TRL, axolotl: start, evaluation and end of a process."""

from __future__ import annotations

from pipeline.formats._hf_trainer_head import HEAD, STAMP
from pipeline.formats.format import Pattern, Value

_ALL = "4.0 to 5.24"
#: A number of a dictionary; since 5.0 every one is a text.
_NUMBER = r"'?(?P<seconds>[\d.]+(?:e[+-]?\d+)?)'?"


def _phase(
    name: str,
    phase: str,
    edge: str,
    literal: str,
    regex: str,
    *,
    detail: str = "",
    note: str = "",
    versions: str = _ALL,
) -> Pattern:
    """Return the pattern of a logger's line that tells of a phase."""
    return Pattern(
        name=name,
        table="phases",
        versions=versions,
        literals=(literal,),
        regex=HEAD + regex,
        columns={
            "ts": STAMP,
            "phase": Value(const=phase),
            "edge": Value(const=edge),
            **({"detail": Value(const=detail)} if detail else {}),
        },
        note=note,
    )


START = (
    _phase(
        "devices", "process_start", "point", "PyTorch: setting up devices", r"PyTorch: setting up devices$"
    ),
    _phase(
        "rank",
        "process_start",
        "point",
        "Process rank: ",
        r"Process rank: -?\d+, device: ",
        note="Scripts of the examples; once a rank.",
    ),
    Pattern(
        name="deepspeed_init",
        table="phases",
        versions="with DeepSpeed 0.3 to 0.18",
        literals=(":init_distributed] Initializing ",),
        regex=r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] \[INFO\] \[\w+\.py:\d+:init_distributed\] "
        r"Initializing (?:torch distributed|TorchBackend) ",
        columns={
            "ts": Value("at", "stamp", stamp="iso"),
            "phase": Value(const="init"),
            "edge": Value(const="begin"),
        },
    ),
    _phase(
        "trainer_built",
        "model_setup",
        "end",
        " backend",
        r"Using (?:auto|amp|cuda_amp|cpu_amp|apex) (?:half precision|fp16|bf16) backend$",
        note="The model is there, and the optimizer not yet.",
    ),
    _phase(
        "axolotl_start",
        "model_setup",
        "end",
        "Starting trainer...",
        r"Starting trainer\.\.\.$",
        versions="axolotl to 0.18",
    ),
    _phase("loop_begin", "loop", "begin", "***** Running training *****", r"\*{5} Running training \*{5}$"),
)

PAUSES = (
    _phase(
        "eval_begin",
        "eval",
        "begin",
        "***** Running ",
        r"\*{5} Running (?:Evaluation|Prediction|evaluation|prediction)[\w ]* ?\*{5}$",
    ),
    Pattern(
        name="eval_bar_begin",
        table="phases",
        versions=_ALL,
        literals=("?it/s][A",),
        regex=r"^\s*0%\|[^|]*\| 0/\d+ \[00:00<\?, \?it/s\]\[A$",
        columns={"phase": Value(const="eval"), "edge": Value(const="begin")},
        note="The first of the bars that an evaluation draws below that of the training.",
    ),
    Pattern(
        name="eval_end",
        table="timers",
        versions=_ALL,
        literals=("_runtime': ",),
        regex=HEAD + rf"\{{'(?:eval|test|predict)_.*'(?:eval|test|predict)_(?:\w+_)?runtime': {_NUMBER}[,}}]",
        columns={"ts": STAMP, "component": Value(const="evaluate"), "mean_s": Value("seconds", "float")},
        note="Printed when an evaluation is over, with its length; by each node in 4.x.",
    ),
)

END = (
    _phase(
        "completed",
        "loop",
        "end",
        "Training completed. Do not forget to share your model",
        r"Training completed\. Do not forget to share your model",
        detail="completed",
        note="After an empty line, so without a stamp; by each node in 4.x.",
    ),
    Pattern(
        name="train_end",
        table="phases",
        versions=_ALL,
        literals=("'train_runtime': ",),
        regex=HEAD + rf"\{{'train_runtime': {_NUMBER}[,}}]",
        columns={
            "ts": STAMP,
            "phase": Value(const="loop"),
            "edge": Value(const="end"),
            "duration_s": Value("seconds", "float"),
            "detail": Value(const="completed"),
        },
        note="The whole call, evaluations and saves included. Before 5.0 the rates beside it divide all "
        "steps by the time of this process alone: after a resume they are too high.",
    ),
    _phase(
        "axolotl_end",
        "loop",
        "end",
        "Training completed! Saving ",
        r"Training completed! Saving (?:trained|pre-trained) model to ",
        detail="completed",
        versions="axolotl to 0.18",
    ),
    _phase(
        "sigterm",
        "shutdown",
        "begin",
        "SIGTERM received, will request JIT checkpoint",
        r"SIGTERM received, will request JIT checkpoint",
        detail="signal terminated",
        versions="5.0 to 5.24",
    ),
)


EVENTS = (*START, *PAUSES, *END)
