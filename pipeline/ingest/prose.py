"""Records of prose → records of two texts: what is told of a whole job, and what of one time that it ran.

A record begins with a line that the format names, and ends before the next one, before a line that is drawn
of one mark, or before one that no record holds. Lines that were too long are put together again: programs
cut them at a column, in the middle of a word, and set the rest in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.formats.format import Format
from pipeline.formats.prose import Prose
from pipeline.ingest.documents import Document, Record

#: Fields of a record: all of its text, that before its first part, that of the part, whether the same member
#: has a part after it, and whether it has no part.
WHOLE, HEAD, PART, MORE, ALONE = "whole", "head", "part", "more", "alone"

#: A line that programs draw between records.
_DRAWN = re.compile(r"\s*([-=])\1{19,}\s*$")


@dataclass(slots=True)
class _Part:
    """A part of a record: of which member, where, and its lines after they were put together."""

    member: str
    first: int
    lines: list[str] = field(default_factory=list)
    more: bool = False


def read_prose(lines: Sequence[str], fmt: Format) -> Document:
    """Return the records of a text, one for each part; the lines of a record belong to its first part."""
    if fmt.prose is None:
        return Document([], 0)
    records = [
        record
        for first, last in _spans(lines, re.compile(fmt.prose.begin), re.compile(fmt.prose.inside))
        for record in _parts(lines, first, last, fmt.prose)
    ]
    return Document(records, 0)


def is_around(line: str) -> bool:
    """Return whether a line outside of records only sets them apart."""
    return not line.strip() or _DRAWN.match(line) is not None


def _spans(
    lines: Sequence[str], begin: re.Pattern[str], inside: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    """Yield first and last position of the lines of each record."""
    first = -1
    for at, line in enumerate(lines):
        head = begin.match(line) is not None
        if first >= 0 and (head or _DRAWN.match(line) or not inside.match(line)):
            yield first, at - 1
            first = -1
        if head:
            first = at
    if first >= 0:
        yield first, len(lines) - 1


def _parts(lines: Sequence[str], first: int, last: int, prose: Prose) -> Iterator[Record]:
    """Yield a record for each part of one, or one for all of it where it has none."""
    begins, member = re.compile(prose.part), re.compile(prose.member)
    head: list[str] = []
    parts: list[_Part] = []
    texts = list(_put_together(lines, first, last, prose))
    for at, text in texts:
        found = member.match(text) if prose.member else None
        of = found[1] if found else ""
        own = next((part for part in reversed(parts) if not of or part.member == of), None)
        if prose.part and begins.match(text):
            if own is not None and own.member == of:
                own.more = True
            own = _Part(of, at)
            parts.append(own)
        (head if own is None else own.lines).append(text)
    told = {WHOLE: "\n".join(text for _, text in texts), HEAD: "\n".join(head)}
    if not parts:
        yield Record(told | {ALONE: "1"}, first + 1, last + 1)
        return
    ends = [part.first - 1 for part in parts[1:]] + [last]
    for place, (part, end) in enumerate(zip(parts, ends, strict=True)):
        value = told | {PART: "\n".join(part.lines)} | ({MORE: "1"} if part.more else {})
        yield Record(value, (part.first if place else first) + 1, end + 1)


def _put_together(lines: Sequence[str], first: int, last: int, prose: Prose) -> Iterator[tuple[int, str]]:
    """Yield the lines as they were before they were cut, each with the position of its beginning."""
    rest = re.compile(prose.rest)
    begin, whole, width = first, "", 0
    for at in range(first, last + 1):
        line = lines[at].expandtabs()
        found = rest.match(line) if prose.rest and whole else None
        if found:
            # A blank at the cut is lost where ends of lines were stripped.
            whole = whole + " " * max(0, prose.width - width) + line[found.end() :]
        else:
            if at > first:
                yield begin, whole
            begin, whole = at, line
        width = len(line)
    yield begin, whole
