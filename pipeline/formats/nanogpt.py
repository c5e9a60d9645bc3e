"""nanoGPT and its descendants: modded-nanogpt and llm.c. None of them prints a time with a step."""

from __future__ import annotations

from pipeline.formats._nanogpt_llmc import LLMC
from pipeline.formats._nanogpt_modded import MODDED
from pipeline.formats.format import Format, Pattern, Value, known_line

_STEP = Value(group="step", kind="int")
_END = Value(const="end")
_LOSS = Value(group="loss", kind="float")
_LOSSES = r"[\d.naif]+(?: \w+)?, val loss [\d.naif]+(?: \w+)?\s*$"

NANOGPT = (
    Pattern(
        name="iter",
        table="steps",
        versions="2022-12 to 2025-11",
        literals=("iter ",),
        regex=r"^iter (?P<step>\d+): loss (?P<loss>[\d.naif]+), time (?P<ms>[\d.]+)ms"
        r"(?:, mfu (?:-[\d.]+|(?P<mfu>[\d.]+))%)?\s*$",
        columns={
            "step_last": _STEP,
            "ts_edge": _END,
            "step_time_s": Value(group="ms", kind="float", scale=1e-3),
            "loss": _LOSS,
            # A share of the peak of an A100, 312 TFLOP/s, whatever the device is.
            "tflops_per_gpu": Value(group="mfu", kind="float", scale=3.12),
        },
        note="Counts from 0, each `log_interval` steps. The time is that of the last step alone, with an "
        "evaluation and a save before it. Its MFU is a share of an A100's 312 TFLOP/s on any device, and "
        "so it is read as TFLOP/s.",
    ),
    Pattern(
        name="first_eval",
        table="phases",
        versions="2022-12 to 2025-11",
        literals=("step 0: train loss ",),
        regex=r"^step 0: train loss " + _LOSSES,
        columns={"phase": Value(const="loop"), "edge": Value(const="begin")},
        note="The loop begins with an evaluation, before the first step.",
    ),
    Pattern(
        name="eval",
        table="phases",
        versions="2022-12 to 2025-11",
        literals=(": train loss ",),
        regex=r"^step (?P<step>[1-9]\d*): train loss " + _LOSSES,
        columns={"phase": Value(const="eval"), "edge": _END, "step": _STEP},
    ),
    Pattern(
        name="save",
        table="checkpoints",
        versions="2022-12 to 2025-11",
        literals=("saving checkpoint to ",),
        regex=r"^saving checkpoint to (?P<path>\S+)\s*$",
        columns={"op": Value(const="save"), "edge": Value(const="begin"), "path": Value(group="path")},
    ),
    Pattern(
        name="resume",
        table="checkpoints",
        versions="2022-12 to 2025-11",
        literals=("Resuming training from ",),
        regex=r"^Resuming training from (?P<path>\S+)\s*$",
        columns={"op": Value(const="load"), "edge": Value(const="begin"), "path": Value(group="path")},
    ),
    Pattern(
        name="from_scratch",
        table="checkpoints",
        versions="2022-12 to 2025-11",
        literals=("Initializing a new model from scratch", "Initializing from OpenAI GPT-2 weights"),
        regex=r"^Initializing (?:a new model from scratch|from OpenAI GPT-2 weights)",
        columns={"op": Value(const="load"), "edge": Value(const="none")},
    ),
    Pattern(
        name="compile",
        table="phases",
        versions="2022-12 to 2025-11",
        literals=("compiling the model... (takes",),
        regex=r"^compiling the model\.\.\. \(takes",
        columns={"phase": Value(const="compile"), "edge": Value(const="point")},
        note="Only an announcement: the first step compiles.",
    ),
    Pattern(
        name="batch_tokens",
        table="facts",
        versions="2023-02 to 2025-11",
        literals=("tokens per iteration will be: ",),
        regex=r"^tokens per iteration will be: (?P<value>[\d,]+)",
        columns={"key": Value(const="tokens_per_step"), "value": Value(group="value")},
    ),
    Pattern(
        name="params",
        table="facts",
        versions="2022-12 to 2025-11",
        literals=("number of parameters: ",),
        regex=r"^number of parameters: (?P<value>[\d.]+M)\s*$",
        columns={"key": Value(const="params"), "value": Value(group="value")},
    ),
    known_line(
        "set_up",
        ("decayed parameter tensors", "using fused AdamW", "defaulting to vocab_size", "found vocab_size"),
        r"^(?:num (?:non-)?decayed parameter tensors: \d+|using fused AdamW: |defaulting to vocab_size of "
        r"|found vocab_size = \d+)",
        "2022-12 to 2025-11",
    ),
)

FORMAT = Format(
    name="nanogpt",
    title="nanoGPT, modded-nanogpt, llm.c",
    link="https://github.com/karpathy/nanoGPT/blob/master/train.py",
    role="trainer",
    patterns=(*NANOGPT, *MODDED, *LLMC),
    step_time="nanoGPT: the last step alone, with an evaluation or a save before it. modded-nanogpt: a mean "
    "since the loop began, without validations. llm.c: the step alone on its console; no time in its "
    "`main.log`.",
    flops_attention="full_attention",
    step_time_excludes_stalls=False,
    step_time_of_all=("modded_step", "modded_stretch"),
    deciding=(
        "iter",
        "first_eval",
        "eval",
        "modded_step",
        "modded_stretch",
        "modded_eval",
        "llmc_train",
        "llmc_eval",
        "llmc_step",
    ),
    versions="nanoGPT 2022-12 to 2025-11, modded-nanogpt 2024-06 to 2026-08, llm.c 2024-05 to 2025-06",
)
