"""One-logger: the records of saves and loads, and where times stand in a record."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value

VERSIONS = "2.0 to 2.3"

START = "start_event/attributes/timestamp_msec"
STOP = "stop_event/attributes/timestamp_msec"
EVENT = "event/attributes/timestamp_msec"

#: Edges of the types of record, the field of their time, and the end of the names of their patterns.
TYPES: Mapping[str, tuple[str, str, str]] = {
    "start": ("begin", START, "_begin"),
    "stop": ("end", STOP, "_end"),
    "complete": ("span", START, "_whole"),
}


def ms(field: str) -> Value:
    """Return a time in milliseconds since the epoch."""
    return Value(group=field, kind="stamp", stamp="epoch_ms")


def event(field: str, kind: str = "int") -> Value:
    """Return an attribute of an event."""
    return Value(group=f"event/attributes/{field}", kind="int" if kind == "int" else "float")


LENGTH = Value(group="attributes/duration_msec", kind="float", scale=1e-3)


_STEP_OF_SAVE = Value(group="attributes/current_iteration", kind="int")


def _saves(name: str, span: str, done: Mapping[str, Value], last: str) -> tuple[Pattern, ...]:
    """Return the patterns of the records of a save: ``last`` is the edge of its stop."""
    return tuple(
        Pattern(
            name=f"{name}{suffix}",
            table="checkpoints",
            where={"type": (kind,), "name": (span,)},
            columns={
                "ts": ms(field),
                "op": Value(const="save"),
                "edge": Value(const=last if kind == "stop" else edge),
                "step": _STEP_OF_SAVE,
                **({} if kind == "start" else {"blocking_s": LENGTH, **done}),
            },
            versions=VERSIONS,
        )
        for kind, (edge, field, suffix) in TYPES.items()
    )


CHECKPOINTS = (
    *_saves("save", "checkpoint_save_sync", {"ok": Value(const=True)}, "end"),
    *_saves("save_async", "checkpoint_save_async", {}, "blocked"),
    Pattern(
        name="save_success",
        table="checkpoints",
        where={"type": ("event",), "event/name": ("save_checkpoint_success",)},
        columns={
            "ts": ms(EVENT),
            "op": Value(const="save"),
            "edge": Value(const="end"),
            "step": event("current_iteration"),
            "ok": Value(const=True),
        },
        versions=VERSIONS,
        note="Durable.",
    ),
    *(
        Pattern(
            name=f"load{suffix}",
            table="checkpoints",
            where={"type": (kind,), "name": ("checkpoint_load",)},
            columns={
                "ts": ms(field),
                "op": Value(const="load"),
                "edge": Value(const=edge),
                **({} if kind == "start" else {"blocking_s": LENGTH, "ok": Value(const=True)}),
            },
            versions=VERSIONS,
            note="The step that was read is not told; the loop tells where it goes on.",
        )
        for kind, (edge, field, suffix) in TYPES.items()
    ),
)
