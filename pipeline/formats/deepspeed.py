"""DeepSpeed, the console of a program without step lines of its own, such as the examples of DeepSpeed-Chat.

Saves, loads, launcher and configuration are in `deepspeed_library`, since other programs print them too.
"""

from __future__ import annotations

from pipeline.formats._deepspeed_head import HEAD
from pipeline.formats.format import Format, Pattern, Value, known_line

_STEP = Value(group="step", kind="int")

PATTERNS = (
    Pattern(
        name="step",
        table="steps",
        versions="0.3 to 0.18",
        literals=("] step=",),
        regex=rf"{HEAD}\[Rank (?P<rank>\d+)\] step=(?P<step>[1-9]\d*), skipped=\d+, lr=\[",
        columns={
            "rank": Value(group="rank", kind="int"),
            "step_last": _STEP,
            "ts_edge": Value(const="end"),
        },
        note="Printed every `steps_per_print` steps, which is 10 up to 0.15.1 and off since. `skipped` "
        "counts "
        "from the start of the training, and so is not read. Step 0 is printed before the first one.",
    ),
    Pattern(
        name="step_pipeline",
        table="steps",
        versions="0.3 to 0.18",
        literals=(" iter time (s): ",),
        regex=r"^steps: (?P<step>\d+) loss: (?P<loss>[\d.]+|nan|inf).*? iter time \(s\): (?P<seconds>[\d.]+) "
        r"samples/sec: (?P<rate>[\d.]+)",
        columns={
            "step_last": _STEP,
            "step_time_s": Value(group="seconds", kind="float"),
            "ts_edge": Value(const="end"),
            "loss": Value(group="loss", kind="float"),
            "samples_per_s": Value(group="rate", kind="float"),
        },
        note="Of the pipeline engine, beside the line above. Its mean divides by `steps_per_print` even "
        "where "
        "fewer steps were made since a load.",
    ),
    Pattern(
        name="evaluation_begin",
        table="phases",
        versions="DeepSpeed-Chat",
        literals=("***** Evaluating ",),
        regex=r"^\*{5} Evaluating (?P<detail>\w+), Epoch \d+/\d+ \*{5}",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="begin"),
            "detail": Value(group="detail"),
        },
        note="Without a time.",
    ),
    known_line(
        "program",
        (
            "***** Running training *****",
            "Beginning of Epoch ",
            "ppl: ",
            "saving the final model",
            "Epoch: ",
            "_last_scores ",
        ),
        r"^\*{5} Running training \*{5}\s*$|^Beginning of Epoch \d+/\d+, Total Micro Batches \d+"
        r"|^ppl: [\d.]+(?:, loss: [\d.]+)?\s*$|^chosen_last_scores \(higher is better\) : "
        r"|^saving the final model \.\.\."
        r"|^Epoch: \d+, Step: \d+, Rank: \d+, loss = ",
        versions="DeepSpeed-Chat",
    ),
)

FORMAT = Format(
    name="deepspeed",
    title="DeepSpeed, console of a program without step lines of its own",
    link="https://github.com/deepspeedai/DeepSpeed/blob/master/deepspeed/runtime/engine.py",
    role="trainer",
    patterns=PATTERNS,
    step_time="The engine's step line prints no time: the stamps tell, and all that happens between two of "
    "them is inside. The line of the pipeline engine is a mean over the steps since the line before; it "
    "holds "
    "the data wait of the pipeline, and neither saves nor evaluations.",
    step_time_excludes_stalls=True,
    deciding=("step", "step_pipeline"),
    # Programs on DeepSpeed that print steps of their own, each of which is a format of its own.
    foreign=(
        *("elapsed time per iteration (", "elapsed_time_per_iteration_ms=", "Git info for Megatron:"),
        *("DeepSpeed is enabled.", "approx flops per GPU: ", "{'loss': ", "'train_runtime': "),
        *("Instantaneous batch size per device", "'train_speed(", "reduced_train_loss=", " | global_step: "),
    ),
    versions="0.3 to 0.18",
)
