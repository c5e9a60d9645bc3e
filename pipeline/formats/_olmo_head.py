"""OLMo and OLMo-core: the header of their loggers, in files and on a terminal, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Value

_CLOCK = r"\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d"

#: Local time of the host when the line was printed: milliseconds in files, whole seconds on a terminal.
STAMP = Value(group=("ts", "seen"), kind="stamp", stamp="iso")


def head(loggers: str) -> str:
    """Return an expression for the header of lines of some loggers, up to the text.

    Files hold fields between tabs: time, host and local rank, logger and line, level. A terminal
    shows the level after the time, and then the others in brackets. Blanks are escaped, for both kinds of
    expression.
    """
    return (
        rf"(?:(?P<ts>{_CLOCK}[.,]\d{{3}})\t(?P<host>[^\s:]+):\d+\t(?:{loggers}):\d+\t[A-Z]+\t"
        rf"|\[(?P<seen>{_CLOCK})\]\ [A-Z]+\ +\[(?:{loggers})(?::\d+)?,\ (?P<on>[^\s,]+),\ rank=\d+\]\ )"
    )


def told(**columns: Value) -> Mapping[str, Value]:
    """Return the columns of a line, its time and the host that printed it with them."""
    return {"ts": STAMP, "host": Value(group=("host", "on")), **columns}
