"""Hugging Face Trainer and the programs around it: progress bars, dictionaries, lines of loggers."""

from __future__ import annotations

from pipeline.formats._hf_trainer_checkpoints import CHECKPOINTS
from pipeline.formats._hf_trainer_events import EVENTS
from pipeline.formats._hf_trainer_facts import FACTS
from pipeline.formats._hf_trainer_head import HEAD, STAMP
from pipeline.formats._hf_trainer_known import KNOWN
from pipeline.formats.format import Format, Pattern, Value

#: A number of a dictionary as 4.x prints it, and as the text that it is since 5.0.
_NUMBER = r"'?(?P<v>[^',}]+)'?"


def _entry(key: str) -> str:
    """Return an expression for one entry of a dictionary."""
    return rf"'{key}': {_NUMBER}"


STEPS = (
    Pattern(
        name="bar",
        table="steps",
        versions="4.0 to 5.24, and scripts without a Trainer",
        literals=("it/s", "s/it"),
        #  42%|████▏     | 3050/7323 [04:19<5:07:02,  4.31s/it], and what a script puts behind it
        regex=r"^\s*\d+%\|[^|]*\| (?P<step>[1-9]\d*)/(?P<total>\d+) "
        r"\[(?P<elapsed>\d[\d:]*)<[\d:?]+, +[\d.?]+(?:it/s|s/it)(?:, [^\]]*)?\]\s*$",
        columns={
            "step_last": Value("step", "int"),
            "step_target": Value("total", "int"),
            "elapsed_s": Value("elapsed", "seconds"),
        },
        note="Drawn at most ten times a second, so that counts are skipped; whole seconds since the loop "
        "began, evaluations and saves included. After a resume the first count is the restored step and one. "
        "The bar of an evaluation after the training looks the same: staging tells it by its total.",
    ),
    Pattern(
        name="log",
        table="steps",
        versions="4.0 to 5.24, TRL, axolotl, LLaMA-Factory",
        literals=("{'loss': ",),
        regex=HEAD + r"\{'loss': '?(?P<loss>[^',}]+)'?, .*'epoch': '?[\d.e+-]+'?[,}]",
        columns={"ts": STAMP, "loss": Value("loss", "float")},
        extras={
            "grad_norm": (_entry("grad_norm"), Value(kind="float")),
            "step_time_s": (_entry("step_time"), Value(kind="float")),
            "tokens_per_s_per_gpu": (_entry(r"tokens/train_per_sec_per_gpu"), Value(kind="float")),
        },
        note="Neither a step nor, mostly, a time: it tells what the bar beside it does not. Printed by each "
        "node in 4.x.",
    ),
)

FORMAT = Format(
    name="hf_trainer",
    title="Hugging Face Trainer, console (with TRL, axolotl, accelerate)",
    link="https://github.com/huggingface/transformers/blob/main/src/transformers/trainer.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS, *FACTS, *CHECKPOINTS, *KNOWN),
    step_time="No step time is printed. The clock of the progress bar counts from the begin of the loop and "
    "holds everything: evaluations, saves, waits for data, and the batches that are read and thrown away "
    "after a resume. The rate beside it is smoothed and not read. `step_time` of TRL is a mean over the "
    "interval, generation included.",
    step_time_excludes_stalls=False,
    deciding=("log", "train_end", "eval_end", "total_steps", "batch", "completed", "load_end", "load_end_5"),
    needs_proof=True,
    versions="4.0 to 5.24; TRL to 1.9, axolotl to 0.18, accelerate to 1.14",
    bars_for_evaluations=True,
    results_apart=True,
    results_per_node=True,
    save_end_untold=True,
)
