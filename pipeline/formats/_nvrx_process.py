"""The resiliency extension: what it says inside a process of the trainer, of restarts and of checkpoints."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.3 to 0.6"

INSIDE = (
    Pattern(
        name="exception",
        table="phases",
        versions=_ALL,
        literals=(
            "fn_ex: ",
            "term_ex: ",
            "health_ex: ",
            "finalize_ex: ",
            "abort_ex: ",
            "exit_ex: ",
            "init_ex: ",
        ),
        regex=r"\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)\] rank=(?P<rank>\d+) "
        r"(?P<what>(?:fn|term|health|finalize|abort|exit|init)_ex): ",
        columns={
            "rank": Value(group="rank", kind="int"),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(group="what"),
        },
        note="The time inside the line is UTC; that at its head, which is read, is local.",
    ),
    Pattern(
        name="restart",
        table="phases",
        versions=_ALL,
        literals=("starting iteration=",),
        regex=r"(?P<what>starting iteration=[1-9]\d*) rank=(?P<rank>\d+) world_size=\d+",
        columns={
            "rank": Value(group="rank", kind="int"),
            "phase": Value(const="process_start"),
            "edge": Value(const="point"),
            "detail": Value(group="what"),
        },
        note="The training function begins anew in the same process; the iteration counts how often.",
    ),
    known_line(
        "first_start",
        ("starting iteration=",),
        r"starting iteration=0 rank=\d+ world_size=\d+",
        versions=_ALL,
        note="The process is up for longer than that.",
    ),
    known_line(
        "moves",
        ("[In-process] ", "restart_ex: ", "other_ex: "),
        r"\[In-process\] (?:Hot spare|Rank) |rank=\d+ (?:restart|other)_ex: ",
        versions="0.5 to 0.6",
        note="The number of ranks may shrink without a word of the scheduler.",
    ),
)

CHECKPOINTS = (
    Pattern(
        name="device_to_host",
        table="timers",
        versions="0.4 to 0.6",
        literals=(" to finish D2H", " to schedule async ckpt"),
        regex=r"rank: (?P<rank>\d+), takes (?P<seconds>[\d.e+-]+) to (?P<what>finish D2H"
        r"|schedule async ckpt)",
        columns={
            "rank": Value(group="rank", kind="int"),
            "component": Value(group="what"),
            "mean_s": Value(group="seconds", kind="float"),
        },
        note="Together what a save in the background holds up; printed only at level DEBUG.",
    ),
    known_line(
        "local_checkpoint",
        ("Finish saving ", "Finish loading "),
        r"\.py:\d+ +Finish (?:saving|loading) \S",
        versions="0.4 to 0.6",
        note="Of the manager of local checkpoints, at level DEBUG; the trainer tells which step it was.",
    ),
    known_line(
        "checkpoint_workers",
        ("AsyncCaller: ", "Temporal worker aborted in rank "),
        r"(?:Persistent|Temporal)?AsyncCaller: (?:\d+, (?:Starting|Destroying) Async Caller"
        r"|Async process join finished after)|Temporal worker aborted in rank \d",
        versions="0.4 to 0.6",
    ),
)
