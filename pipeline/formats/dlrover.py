"""DLRover: training events as text, and the logs of its master, its agents and its checkpoints in memory."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._dlrover_names import EVENTS, VERSIONS, Event
from pipeline.formats.format import Format, Head, Pattern, Value, known_line

#: `[2026-04-07 12:00:41,902] [INFO] [engine.py:125:wrapper] `; DeepSpeed has the same.
_HEAD = r"^\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ?\[[A-Z]+\] ?\[\w+\.py:\d+:[\w<>]+\] "
_ROLE = r"(?:\[[\w-]+\] )?"
#: `[2026-04-07T12:03:10.114203] [20551] [b81f02] [AtorchTrainerV2] [#save] [BEGIN] {"global_step": 7200}`
_EVENT = r"^\[(?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)\] \[\d+\] \[\w+\] \[[^\]]*\] "
_STAMP = Value(group="ts", kind="stamp", stamp="iso")
_STEP = Value(group="step", kind="int")

_GLOBAL_STEP = (r'"global_step": (?P<v>\d+)', Value(kind="int"))
_EXTRAS: Mapping[str, Mapping[str, tuple[str, Value]]] = {
    "steps": {"step_last": _GLOBAL_STEP},
    "phases": {"step": _GLOBAL_STEP},
    "checkpoints": {
        "step": _GLOBAL_STEP,
        "path": (r'"path": "(?P<v>[^"]*)"', Value()),
        "ok": (r'"success": (?P<v>true|false)', Value(kind="bool")),
    },
    "": {},
}


def _event(event: Event) -> Pattern:
    """Return the pattern of the lines of one kind of event."""
    names, types = "|".join(event.names), "|".join(event.types)
    own = {"detail": Value(group="name")} if event.table == "phases" else {}
    return Pattern(
        name=event.name,
        table=event.table,
        literals=tuple(f"] [{name}] [" for name in event.names),
        regex=_EVENT + rf"\[(?P<name>{names})\] \[(?:{types})\] \{{",
        columns={"ts": _STAMP, **own, **event.columns} if event.table else {},
        extras=_EXTRAS[event.table],
        versions=VERSIONS,
        note=event.note,
    )


def _line(name: str, literal: str, message: str, table: str, note: str = "", **columns: Value) -> Pattern:
    """Return the pattern of a line of a logger."""
    return Pattern(
        name, table, {"ts": _STAMP, **columns}, (literal,), _HEAD + message, versions=VERSIONS, note=note
    )


def _point(name: str, literals: tuple[str, ...], message: str, phase: str = "custom") -> Pattern:
    """Return the pattern of a moment that a logger tells of."""
    columns = {
        "ts": _STAMP,
        "phase": Value(const=phase),
        "edge": Value(const="point"),
        "detail": Value(group="detail"),
    }
    return Pattern(
        name, "phases", columns, literals, _HEAD + rf"{_ROLE}(?P<detail>{message})", versions=VERSIONS
    )


_SAVE, _LOAD = Value(const="save"), Value(const="load")

LOGGERS = (
    _line(
        "master_step",
        "Global step = ",
        r"Global step = (?P<step>\d+), Worker number = \d+, speed = ",
        "steps",
        note="The newest step that a worker had reported to the master.",
        step_last=_STEP,
        ts_edge=Value(const="end"),
    ),
    _line(
        "memory_save",
        "save_to_memory ",
        r"(?:Local rank \d+ execute save_to_memory in|Function save_to_memory cost) (?P<spent>[\d.]+)s",
        "checkpoints",
        note="The loop stands still for it. What lies in memory outlives a process, and no host.",
        op=_SAVE,
        edge=Value(const="blocked"),
        blocking_s=Value(group="spent", kind="float"),
        tier=Value(const="memory"),
    ),
    _line(
        "persisted",
        "saved.",
        r"The checkpoint of step (?P<step>\d+) has been saved\.",
        "checkpoints",
        op=_SAVE,
        edge=Value(const="end"),
        step=_STEP,
    ),
    _line(
        "persist_failed",
        "Commit checkpoint timeout ",
        r"Commit checkpoint timeout for step (?P<step>\d+)",
        "checkpoints",
        op=_SAVE,
        edge=Value(const="end"),
        step=_STEP,
        ok=Value(const=False),
    ),
    _line(
        "memory_load",
        "Load checkpoint at step ",
        r"Load checkpoint at step (?P<step>\d+) from memory",
        "checkpoints",
        op=_LOAD,
        edge=Value(const="end"),
        step=_STEP,
        tier=Value(const="memory"),
    ),
    _point(
        "worker_failed",
        (
            "The worker fails with",
            "Handle failed node: ",
            "exit.",
            "attempts left; will restart worker group",
        ),
        r"(?:The worker fails with \{.*|Handle failed node: .*|(?:Node check failed|Failed) and exit\."
        r"|Worker group (?:FAILED|UNHEALTHY)\. .*)",
        phase="exit",
    ),
    _point("job_exit", ("Job exit with the reason ",), r"Job exit with the reason .*", phase="exit"),
    _line(
        "completed",
        "ucceeded and exit.",
        r"Succeeded and exit\.",
        "phases",
        phase=Value(const="exit"),
        edge=Value(const="point"),
        detail=Value(const="completed"),
    ),
    _point(
        "restart",
        (
            "Rendezvous",
            "will restart worker group",
            "Trigger job restarting",
            "Restarting job by relaunch",
            "Request to restart",
            "ing worker group",
            "worker group successfully finished",
            "Start saving checkpoint at the",
            " skips the save the checkpoint",
            "This node is a straggler!",
        ),
        r"(?:Rendezvous(?:'ing worker group| complete for workers)|Detected \d+ new nodes from group_rank=\d+"
        r"|Trigger job restarting|Restarting job by relaunch|Request to restart\. Reason: .*"
        r"|(?:Starting|Stopping) worker group|worker group successfully finished"
        r"|Start saving checkpoint at the breakpoint|Rank \d+ skips the save the checkpoint"
        r"|This node is a straggler!)",
    ),
)

KNOWN = (
    known_line(
        "saving",
        ("shared memory", "checkpoint shard", "start save checkpoint", "All agents finish", "ready shards"),
        _HEAD + r"(?:\d+-\d+ acquired the lock of shared memory: |Saves the checkpoint shard "
        r"|Finish saving the checkpoint shard |Rank \d+ start save checkpoint to storage, step: \d+"
        r"|All agents finish saving checkpoint for step \d+|The number of ready shards is )",
        VERSIONS,
    ),
    known_line(
        "checking",
        (
            "check result is ",
            "Pre-check before running",
            "to check network",
            "heartbeat",
            "unscheduled.",
            "All task",
        ),
        _HEAD + r"(?:Network check result is |Communication perf check result is |Pre-check before running"
        r"|Timeout \d+ to check network|Start receiving heartbeat from node \S+"
        r"|Host \S+ is marked unscheduled|All task completed)",
        VERSIONS,
    ),
    known_line(
        "local_event",
        ("][",),
        _HEAD + r"\[\d{4}-\d\d-\d\d, \d\d:\d\d:\d\d\]\[\w+\]\[[^\]]*\]\[[^\]]*\]\[",
        VERSIONS,
    ),
)

FORMAT = Format(
    name="dlrover",
    title="DLRover: training events as text, master, agents and checkpoints in memory",
    link="https://github.com/intelligent-machine-learning/dlrover",
    role="trainer",
    patterns=(*(_event(event) for event in EVENTS), *LOGGERS, *KNOWN),
    heads=(
        Head(
            r"\[[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}\] "
            r"\[[0-9]+\] \[[0-9a-f]{6}\] ",
            "twin",
        ),
    ),
    step_time="No step time is printed: an event ends a step, and saves and evaluations have events of their "
    "own. The master prints the newest step when it is asked, somewhat late.",
    step_time_excludes_stalls=False,
    deciding=(
        *(event.name for event in EVENTS if event.table),
        *("master_step", "memory_save", "persisted", "memory_load", "local_event"),
    ),
    versions=VERSIONS,
)
