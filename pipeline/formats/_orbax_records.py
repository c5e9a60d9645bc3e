"""Orbax: the statistics of its manager, and restores from local storage or another slice."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._orbax_checkpoints import HEAD, OK, PATH, columns_of
from pipeline.formats.format import Pattern, Value, known_line

#: A record in the words of Python: what the log store holds as JSON.
_RECORD = HEAD + r"\{'step': (?P<step>\d+), 'event_type': '"
_RECORD_PATH = r"'directory': (?:\w+\()?'(?P<path>[^']*)'"


def _told(key: str) -> Mapping[str, tuple[str, Value]]:
    """Return how the length of an operation is found in a record, by its key."""
    number = Value(group="v", kind="float")
    return {"blocking_s": (rf"'{key}': (?P<v>[\d.]+(?:e-?\d+)?)", number)}


RECORDS = (
    Pattern(
        name="record_save",
        table="checkpoints",
        versions="0.5 to 0.12",
        literals=("'event_type': 'save'",),
        regex=rf"{_RECORD}save', {_RECORD_PATH}",
        columns=columns_of("save", "blocked", PATH),
        extras=_told("checkpoint_manager_blocking_duration_secs"),
        note="Written when the loop goes on. The length contains the wait for the save before.",
    ),
    Pattern(
        name="record_restore",
        table="checkpoints",
        versions="0.5 to 0.12",
        literals=("'event_type': 'restore'",),
        regex=rf"{_RECORD}restore', {_RECORD_PATH}",
        columns=columns_of("load", "end", PATH, OK),
        extras=_told("checkpoint_manager_duration_secs"),
    ),
    Pattern(
        name="record_emergency",
        table="checkpoints",
        versions="0.5 to 0.12",
        literals=("'event_type': 'emergency_restore'",),
        regex=rf"{_RECORD}emergency_restore', .*?{_RECORD_PATH}",
        columns={**columns_of("load", "end", PATH, OK), "tier": Value(const="local")},
        extras=_told("checkpoint_manager_duration_secs"),
        note="From local storage, or by broadcast from another slice.",
    ),
)

EMERGENCY = (
    Pattern(
        name="emergency_begin",
        table="checkpoints",
        versions="0.5 to 0.12",
        literals=("Restoring at step ",),
        regex=HEAD + r"Restoring at step (?P<step>\d+)\.\s*$",
        columns=columns_of("load", "begin"),
        note="Of the emergency manager, before it knows where a whole checkpoint is.",
    ),
    Pattern(
        name="emergency_local",
        table="checkpoints",
        versions="0.12",
        literals=("emergency.CheckpointManager: restoring step=",),
        regex=HEAD + r"emergency\.CheckpointManager: restoring step=(?P<step>\d+) from "
        r"(?P<tier>local checkpoint|persistent\s+checkpoint)(?: in directory=(?P<path>\S+))?",
        columns={
            **columns_of("load", "begin", PATH),
            "tier": Value(group="tier", mapping={"local checkpoint": "local", "*": "persistent"}),
        },
    ),
    known_line(
        "emergency_broadcast",
        ("Finished broadcasting ",),
        HEAD + r"Finished broadcasting (?:during persistent restore )?in [\d.]+",
        versions="0.5 to 0.12",
        note="A part of a restore from another slice; neither its begin nor its end.",
    ),
    known_line(
        "emergency_texts",
        ("emergency.CheckpointManager", "Maybe saving at step ", "Checking should_save at step: "),
        HEAD + r"(?:(?:Configured |Created )?emergency\.CheckpointManager(?: with |: restoring from )"
        r"|Maybe saving at step \d+ \((?:persistent|local)\) to |Checking should_save at step: \d)",
        versions="0.5 to 0.12",
    ),
)
