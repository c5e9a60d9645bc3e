"""Levanter: step lines of the tracker that logs JSON and of the progress bar; `_levanter_*` hold the rest."""

from __future__ import annotations

from pipeline.formats._levanter_events import EVENTS
from pipeline.formats._levanter_head import HEAD, told
from pipeline.formats._levanter_tracker import JSON, TRACKER
from pipeline.formats.format import Format, Head, Pattern, Value

_ALL = "1.1 to 2025-09"
_PROGRESS = rf"{HEAD}Progress on:train "
_ELAPSED = r"it(?:/\S+)? rate:.* elapsed:(?P<elapsed>[\d:]+)"
_LOSS = r"(?:.* postfix:.*\bloss=(?P<loss>[\w.+-]+))?"

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="2025-05 to 2025-09",
        literals=('"global_step": ',),
        regex=rf'{JSON}"log", "step": (?P<step>\d+), "metrics": \{{.*"global_step": \d',
        columns=told(step_last=Value(group="step", kind="int"), ts_edge=Value(const="end")),
        extras={"loss": (r'"train/loss": (?P<v>[\w.+-]+)', Value(group="v", kind="float"))},
        note="Steps count from 0. Logged after the step and before its hooks: saves and evaluations come "
        "later.",
    ),
    Pattern(
        name="step_performance",
        table="steps",
        versions="2025-05 to 2025-09",
        literals=('"throughput/duration": ',),
        regex=rf'{JSON}"log", "step": (?P<step>\d+), "metrics": \{{.*"throughput/duration": (?P<s>[\d.e+-]+)',
        columns=told(
            step_last=Value(group="step", kind="int"),
            step_time_s=Value(group="s", kind="float"),
            ts_edge=Value(const="late"),
        ),
        extras={
            "tokens_per_s": (
                r'"throughput/tokens_per_second": (?P<v>[\d.e+-]+)',
                Value(group="v", kind="float"),
            ),
            "samples_per_s": (
                r'"throughput/examples_per_second": (?P<v>[\d.e+-]+)',
                Value(group="v", kind="float"),
            ),
            "mfu": (r'"throughput/mfu": (?P<v>[\d.e+-]+)', Value(group="v", kind="float", scale=1e-2)),
        },
        note="Logged once saves and evaluations after the step are over: its stamp is no end of a step.",
    ),
    Pattern(
        name="progress",
        table="steps",
        versions=_ALL,
        literals=("Progress on:train ",),
        regex=rf"{_PROGRESS}(?P<n>\d+)(?:\.0+)?{_ELAPSED}{_LOSS}",
        columns=told(
            step_last=Value(group="n", kind="int"),
            ts_edge=Value(const="end"),
            elapsed_s=Value(group="elapsed", kind="seconds"),
            loss=Value(group="loss", kind="float"),
        ),
        note="At most one line a minute. Steps are counted from 1 here.",
    ),
    Pattern(
        name="progress_scaled",
        table="steps",
        versions=_ALL,
        literals=("Progress on:train ",),
        regex=rf"{_PROGRESS}(?P<n>[\d.]+[kMG]){_ELAPSED}{_LOSS}",
        columns=told(
            step_last=Value(group="n", kind="human"),
            ts_edge=Value(const="late"),
            elapsed_s=Value(group="elapsed", kind="seconds"),
            loss=Value(group="loss", kind="float"),
        ),
        note="Three digits: the same number is printed while it lasts, and may be half of its last digit "
        "off.",
    ),
)

FORMAT = Format(
    name="levanter",
    title="Levanter",
    link="https://github.com/stanford-crfm/levanter/blob/main/src/levanter/trainer.py",
    role="trainer",
    patterns=(*STEPS, *TRACKER, *EVENTS),
    step_time="`throughput/duration` is the time of one step on the device and nothing else: waiting for "
    "data is `throughput/loading_time`, and saves and evaluations are in `throughput/hook_time`. The three "
    "together are the time from one step to the next. The rate of the progress bar is a moving mean with "
    "all of them inside.",
    step_time_excludes_stalls=True,
    hooks_timer="throughput/hook_time",
    heads=(
        Head(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2} - [0-9]+ - [0-9A-Za-z_.]+ - "
            r"[0-9A-Za-z_]+\.py:[0-9]+ - [A-Z]+ :: ",
            "twin",
        ),
    ),
    deciding=(
        "step",
        "step_performance",
        "hook_time",
        "progress",
        "progress_scaled",
        "save_begin",
        "load_begin",
        "hyperparameters",
        "summary",
        "load_none",
        "loop_begin",
    ),
    versions="1.1 to 2025-09",
)
