"""NVIDIA NeMo 1 and 2, console: progress lines and bars; the module `_nemo_events` holds the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._megatron_dialects import shared
from pipeline.formats._nemo_events import EVENTS
from pipeline.formats._nemo_facts import FACTS
from pipeline.formats._nemo_known import KNOWN
from pipeline.formats.format import Format, Head, Pattern, Value, known_line

_COUNT = Value(group="step", kind="int")
_EDGE = Value(const="end")


def _after(label: str, kind: str = "float") -> tuple[str, Value]:
    """Return how a value of the progress line is found by its label."""
    number = r"-?\d+(?:\.0+)?" if kind == "int" else r"-?[\d.]+(?:e[+-]?\d+)?|nan|inf"
    return rf"\| {label}: (?P<v>{number})(?: |$)", Value(group="v", kind="int" if kind == "int" else "float")


def _assigned(label: str) -> tuple[str, Value]:
    """Return how a value behind a progress bar is found by its label."""
    return rf"\b{label}=(?P<v>-?[\d.]+(?:e[+-]?\d+)?|nan|inf)(?:[,\]]|$)", Value(group="v", kind="float")


#: `Epoch 0: :   7%|7  | 7000/100000 [2:11:05<29:01:33, …reduced_train_loss=2.310, …]`; old bars hold a rate.
_BAR = (
    r"\b{epoch}: (?:: )? *\d+%\|[^|]*\| *(?P<n>\d+)/(?P<target>\d+) \[(?P<elapsed>[\d:]+)<"
    r"[^\]]*\breduced_train_loss="
)
_BAR_COLUMNS: Mapping[str, Value] = {
    "elapsed_s": Value(group="elapsed", kind="seconds"),
    "ts_edge": _EDGE,
}
_BAR_EXTRAS: Mapping[str, tuple[str, Value]] = {
    "loss": _assigned("reduced_train_loss"),
    "step_time_s": _assigned("train_step_timing in s"),
    "grad_norm": _assigned("grad_norm"),
}

STEPS = (
    Pattern(
        name="progress",
        table="steps",
        versions="2.0 to 2.4",
        literals=("Training epoch ",),
        unique=True,
        # A launcher may put the end of its task's name before the line.
        regex=r"(?:^|[\s\]:])Training epoch \d+, iteration (?P<n>\d+)/(?:(?P<last>\d+)|inf|-?\w+)"
        r"(?: \| .*?\bglobal_step: (?P<step>\d+))?(?: \||\s*$)",
        columns={
            "step_last": Value(group=("step", "n"), kind="int", offset=1),
            "step_target": Value(group="last", kind="int", offset=1),
            "ts_edge": _EDGE,
        },
        extras={
            "batch_size": _after("global_batch_size", "int"),
            "consumed_samples": _after("consumed_samples", "int"),
            "loss": _after("reduced_train_loss"),
            "grad_norm": _after("grad_norm"),
            "step_time_s": _after("train_step_timing in s"),
            "tflops_per_gpu": _after("TFLOPS_per_GPU"),
            "tokens_per_s_per_gpu": _after("tokens_per_sec_per_gpu"),
        },
        note="Steps count from 0 in the line, and from 1 here and in the lines of saves. All values but the "
        "step are sums over the interval divided by its usual length: too small in the first line after a "
        "start. Numbers have four digits.",
    ),
    Pattern(
        name="bar",
        table="steps",
        versions="1.8 to 2.4",
        literals=("reduced_train_loss=",),
        regex=_BAR.format(epoch=r"Epoch 0"),
        columns={
            "step_last": Value(group="n", kind="int"),
            "step_target": Value(group="target", kind="int"),
            **_BAR_COLUMNS,
        },
        extras=_BAR_EXTRAS,
        note="A bar is written over and over in one line. It counts the steps that were done; behind it "
        "numbers have three digits.",
    ),
    Pattern(
        name="bar_later",
        table="steps",
        versions="1.8 to 2.4",
        literals=("reduced_train_loss=",),
        regex=_BAR.format(epoch=r"Epoch [1-9]\d*") + r"[^\]]*\bglobal_step=(?P<step>\d+)(?:\.0+)?[,\]]",
        columns={"step_last": Value(group="step", kind="int", offset=1), **_BAR_COLUMNS},
        extras=_BAR_EXTRAS,
        note="The bar counts the steps of its epoch; the step behind it counts all of them from 0, and can "
        "be used while it is below 1,000.",
    ),
    known_line(
        "bar_useless",
        ("reduced_train_loss=",),
        r"\bEpoch (?:[1-9]\d*: (?:: )? *\d+%\|[^|]*\| *\d+/\d+ \[.*\bglobal_step=[\d.]+e"
        r"|\d+: (?:: )? *\d+/\? \[)",
        versions="1.8 to 2.4",
        note="The step is rounded, or the length of the bar is not known.",
    ),
)

BESIDE = (
    Pattern(
        name="world_size",
        table="facts",
        versions="1.8 to 2.4",
        literals=("All distributed processes registered. Starting with ",),
        regex=r"All distributed processes registered\. Starting with (?P<value>\d+) processes",
        columns={"key": Value(const="world_size"), "value": Value(group="value")},
        note="Of Lightning.",
    ),
    Pattern(
        name="member",
        table="facts",
        versions="1.8 to 2.4",
        literals=("Initializing distributed: GLOBAL_RANK: ",),
        regex=r"^Initializing distributed: GLOBAL_RANK: (?P<rank>\d+), MEMBER: \d+/(?P<value>\d+)",
        columns={
            "rank": Value(group="rank", kind="int"),
            "key": Value(const="world_size"),
            "value": Value(group="value"),
        },
        note="Of Lightning, by every rank.",
    ),
    Pattern(
        name="completed",
        table="phases",
        versions="1.8 to 2.4",
        literals=("`Trainer.fit` stopped: `max_",),
        regex=r"`Trainer\.fit` stopped: `(?P<detail>max_(?:steps|epochs)=\d+)` reached\.",
        columns={"phase": Value(const="loop"), "edge": Value(const="end"), "detail": Value(group="detail")},
        note="Of Lightning, without a time.",
    ),
    known_line(
        "lightning_texts",
        (
            "GPU available: ",
            "TPU available: ",
            "HPU available: ",
            "LOCAL_RANK: ",
            "distributed_backend=",
            "Restoring states from the checkpoint ",
            "Restored all states from the checkpoint ",
            "Time limit reached. Elapsed time is ",
            " was not in top ",
            ", saving model to '",
        ),
        r"^(?:[GTH]PU available: |LOCAL_RANK: \d|distributed_backend="
        r"|Restor(?:ing|ed all) states from the checkpoint "
        r"|Time limit reached\. Elapsed time is |Epoch \d+, global step \d+: '\w+' (?:reached|was not) )",
        versions="1.8 to 2.4",
    ),
    Pattern(
        name="evaluation",
        table="phases",
        versions="2.0 to 2.4",
        literals=("Validation: iteration ",),
        regex=r"(?:^|\]|/\d+ |\[\w+\]:)Validation: iteration (?P<detail>\d+/\w+)",
        columns={"phase": Value(const="eval"), "edge": Value(const="point"), "detail": Value(group="detail")},
        note="One line for each batch that is validated, without a time.",
    ),
    known_line(
        "evaluation_texts",
        (
            "Sanity checking Validation: iteration ",
            "Testing: iteration ",
            "Validation DataLoader ",
            "Sanity Checking",
        ),
        r"(?:^|[\s\]])(?:(?:Testing|Validation DataLoader \d.*): |Sanity [Cc]heck)",
        versions="1.8 to 2.4",
    ),
)

FORMAT = Format(
    name="nemo",
    title="NVIDIA NeMo 1 and 2, console",
    link="https://github.com/NVIDIA/NeMo/blob/main/nemo/lightning/pytorch/callbacks/progress_printer.py",
    role="trainer",
    patterns=(
        *STEPS,
        *BESIDE,
        *EVENTS,
        *FACTS,
        *KNOWN,
        *shared(("timer_minmax", "timer_max", "timer_blocks"), "2.0 to 2.4"),
    ),
    step_time="The printed `train_step_timing` covers the step function alone: waiting for data, saves and "
    "evaluations are outside. In progress lines it is a mean over the log interval, in bars that of the last "
    "step. Bars also tell the time since their begin, with everything inside.",
    step_time_excludes_stalls=True,
    step_time_of_one=("bar", "bar_later"),
    world_size_late=True,
    heads=(
        Head(
            r"\[NeMo [A-Z] [0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}"
            r" [a-z_]+:[0-9]+\] ",
            "step",
        ),
    ),
    deciding=("progress", "bar", "bar_later", "process_start", "save_blocked", "save_end", "load_end"),
    background_told=True,
    # A submission to MLPerf is read by its records.
    foreign=(":::MLLOG ",),
    versions="1.8 to 2.4",
)
