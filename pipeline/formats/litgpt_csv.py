"""`metrics.csv` of litgpt: micro-batches by the seconds since the loop began."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

FORMAT = Format(
    name="litgpt_csv",
    title="litgpt, metrics.csv",
    link="https://github.com/Lightning-AI/litgpt/blob/main/litgpt/pretrain.py",
    role="trainer",
    shape="csv",
    header=("iter", "iter_time", "total_tokens", "tokens", "time", "learning_rate", "remaining_time"),
    header_min=4,
    patterns=(
        Pattern(
            name="step",
            table="steps",
            when=("iter", "time"),
            columns={
                "step_last": Value("iter", "int"),
                "elapsed_s": Value("time", "float"),
                "loss": Value("loss", "float"),
                "samples_per_s": Value("samples_per_sec", "float"),
                "tokens_per_s": Value("items_per_sec", "float"),
                "tokens_per_s_per_gpu": Value("device/items_per_sec", "float"),
                "tflops_per_gpu": Value("device/flops_per_sec", "float", scale=1e-12),
                "mfu": Value("device/mfu", "float"),
            },
            versions="0.2 to 2026-06",
            note="A step is a micro-batch here, as on the console. The column `step` is none: the logger "
            "overwrites the count of optimizer steps with the number of the micro-batch less one. The "
            "clock does not go on over a resume, and the file of a folder is removed by the next start.",
        ),
        Pattern(
            name="evaluation",
            table="",
            when=("step", "val_loss"),
            versions="0.2 to 2026-06",
            note="The console tells how long it took.",
        ),
    ),
    step_time="The clock counts from the begin of the loop and holds everything: evaluations, saves, "
    "waits for data. `iter_time` is that of the last micro-batch alone, and is not read.",
    step_time_excludes_stalls=False,
    deciding=("step",),
    unrendered="It repeats what the console tells, and its clock begins where no line says when.",
    versions="0.2 to 2026-06",
    second_hand=1,
)
