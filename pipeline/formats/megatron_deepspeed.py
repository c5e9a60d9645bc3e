"""Megatron-DeepSpeed: BigScience's fork, Microsoft's, and those that came of them.

Start, checkpoints, evaluations and timers are printed as by Megatron-LM; lines of DeepSpeed around them are
in `deepspeed_library`. What differs is the step line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pipeline.formats._megatron_checkpoints import CHECKPOINTS
from pipeline.formats._megatron_facts import FACTS
from pipeline.formats._megatron_known import KNOWN
from pipeline.formats._megatron_phases import PHASES
from pipeline.formats._megatron_timers import TIMERS
from pipeline.formats.format import Format, Pattern, Value, known_line

_FORKS = "BigScience 2021 to 2023, Microsoft 2022 to 2025"

#: What the forks kept of Megatron-LM 1.1 to 23.04.
_KEPT = {
    *("save_begin", "save_end", "load_begin", "load_end", "load_none"),
    *("initialized", "model_built", "data_built", "loop_begin", "loop_end", "exit", "init_seconds"),
    *("compiled", "evaluation", "timer_minmax", "timer_max", "timers_v1", "timer_blocks"),
    *("arguments", "world_size", "dtype", "vocabulary", "parameters_of_rank"),
    *("arguments_rule", "start_texts", "checkpoint_texts", "evaluation_texts", "memory"),
}

_STEP = r"iteration\s+(?P<step>\d+)\s*/\s*(?P<target>\d+)\s*\|"
_SAMPLES = r"\s*consumed\ samples:\s+(?P<consumed>\d+)\s*\|"
_TOKENS = r"\s*consumed\ tokens:\s+\d+\s*\|"
#: A quotation mark before the line means that somebody quotes it.
_START = r"(?:^|[^\s\]`'\"(>|])\s*"


def _kept(patterns: Iterable[Pattern]) -> Iterable[Pattern]:
    """Return the patterns of Megatron-LM that the forks print too."""
    return (replace(pattern, versions=_FORKS) for pattern in patterns if pattern.name in _KEPT)


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

OWN = (
    Pattern(
        name="kill_switch",
        table="phases",
        versions="BigScience since 2021",
        literals=("Detected kill switch at ",),
        regex=r"\[Detected kill switch at (?P<detail>\S+?)\.? Exiting\.?\] datetime: "
        r"(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)",
        columns={
            "ts": Value(group="ts", kind="stamp", stamp="iso"),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(const="kill switch"),
        },
    ),
    Pattern(
        name="save_speed",
        table="timers",
        versions="Microsoft since 2024",
        literals=("Checkpoint Save GB: ",),
        regex=r"Checkpoint Save GB: [\d.]+, GB/Sec: [\d.]+, Latency\(second\): (?P<seconds>[\d.]+)",
        columns={
            "component": Value(const="checkpoint save latency"),
            "mean_s": Value(group="seconds", kind="float"),
        },
        note="The timer `save-checkpoint` says the same.",
    ),
    Pattern(
        name="parameters",
        table="facts",
        versions="BigScience since 2021",
        literals=("estimated model parameters: ",),
        regex=r"estimated model parameters: (?P<value>[\d.]+)\s*$",
        columns={"key": Value(const="params"), "value": Value(group="value", kind="float", scale=1e9)},
    ),
    known_line(
        "step_of_pipeline",
        (" iter time (s): ",),
        r"^steps: \d+ loss: .* iter time \(s\): [\d.]+ samples/sec: ",
        versions=_FORKS,
        note="DeepSpeed's pipeline engine repeats the step that the line after it tells of.",
    ),
    known_line(
        "git_info", ("Git info for Megatron:",), r"\*{4} Git info for Megatron: git_hash=", versions=_FORKS
    ),
    known_line(
        "deepspeed_enabled", ("DeepSpeed is enabled.",), r"^\s*DeepSpeed is enabled\.", versions=_FORKS
    ),
    known_line(
        "anchors_of_load",
        ("[before load checkpoint] datetime: ", "[after load checkpoint weights] datetime: "),
        r"\[(?:before load checkpoint|after load checkpoint weights)\] datetime: ",
        versions="Microsoft since 2023",
    ),
    known_line(
        "index_texts",
        (
            " > elasped time to ",
            "    reading ",
            "    creating ",
            " > dataset split:",
            "     document indices in [",
            " > loading ",
            "    loaded indexed file in ",
            "    total number of ",
            "    number of documents: ",
            " > WARNING: could not find index map files",
            " > only one epoch required",
            "Skipped iterations ",
            "Single data path provided for train, valid & test",
            "estimated model parameters without embeddings: ",
        ),
        r"^\s*> elasped time to |^\s+reading (?:sizes|pointers|document index)\.\.\.|^\s+creating (?:numpy"
        r"|memory) "
        r"|^\s*> dataset split:|^\s+document indices in \[\d|^\s*> loading \S+ mapping from "
        r"|^\s+loaded indexed file in "
        r"|^\s+total number of (?:samples|epochs): \d|^\s+number of documents: +\d"
        r"|^\s*> WARNING: could not find index"
        r"|^\s*> only one epoch required|^\s*Skipped iterations \d+ to \d+ due to "
        r"|^\s*Single data path provided for train, valid & test"
        r"|estimated model parameters without embeddings: \d",
        versions=_FORKS,
    ),
)

FORMAT = Format(
    name="megatron_deepspeed",
    title="Megatron-DeepSpeed, console (BigScience, Microsoft and later forks)",
    link="https://github.com/deepspeedai/Megatron-DeepSpeed/blob/main/megatron/training.py",
    role="trainer",
    patterns=(
        *STEPS,
        *_kept(PHASES),
        *_kept(CHECKPOINTS),
        *_kept(TIMERS),
        *_kept(FACTS),
        *_kept(KNOWN),
        *OWN,
    ),
    step_time="The printed time is a mean: all time since the line before, divided by its steps. Waiting for "
    "data, evaluations and saves are inside it; nothing ever stops its timer.",
    step_time_excludes_stalls=False,
    deciding=("step", "step_seconds", "step_assigned", "git_info", "deepspeed_enabled"),
    # GPT-NeoX comes of the same code, and prints what set its arguments. A fence: somebody quotes a log.
    foreign=("approx flops per GPU: ", "....updated", "....default", "```"),
    versions=_FORKS,
)
