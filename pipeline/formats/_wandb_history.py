"""Weights & Biases: the columns of a history, whether it was exported as records or as a table."""

from __future__ import annotations

from pipeline.formats.format import Derived, Pattern, Value

#: Counts of optimizer steps that trainers log beside the step of the history, which counts calls.
_STEPS = ("train/global_step", "trainer/global_step", "global_step", "train/step", "iteration")
_LOSSES = (
    "train/loss",
    "train_loss",
    "train/train_loss",
    "loss_metrics/global_avg_loss",
    "lm loss",
    "training_loss",
    "loss/train/total",
    "loss",
)
#: A row that holds one of these is of the training.
_TRAINING = (
    *_LOSSES,
    "train/grad_norm",
    "grad_norm",
    "train/learning_rate",
    "learning_rate",
    "lr",
    "throughput(tps)",
    "throughput/tokens_per_sec",
    "throughput/device/tokens_per_sec",
    "throughput/batches_per_sec",
    "tflops",
)


def _names(names: tuple[str, ...], pointers: bool) -> tuple[str, ...]:
    """Return names of fields, as pointers where the history is one of records."""
    return tuple(name.replace("~", "~0").replace("/", "~1") for name in names) if pointers else names


def derived(pointers: bool) -> dict[str, Derived]:
    """Return the field that is there where a row is of the training."""
    return {"trained": Derived(_names(_TRAINING, pointers), r"(?s)^(?P<v>.+)$")}


def patterns(pointers: bool) -> tuple[Pattern, ...]:
    """Return the patterns of a history."""

    def number(*names: str, scale: float = 1.0) -> Value:
        return Value(_names(names, pointers), "float", scale=scale)

    runtime = _names(("eval/runtime",), pointers)
    time = Value("_timestamp", "stamp", stamp="epoch_s")
    versions = "0.10 to 0.23"
    return (
        Pattern(
            name="step",
            table="steps",
            when=("_timestamp", "_step", "trained"),
            columns={
                "ts": time,
                "step_last": Value((*_names(_STEPS, pointers), "_step"), "int"),
                "ts_edge": Value(const="end"),
                "loss": number(*_LOSSES),
                "grad_norm": number("train/grad_norm", "grad_norm"),
                "tokens_per_s": number("throughput/tokens_per_sec"),
                "tokens_per_s_per_gpu": number("throughput(tps)", "throughput/device/tokens_per_sec"),
                "tflops_per_gpu": number("tflops"),
                "mfu": number("mfu(%)", scale=1e-2),
            },
            versions=versions,
            note="The time is that of the call, at the end of the step. Where no count of the trainer is in "
            "the row, the one of the history stands for it. A history that was thinned out for a chart, "
            "or whose rows behind a restored step were dropped, does not show what was lost.",
        ),
        Pattern(
            name="evaluation",
            table="phases",
            when=("_timestamp", *runtime),
            columns={
                "ts": time,
                "phase": Value(const="eval"),
                "edge": Value(const="point"),
                "duration_s": Value(runtime, "float"),
                "step": Value(_names(_STEPS, pointers), "int"),
            },
            versions=versions,
            note="Logged when an evaluation of the Hugging Face Trainer is over.",
        ),
    )


STEP_TIME = (
    "No step time is read: rows carry the time at which they were logged, and what lies between two of "
    "them is evaluations, saves and waits for data too."
)
UNRENDERED = "It is an export of what the trainer logs elsewhere, by names that each trainer chooses itself."
VERSIONS = "0.10 to 0.23"
LINK = "https://docs.wandb.ai/guides/track/public-api-guide"
