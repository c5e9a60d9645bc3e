"""A bounded look at a file: its first, middle and last lines, before anything is decided about it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import polars as pl

from pipeline.ingest.chunks import is_compressed, read_head
from pipeline.ingest.lines import is_binary, read_lines
from pipeline.places import Place

#: Bytes that are looked at in each of three places.
SAMPLE_BYTES = 48 << 10


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen of a file.

    Attributes:
        head, middle, tail: whole lines of three places; of a small or compressed file there is only a head.
        first: all lines of its first megabytes, of a small file all of it.
        binary: True where the file is no text.
        head_hash: hash of the first bytes; files with the same content have the same.
    """

    first: pl.Series
    head: pl.Series
    middle: pl.Series
    tail: pl.Series
    binary: bool
    head_hash: str

    @property
    def lines(self) -> pl.Series:
        """All sampled lines."""
        if not len(self.middle) and not len(self.tail):
            return self.head
        return pl.concat([self.head, self.middle, self.tail])


def read_sample(place: Place) -> Sample:
    """Return a look at a file.

    Raises:
        OSError: the file cannot be read.
    """
    size = place.size
    first = read_head(place)
    if not place.sequential and not is_compressed(place.read(0, 8)) and size > len(first):
        middle = place.read(size // 2, SAMPLE_BYTES)
        tail = place.read(size - SAMPLE_BYTES, SAMPLE_BYTES)
    else:
        middle = first[len(first) // 2 :][:SAMPLE_BYTES] if len(first) > 3 * SAMPLE_BYTES else b""
        tail = first[-SAMPLE_BYTES:] if len(first) > 3 * SAMPLE_BYTES else b""
    head = first[:SAMPLE_BYTES] if middle else first
    digest = sha256(head[: SAMPLE_BYTES // 2]).hexdigest()[:32]
    if is_binary(head):
        nothing = read_lines(b"")
        return Sample(nothing, nothing, nothing, nothing, True, digest)
    if not middle:
        lines, nothing = read_lines(first), read_lines(b"")
        return Sample(lines, lines, nothing, nothing, False, digest)
    return Sample(
        read_lines(first),
        read_lines(_whole_lines(head, begin=True, end=False)),
        read_lines(_whole_lines(middle, begin=False, end=False)),
        read_lines(_whole_lines(tail, begin=False, end=True)),
        False,
        digest,
    )


def _whole_lines(content: bytes, *, begin: bool, end: bool) -> bytes:
    """Return the lines of a cut that are whole; a cut inside of one long line is taken as it is."""
    first = 0 if begin else content.find(b"\n") + 1
    last = len(content) if end else content.rfind(b"\n") + 1
    return content[first:last] if last > first else content
