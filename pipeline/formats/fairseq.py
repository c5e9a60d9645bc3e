"""fairseq since 0.9, and metaseq: step lines and evaluations; `_fairseq_*` hold the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._fairseq_checkpoints import CHECKPOINTS
from pipeline.formats._fairseq_events import EVENTS
from pipeline.formats._fairseq_head import head, metric, told
from pipeline.formats.format import Format, Head, Pattern, Value

_ALL = "0.9.0 to 0.12.3, metaseq to 2023-06"
_NUMBER = Value(group="v", kind="float")
_STEP = Value(group="step", kind="int")
_METRICS: Mapping[str, tuple[str, Value]] = {
    "loss": (metric("loss"), _NUMBER),
    "grad_norm": (metric("gnorm"), _NUMBER),
    "tokens_per_s": (metric("wps"), _NUMBER),
    "batch_size": (metric("bsz"), _NUMBER),
    # Not `train_wall`, which is the time of the updates alone.
    "elapsed_s": (r"\bwall(?:\": \"?|=)(?P<v>[\w.+-]+)", _NUMBER),
}

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=(" | train_inner | ",),
        unique=True,
        regex=head("train_inner") + r".*\bnum_updates(?:\": \"?|=)(?P<step>\d+)",
        columns=told(step_last=_STEP, ts_edge=Value(const="end")),
        extras=_METRICS,
        note="Every `log_interval` updates, as JSON (metaseq), as text, or behind a progress bar. An update "
        "that is skipped because a gradient overflows is not counted, and its time is in the next line.",
    ),
    Pattern(
        name="step_without_count",
        table="",
        versions=_ALL,
        literals=(" | train_inner | ",),
        unique=True,
        regex=head("train_inner") + r"(?:[^n]|n[^u]|nu[^m]|num[^_]|num_[^u])*$",
        note="A task that does not print the number of updates.",
    ),
    Pattern(
        name="epoch",
        table="steps",
        versions=_ALL,
        literals=(" | train | ",),
        regex=head("train") + r".*\b(?:train_)?num_updates(?:\": \"?|=| )(?P<step>\d+)",
        columns=told(step_last=_STEP, ts_edge=Value(const="late")),
        extras={"loss": _METRICS["loss"], "grad_norm": _METRICS["grad_norm"]},
        note="At the end of an epoch, when its evaluation and its save are over; means over the epoch.",
    ),
)

EVALUATIONS = (
    Pattern(
        name="valid_begin",
        table="phases",
        versions="0.10.0 to 0.12.3",
        literals=(" | begin validation on ",),
        regex=head(r"fairseq_cli\.\w+") + r"begin validation on \"(?P<detail>[^\"]+)\" subset",
        columns=told(phase=Value(const="eval"), edge=Value(const="begin"), detail=Value(group="detail")),
    ),
    Pattern(
        name="valid",
        table="phases",
        versions=_ALL,
        literals=(" | valid", " valid_num_updates ", '"valid_num_updates": '),
        regex=head(r"(?P<detail>valid[\w./-]*)") + r".*\b(?:\w+_)?num_updates(?:\": \"?|=| )(?P<step>\d+)",
        columns=told(
            phase=Value(const="eval"),
            edge=Value(const="point"),
            step=_STEP,
            detail=Value(group="detail"),
        ),
        note="Printed when the evaluation is over. metaseq prints nothing when it begins.",
    ),
)

FORMAT = Format(
    name="fairseq",
    title="fairseq and metaseq",
    link="https://github.com/facebookresearch/fairseq/blob/main/fairseq_cli/train.py",
    role="trainer",
    patterns=(*STEPS, *EVALUATIONS, *CHECKPOINTS, *EVENTS),
    step_time="No step time is printed. Words and updates per second (`wps`, `ups`) are means since the "
    "line before, with waiting for data, evaluations and saves inside, which come right after a line and "
    "count for the next. The first update of a process is left out. `train_wall` is the sum of the time of "
    "the updates alone.",
    step_time_excludes_stalls=False,
    heads=(
        Head(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:,[0-9]{3})? \| [A-Z]+ \| [a-z_.]+ \| ",
            "twin",
        ),
    ),
    deciding=(
        "step",
        "step_without_count",
        "save_begin",
        "load_end",
        "rendezvous",
        "initialized",
        "configuration",
        "devices",
        "save_end",
        "load_begin",
        "done",
    ),
    versions="0.9.0 to 0.12.3, metaseq to 2023-06",
    world_size_late=True,
)
