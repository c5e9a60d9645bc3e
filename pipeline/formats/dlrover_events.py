"""DLRover, training events as JSON: one object a line, with the begin and the end of what a process does."""

from __future__ import annotations

from pipeline.formats._dlrover_names import EVENTS, VERSIONS, Event
from pipeline.formats.format import Format, Pattern, Value

_STEP = Value(group="content/global_step", kind="int")
_OWN: dict[str, dict[str, Value]] = {
    "steps": {"step_last": _STEP},
    "phases": {"step": _STEP, "detail": Value(group="name")},
    "checkpoints": {
        "step": _STEP,
        "path": Value(group="content/path"),
        "ok": Value(group="content/success", kind="bool"),
    },
    "": {},
}


def _pattern(event: Event) -> Pattern:
    """Return the pattern of the records of one kind of event."""
    stamp = {"ts": Value(group="event_time", kind="stamp", stamp="iso")} if event.table else {}
    return Pattern(
        name=event.name,
        table=event.table,
        when=("event_id", "event_time"),
        where={"name": event.names, "event_type": event.types},
        columns={**stamp, **_OWN[event.table], **event.columns},
        versions=VERSIONS,
        note=event.note,
    )


FORMAT = Format(
    name="dlrover_events",
    title="DLRover, training events as JSON",
    link="https://github.com/intelligent-machine-learning/dlrover/tree/master/dlrover/python/training_event",
    role="trainer",
    patterns=tuple(_pattern(event) for event in EVENTS),
    shape="records",
    step_time="No step time is printed: an event ends a step; saves and evaluations have their own.",
    step_time_excludes_stalls=False,
    deciding=tuple(event.name for event in EVENTS if event.table),
    versions=VERSIONS,
    unrendered="It holds the events that the text form holds, which the simulator writes.",
)
