"""`trainer_state.json` of the Hugging Face Trainer: what it had logged when a checkpoint was written."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

_ALL = "4.0 to 5.24"

FORMAT = Format(
    name="hf_trainer_state",
    title="Hugging Face Trainer, trainer_state.json of a checkpoint",
    link="https://github.com/huggingface/transformers/blob/main/src/transformers/trainer_callback.py",
    role="trainer",
    shape="document",
    elements=("log_history",),
    header=('"log_history"', '"global_step"', '"is_hyper_param_search"'),
    header_min=3,
    patterns=(
        Pattern(
            name="log",
            table="steps",
            when=("step", "loss"),
            columns={
                "step_last": Value("step", "int"),
                "loss": Value("loss", "float"),
                "grad_norm": Value("grad_norm", "float"),
                "step_time_s": Value("step_time", "float"),
            },
            versions=_ALL,
            note="No time of any kind. The history is taken over by a resumed process, so that steps which a "
            "failure cost are not in it: it shows what survived.",
        ),
        Pattern(
            name="eval",
            table="timers",
            when=("step", "eval_runtime"),
            columns={
                "step": Value("step", "int"),
                "component": Value(const="evaluate"),
                "mean_s": Value("eval_runtime", "float"),
            },
            versions=_ALL,
        ),
        Pattern(
            name="train_end",
            table="",
            when=("step", "train_runtime"),
            versions=_ALL,
            note="The training was over when this state was written.",
        ),
    ),
    step_time="There is none: steps carry neither a time nor a length. Where the console of the run was kept "
    "too, its clock decides, and these steps count for nothing.",
    step_time_excludes_stalls=False,
    unrendered="It carries no time, and repeats what the console tells.",
    versions=_ALL,
    second_hand=2,
)
