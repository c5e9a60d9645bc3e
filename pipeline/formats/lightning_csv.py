"""`metrics.csv` of Lightning's CSVLogger: metrics by step, without any time."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

#: Names that users give the loss of the training, the one of the library's own examples first.
LOSSES = (
    "train_loss",
    "train_loss_step",
    "train/loss",
    "train/loss_step",
    "loss",
    "loss_step",
    "training_loss",
)

FORMAT = Format(
    name="lightning_csv",
    title="Lightning, metrics.csv of the CSVLogger",
    link="https://github.com/Lightning-AI/pytorch-lightning/blob/master/src/lightning/pytorch/loggers/csv_logs.py",
    role="trainer",
    shape="csv",
    header=(
        "step",
        "epoch",
        *LOSSES,
        "train_loss_epoch",
        "val_loss",
        "val/loss",
        "lr-AdamW",
        "lr-Adam",
        "lr-SGD",
        "train|time",
        "train|batches",
    ),
    header_min=3,
    foreign=("iter_time",),
    patterns=(
        Pattern(
            name="metrics",
            table="steps",
            when=("step",),
            columns={
                "step_last": Value("step", "int"),
                "loss": Value(LOSSES, "float"),
                "mfu": Value("train|device/mfu", "float"),
                "samples_per_s": Value(("train|samples_per_sec", "train|device/samples_per_sec"), "float"),
                "tokens_per_s": Value("train|items_per_sec", "float"),
                "tokens_per_s_per_gpu": Value("train|device/items_per_sec", "float"),
                "tflops_per_gpu": Value("train|device/flops_per_sec", "float", scale=1e-12),
            },
            versions="1.5 to 2.6",
            note="Steps count from 0. Metrics of an evaluation stand in rows of their own, with the step "
            "that they follow. Up to a hundred rows are lost in a crash, and a start removes the file of "
            "its folder.",
        ),
    ),
    step_time="There is none: rows carry neither a time nor a length. Where the console of the run was "
    "kept too, its clock decides, and these steps count for nothing.",
    step_time_excludes_stalls=False,
    unrendered="It carries no time, and repeats what the console tells.",
    versions="1.5 to 2.6",
    second_hand=2,
)
