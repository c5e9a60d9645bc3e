"""Blocks of ``Key=Value`` → records with named fields: one record a line, or a record over several lines.

A record begins where a line begins with one of the format's first keys, and ends before an empty line or the
next beginning. A value ends where the next key begins, and may hold blanks. Texts that people choose may also
hold what looks like a key: those end only before a key that the format knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.formats.format import Format
from pipeline.ingest.documents import Document, Record

#: Programs write keys in capitals: AllocNode:Sid, NtasksPerN:B:S:C, ArrayJobId.
_KEY = re.compile(r"(?:^|[ \t\n])(?P<key>[A-Z][A-Za-z0-9_:/.-]*)=")

#: A record over more lines than this is damage, or another program's text.
MAX_BLOCK_LINES = 4096


def read_blocks(lines: Sequence[str], fmt: Format) -> Document:
    """Return the records of a text that is made of blocks. Lines outside of them belong to nothing."""
    spans = _spans(lines, fmt.elements)
    records = [
        Record(_fields("\n".join(lines[first : last + 1]), fmt), first + 1, last + 1) for first, last in spans
    ]
    return Document(records, 0)


def count_keys(lines: Sequence[str], fmt: Format) -> int:
    """Return how many of the keys that the format knows are in its first record."""
    first = next(_spans(lines, fmt.elements), None)
    if first is None:
        return 0
    found = _fields("\n".join(lines[first[0] : first[1] + 1]), fmt)
    return len(found.keys() & set(fmt.header))


def _spans(lines: Sequence[str], starts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield first and last position of the lines of each record."""
    heads = tuple(f"{key}=" for key in starts)
    begin = -1
    for at, line in enumerate(lines):
        # What was pasted may be set in as a whole.
        head = line.lstrip(" \t").startswith(heads)
        if begin >= 0 and (head or not line.strip() or at - begin >= MAX_BLOCK_LINES):
            yield begin, at - 1
            begin = -1
        if head:
            begin = at
    if begin >= 0:
        yield begin, len(lines) - 1


def _fields(text: str, fmt: Format) -> dict[str, str]:
    """Return the values of one record by key. Of a key that is there several times the first counts."""
    known, free = set(fmt.header), set(fmt.free)
    fields: dict[str, str] = {}
    key, begin, line_end = "", 0, 0
    for found in _KEY.finditer(text):
        # A line ends a text, too: what people write stands on one.
        inside = key in free and found.start("key") <= line_end
        if inside and found["key"] not in known:
            continue
        if key:
            fields.setdefault(key, text[begin : found.start()].strip())
        key, begin = found["key"], found.end()
        if key in free:
            end = text.find("\n", begin)
            line_end = end if end >= 0 else len(text)
    if key:
        fields.setdefault(key, text[begin:].strip())
    return fields
