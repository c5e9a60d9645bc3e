"""Megatron-DeepSpeed: the step lines of its forks."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value

_STEP = r"iteration\s+(?P<step>\d+)\s*/\s*(?P<target>\d+)\s*\|"
_SAMPLES = r"\s*consumed\ samples:\s+(?P<consumed>\d+)\s*\|"
_TOKENS = r"\s*consumed\ tokens:\s+\d+\s*\|"
#: A quotation mark before the line means that somebody quotes it.
_START = r"(?:^|[^\s\]`'\"(>|])\s*"


def _field(*labels: str, integer: bool = False) -> tuple[tuple[str, ...], Value]:
    """Return how a field is found by its labels; the bar behind it proves that its number is whole."""
    return labels, Value(group="v", kind="int" if integer else "float")


_BARS: Mapping[str, tuple[tuple[str, ...], Value]] = {
    "batch_size": _field("global batch size", integer=True),
    "samples_per_s": _field("samples per second"),
    "tokens_per_s_per_gpu": _field("tokens per gpu per second (tgs)"),
    "tflops_per_gpu": _field("TFLOPs"),
    "loss": _field("lm loss"),
    "grad_norm": _field("grad norm"),
    "skipped": _field("number of skipped iterations", integer=True),
    "nan": _field("number of nan iterations", integer=True),
}


def _columns(seconds: Value, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a step line."""
    return {
        "step_last": Value(group="step", kind="int"),
        "step_target": Value(group="target", kind="int"),
        "step_time_s": seconds,
        "ts_edge": Value(const="end"),
        **more,
    }


_MS = Value(group="ms", kind="float", scale=1e-3)
_CONSUMED = Value(group="consumed", kind="int")
_MS_LITERAL = ("elapsed time per iteration (ms): ",)


def _assigned(name: str, *, integer: bool = False) -> tuple[str, Value]:
    """Return how a field is found that is written as an assignment."""
    return rf"\| {name}= *(?P<v>[^\s|]+)", Value(group="v", kind="int" if integer else "float")


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="BigScience 2021-10 to 2022-01, Microsoft",
        literals=_MS_LITERAL,
        unique=True,
        regex=rf"(?x) {_START} {_STEP} {_SAMPLES} {_TOKENS}"
        r"\s*elapsed\ time\ per\ iteration\ \(ms\):\s+(?P<ms>\d+\.\d+)\s*\|",
        columns=_columns(_MS, consumed_samples=_CONSUMED),
        bars=_BARS,
        note="Without a time; printed by the last rank. TFLOPs count what is computed twice, as "
        "Megatron-LM's "
        "do not. In December 2021 BigScience printed GFLOPs under that name.",
    ),
    Pattern(
        name="step_seconds",
        table="steps",
        versions="BigScience since 2022-01",
        literals=("elapsed time per iteration (s): ",),
        unique=True,
        regex=rf"(?x) {_START} {_STEP} {_SAMPLES} (?:{_TOKENS})?"
        r"\s*elapsed\ time\ per\ iteration\ \(s\):\s+(?P<seconds>\d+\.\d+)\s*\|",
        columns=_columns(Value(group="seconds", kind="float"), consumed_samples=_CONSUMED),
        bars=_BARS,
        note="Seconds, not milliseconds.",
    ),
    Pattern(
        name="step_samples",
        table="steps",
        versions="BigScience to 2021-10",
        literals=_MS_LITERAL,
        unique=True,
        regex=rf"(?x) {_START} {_STEP} {_SAMPLES}"
        r"\s*elapsed\ time\ per\ iteration\ \(ms\):\s+(?P<ms>\d+\.\d+)\s*\|",
        columns=_columns(_MS, consumed_samples=_CONSUMED),
        bars=_BARS,
        note="As Megatron-LM 2 prints it: other lines prove the fork.",
    ),
    Pattern(
        name="step_old",
        table="steps",
        versions="DeepSpeedExamples 2020, BigScience to 2021-07",
        literals=_MS_LITERAL,
        unique=True,
        regex=rf"(?x) {_START} {_STEP} \s*elapsed\ time\ per\ iteration\ \(ms\):\s+(?P<ms>\d+\.\d+)\s*\|"
        r"\s*learning\ rate:",
        columns=_columns(_MS),
        bars=_BARS,
        note="As Megatron-LM 1.1 prints it: no samples and no batch size.",
    ),
    Pattern(
        name="step_assigned",
        table="steps",
        versions="Argonne's fork",
        literals=("elapsed_time_per_iteration_ms=",),
        unique=True,
        regex=r"(?:\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d+)\]\S* .*?)?iteration= *(?P<step>\d+)/ *"
        r"(?P<target>\d+) \| .*?elapsed_time_per_iteration_ms= *(?P<ms>\d+\.\d+) \|",
        columns=_columns(_MS, ts=Value(group="ts", kind="stamp", stamp="iso")),
        extras={
            "consumed_samples": _assigned("consumed_samples", integer=True),
            "batch_size": _assigned("global_batch_size", integer=True),
            "samples_per_s": _assigned("samples_per_second"),
            "tokens_per_s_per_gpu": _assigned("tokens_per_gpu_per_second_tgs"),
            "tflops_per_gpu": _assigned(r"(?:\[LM\])?TFLOPs"),
            "loss": _assigned("lm[_ ]loss"),
            "grad_norm": _assigned("grad_norm"),
            "skipped": _assigned("number_of_skipped_iterations", integer=True),
            "nan": _assigned("number_of_nan_iterations", integer=True),
        },
    ),
)
