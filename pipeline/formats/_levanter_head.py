"""Levanter: the header of its logger."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Value

#: `2025-06-03T04:12:10 - 0 - levanter.checkpoint - checkpoint.py:211 - INFO :: `: local time in seconds,
#: and the number of the process, of which there is one on each host.
HEAD = r"(?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) - (?P<process>\d+) - [\w.]+ - \w+\.py:\d+ - [A-Z]+ :: "


def told(**columns: Value) -> Mapping[str, Value]:
    """Return the columns of a line, its time and the process that printed it with them."""
    return {
        "ts": Value(group="ts", kind="stamp", stamp="iso"),
        "rank": Value(group="process", kind="int"),
        **columns,
    }
