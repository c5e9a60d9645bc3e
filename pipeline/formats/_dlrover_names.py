"""DLRover: names of training events, and what each of them is in the words of the event tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pipeline.formats.format import Value

VERSIONS = "0.4 to 0.6"


@dataclass(frozen=True, slots=True)
class Event:
    """A kind of event: its names, its types, the table that it fills, and constants of that table."""

    name: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    table: str = ""
    columns: Mapping[str, Value] = field(default_factory=dict)
    note: str = ""


def _phase(
    name: str, event: str, kind: str, phase: str, edge: str, detail: str = "", note: str = ""
) -> Event:
    """Return an event that begins or ends a phase."""
    columns = {"phase": Value(const=phase), "edge": Value(const=edge)}
    if detail:
        columns["detail"] = Value(const=detail)
    return Event(name, (event,), (kind,), "phases", columns, note)


def _span(name: str, event: str, phase: str, detail: str = "") -> Iterator[Event]:
    """Yield the begin and the end of a phase."""
    yield _phase(f"{name}_begin", event, "BEGIN", phase, "begin", detail)
    yield _phase(f"{name}_end", event, "END", phase, "end", detail)


def _checkpoint(name: str, event: str, kind: str, op: str, edge: str, note: str = "") -> Event:
    """Return an event that begins or ends a save or a load."""
    columns = {"op": Value(const=op), "edge": Value(const=edge)}
    return Event(name, (event,), (kind,), "checkpoints", columns, note)


_POINTS = (
    *("#rendezvous", "#process_restart", "#process_restart_membership", "#process_succeeded", "#node_join"),
    *("#fault_tolerance", "#pre_check", "#network_check", "#job_restart", "#job_train", "#worker_event"),
    *("#master_start", "#master_exit", "#agent_start", "#agent_exit", "#worker_create", "#worker_relaunch"),
    *("#warning", "#exception"),
)
_FAULTS = ("#process_fail", "#fault_detect", "#job_abortion", "#worker_no_heartbeat")
_ANY = ("BEGIN", "END", "INSTANT")

EVENTS = (
    Event(
        "step",
        ("#step",),
        ("END",),
        "steps",
        {"ts_edge": Value(const="end")},
        note="A begin without an end: the process died in the step.",
    ),
    _phase("process_start", "#start", "INSTANT", "process_start", "point"),
    _phase(
        "setup_begin",
        "#init",
        "BEGIN",
        "init",
        "end",
        note="The process is up; data, model and checkpoint are set up from here on.",
    ),
    _phase("setup_end", "#init", "END", "model_setup", "end"),
    _phase("setup_done", "#init_end", "INSTANT", "model_setup", "point"),
    *_span("data", "#load_dataset", "data_setup"),
    *_span("loop", "#train", "loop"),
    *_span("eval", "#evaluate", "eval"),
    *_span("predict", "#predict", "custom", "predict"),
    _phase("finish", "#finish", "INSTANT", "exit", "point", "completed"),
    Event(
        "fault",
        _FAULTS,
        _ANY,
        "phases",
        {"phase": Value(const="exit"), "edge": Value(const="point")},
        note="Told by the agent or the master.",
    ),
    Event(
        "point",
        _POINTS,
        _ANY,
        "phases",
        {"phase": Value(const="custom"), "edge": Value(const="point")},
    ),
    _checkpoint("load_begin", "#load_ckpt", "BEGIN", "load", "begin"),
    _checkpoint("load_end", "#load_ckpt", "END", "load", "end"),
    _checkpoint("save_begin", "#save", "BEGIN", "save", "begin"),
    _checkpoint(
        "save_end",
        "#save",
        "END",
        "save",
        "blocked",
        note="The loop goes on; the checkpoint is persisted beside it.",
    ),
    _checkpoint("persist_end", "#persist_ckpt", "END", "save", "end"),
    Event("known", ("#epoch", "#substep", "#log", "#predict_step"), _ANY),
    Event("step_begin", ("#step",), ("BEGIN", "INSTANT")),
    Event("persist_begin", ("#persist_ckpt",), ("BEGIN",)),
)
