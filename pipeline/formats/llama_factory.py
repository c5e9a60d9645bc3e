"""`trainer_log.jsonl` of LLaMA-Factory: a record for each time the trainer logs, with its own clock."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

FORMAT = Format(
    name="llama_factory",
    title="LLaMA-Factory, trainer_log.jsonl",
    link="https://github.com/hiyouga/LLaMA-Factory/blob/main/src/llamafactory/train/callbacks.py",
    role="trainer",
    shape="records",
    patterns=(
        Pattern(
            name="step",
            table="steps",
            when=("current_steps", "total_steps", "elapsed_time", "remaining_time"),
            columns={
                "step_last": Value("current_steps", "int"),
                "step_target": Value("total_steps", "int"),
                "elapsed_s": Value("elapsed_time", "seconds"),
                "loss": Value("loss", "float"),
            },
            versions="0.6 to 0.9.5",
            note="Whole seconds since the loop began. A record without a loss is the result of an "
            "evaluation, or the last one. The throughput beside it divides the tokens of all attempts by "
            "the time of this one, and is not read. The file is deleted by a start that may overwrite its "
            "folder, and else gone on with: where the clock goes back, another process began.",
        ),
    ),
    step_time="No step time is printed. The clock counts from the begin of the loop and holds everything: "
    "evaluations, saves, waits for data.",
    step_time_excludes_stalls=False,
    deciding=("step",),
    unrendered="It repeats what the console of the trainer tells, and its clock knows whole seconds alone.",
    versions="0.6 to 0.9.5",
    second_hand=1,
)
