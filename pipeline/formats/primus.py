"""AMD Primus, console: Megatron-LM with step lines that a patch has edited, and torchtitan in their shape.

Each line stands behind the header of Primus's logger, which is taken off like any prefix: its time is the
time of every line without one.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._megatron_dialects import COMMON, shared
from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "2025-06 to 2026-08"

#: Texts of Megatron-LM that Bridge does not print.
_MORE = ("world_size", "arguments", "arguments_rule", "loop_begin", "process_start", "program_start")

_NUMBER = r"\d+(?:\.\d+)?"
_STEP = r"""
(?:^|[^\s\]`'\"(>|])\s*                       # nobody quotes it
(?:\[(?P<ts>\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d(?:\.\d+)?)\]\s+)?   # end of the step
iteration\s+(?P<step>\d+)\s*/\s*(?P<target>\d+)\s*\|
(?:\s*consumed\ samples:\s+(?P<consumed>\d+)\s*\|)?
(?:\s*skipped\ samples:\s+\d+\s*\|)?
"""
_COLUMNS: Mapping[str, Value] = {
    "ts": Value(group="ts", kind="stamp", stamp="iso"),
    "step_last": Value(group="step", kind="int"),
    "step_target": Value(group="target", kind="int"),
    "consumed_samples": Value(group="consumed", kind="int"),
    "ts_edge": Value(const="end"),
}


def _field(labels: str, kind: str = _NUMBER) -> tuple[str, Value]:
    """Return how the first number of a field is found by its label: the mean that follows is left out."""
    return rf"\| (?:{labels}): +(?P<v>{kind})(?:[/ |%]|$)", Value(group="v", kind="float")


_EXTRAS: Mapping[str, tuple[str, Value]] = {
    "batch_size": (r"\| global batch size: +(?P<v>\d+) ", Value(group="v", kind="int")),
    "tflops_per_gpu": _field(r"(?:throughput|compute) per GPU \(TFLOP/s/GPU\)"),
    "tokens_per_s_per_gpu": _field(
        r"tokens per GPU \(tokens/s/GPU\)|tokens/s/GPU inst/(?:harmonic mean|mean|avg)"
    ),
    "loss": _field(r"(?:lm )?loss", r"[\d.E+-]+|nan|inf"),
    "grad_norm": _field(r"grad norm", r"[\d.]+|nan|inf"),
}

STEPS = (
    Pattern(
        name="step_mean",
        table="steps",
        versions=_ALL,
        literals=("elapsed time per iteration (ms): ",),
        unique=True,
        regex=rf"""(?x) {_STEP}
            \s*elapsed\ time\ per\ iteration\ \(ms\):\s+(?P<ms>\d+\.\d+)/\d+\.\d+\s*\|  # and a mean""",
        columns={**_COLUMNS, "step_time_s": Value(group="ms", kind="float", scale=1e-3)},
        extras={
            **_EXTRAS,
            "skipped": (r"\| number of skipped iterations: +(?P<v>\d+) ", Value(group="v", kind="int")),
            "nan": (r"\| number of nan iterations: +(?P<v>\d+)", Value(group="v", kind="int")),
        },
        note="The first number of a field is that of Megatron-LM, the second a mean over lines before it, "
        "whose window begins anew now and then. The label of the FLOP/s was changed, and changed back.",
    ),
    Pattern(
        name="step_torchtitan",
        table="steps",
        versions="2026",
        literals=("elapsed time per iteration (ms): ",),
        unique=True,
        regex=rf"""(?x) {_STEP}
            \s*elapsed\ time\ per\ iteration\ \(ms\):\s+\d+\.\d+\s*\|
            \s*memory\ usage/free/total:\ """,
        columns=_COLUMNS,
        extras={
            **_EXTRAS,
            "mfu": (r"\| mfu: +(?P<v>[\d.]+)%", Value(group="v", kind="float", scale=1e-2)),
        },
        note="Of the torchtitan backend. What it calls the time of an iteration is that since the line "
        "before, however many steps lie between.",
    ),
)

OWN = (
    Pattern(
        name="logger_begin",
        table="facts",
        versions=_ALL,
        literals=("[Primus:Runtime] Global logger initialized (",),
        regex=r"\[Primus:Runtime\] Global logger initialized \(rank=\d+, world_size=(?P<value>\d+)\)",
        columns={"key": Value(const="world_size"), "value": Value(group="value")},
        note="Of the level of debugging: in the file of a rank, not on its console.",
    ),
    known_line(
        "primus_texts",
        ("[Primus:", "[Patch:", "[PrimusPatch]"),
        r"^\s*\[(?:Primus:[A-Z]\w*Adapter|Primus:\w*Trainer|Primus:[A-Z]\w*-?\w*|Primus:Runtime|PrimusPatch"
        r"|Patch:[\w.]+)\](?:\[\w+\])? (?:[^G]|G[^l])",
        versions=_ALL,
    ),
)

FORMAT = Format(
    name="primus",
    title="AMD Primus, console",
    link="https://github.com/AMD-AGI/Primus/blob/main/primus/backends/megatron/patches/training_log",
    role="trainer",
    patterns=(*STEPS, *shared((*COMMON, *_MORE), _ALL), *OWN),
    step_time="As in Megatron-LM since core 0.5: a mean over the steps since the line before, waiting for "
    "data inside, evaluations and regular saves outside. A second mean behind it is not read. The torchtitan "
    "backend prints no time of a step.",
    step_time_excludes_stalls=True,
    deciding=("step_mean", "step_torchtitan", "logger_begin", "primus_texts"),
    versions=_ALL,
)
