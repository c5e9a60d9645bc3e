"""DeepSpeed: the header before its messages.

The file and the line number in it move with every release, so that nothing may depend on them.
"""

from __future__ import annotations

_TIME = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\]"
_LEVEL = r"\[(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\]"

#: Time, level and place of a message. Another program's unfinished line may stand before it.
HEAD = rf"{_TIME} {_LEVEL} \[\w+\.py:\d+:\w+\] "

#: The same, and the rank that messages of chosen ranks name; older and newer releases print some without it.
RANKED = rf"{HEAD}(?:\[Rank (?P<rank>-?\d+)\] )?"


def place(*files: str) -> str:
    """Return a header whose message comes from one of these files (regular expressions, without ``.py``)."""
    return rf"{_TIME} {_LEVEL} \[(?:{'|'.join(files)})\.py:\d+:\w+\] "
