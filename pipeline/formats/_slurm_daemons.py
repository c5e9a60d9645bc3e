"""How a line of a daemon of Slurm begins, and patterns by what follows."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value, known_line

# [2026-03-01T10:01:00.123], with an offset where the site asked for one; its short form is [Mar 01 10:01:00].
_STAMP = (
    r"\[(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)\] "
)

#: Under journald the name of the controller stands in front, and its own stamp may be missing. Levels have
#: their own spacing, a step daemon names its step, and the main scheduler says that it speaks.
HEAD = (
    rf"^(?:{_STAMP}|(?:[^\[\]]* )?slurmctld(?:\[\d+\])?: (?:{_STAMP})?)"
    r"(?:\[\d+\.\w+\] )?(?:(?:error|warning|info|verbose|fatal|debug\d?|sched): +)*"
)


def line(name: str, *literals: str, rest: str, versions: str = "", note: str = "") -> Pattern:
    """Return the pattern of a line of a daemon that is known, by what follows its stamp and its level."""
    return known_line(name, literals, HEAD + rest, versions=versions, note=note)


def node_line(
    name: str, *literals: str, rest: str, columns: Mapping[str, Value], versions: str = "", note: str = ""
) -> Pattern:
    """Return the pattern of a line that tells the state of the nodes in its group ``nodes``."""
    return Pattern(
        name=name,
        table="nodes",
        columns={"host": Value("nodes", "hostlist"), **columns},
        literals=literals,
        regex=HEAD + rest,
        versions=versions,
        note=note,
    )
