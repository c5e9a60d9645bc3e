"""A bounded look at a file: its first, middle and last lines, and what labels them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import polars as pl

from pipeline.ingest.chunks import is_compressed, read_head, read_whole
from pipeline.ingest.labels import find_labels
from pipeline.ingest.lines import is_binary, join_contents, read_lines
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
        label: expression for the bare names that label its lines (`labels.py`); empty where none does.
    """

    first: pl.Series
    head: pl.Series
    middle: pl.Series
    tail: pl.Series
    binary: bool
    head_hash: str
    label: str = ""

    @property
    def lines(self) -> pl.Series:
        """All sampled lines."""
        if not len(self.middle) and not len(self.tail):
            return self.head
        return pl.concat([self.head, self.middle, self.tail])

    @property
    def all_lines(self) -> pl.Series:
        """All lines that were seen."""
        return pl.concat([self.first, self.middle, self.tail])


@dataclass(frozen=True, slots=True)
class _Cut:
    """Bytes of three places of a file, and those of its beginning."""

    first: bytes
    head: bytes
    middle: bytes = b""
    tail: bytes = b""

    @property
    def stands_alone(self) -> bool:
        """Whether its lines must be told apart alone: its end is none, or some of it is not its beginning."""
        return bool(self.middle) or self.first.endswith(b"\r") or not self.first.strip(b"\0")


def read_sample(place: Place) -> Sample:
    """Return a look at a file.

    Raises:
        OSError: the file cannot be read.
    """
    (seen,) = read_samples([place])
    if isinstance(seen, OSError):
        raise seen
    return seen


def read_samples(places: Iterable[Place]) -> list[Sample | OSError]:
    """Return looks at files, or why one cannot be read.

    The lines of all that are seen whole are told apart in one go: of very many small files that is most of
    the work.
    """
    cuts: list[_Cut | OSError] = []
    for place in places:
        try:
            cuts.append(_cut_of(place))
        except OSError as error:
            cuts.append(error)
    whole = [cut for cut in cuts if isinstance(cut, _Cut) and not cut.stands_alone]
    lines = dict(zip(map(id, whole), split_together([cut.first for cut in whole]), strict=True))
    seen = [
        cut
        if isinstance(cut, OSError)
        else _of_whole(cut, lines[id(cut)])
        if id(cut) in lines
        else _alone(cut)
        for cut in cuts
    ]
    labels = iter(label_samples([sample for sample in seen if not isinstance(sample, OSError)]))
    return [sample if isinstance(sample, OSError) else next(labels) for sample in seen]


def label_samples(samples: Sequence[Sample]) -> list[Sample]:
    """Return looks at files with what labels the lines of each."""
    labels = find_labels(lines_of([sample.all_lines for sample in samples]), len(samples))
    return [
        replace(sample, label=label) if label else sample
        for sample, label in zip(samples, labels, strict=True)
    ]


def split_together(contents: Sequence[bytes]) -> list[pl.Series]:
    """Return the lines of each of some contents, none of which ends in a carriage return."""
    joined, heights = join_contents(contents)
    lines = read_lines(joined)
    if len(lines) != sum(heights):
        return [read_lines(content) for content in contents]
    ends = np.cumsum([0, *heights])
    return [lines.slice(begin, height) for begin, height in zip(ends, heights, strict=False)]


def lines_of(parts: Sequence[pl.Series]) -> pl.DataFrame:
    """Return ``file``, the number of a part, and ``text`` of the lines of several parts."""
    files = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    nothing = pl.Series("text", [], dtype=pl.String)
    return pl.DataFrame({"file": files, "text": pl.concat([nothing, *parts], rechunk=True)})


def _cut_of(place: Place) -> _Cut:
    """Return what is read of a file."""
    whole = read_whole(place, 3 * SAMPLE_BYTES)
    if whole is not None:
        return _Cut(whole, whole)
    size = place.size
    first = read_head(place)
    if not place.sequential and size > len(first) and not is_compressed(place.read(0, 8)):
        middle = place.read(size // 2, SAMPLE_BYTES)
        tail = place.read(size - SAMPLE_BYTES, SAMPLE_BYTES)
    else:
        middle = first[len(first) // 2 :][:SAMPLE_BYTES] if len(first) > 3 * SAMPLE_BYTES else b""
        tail = first[-SAMPLE_BYTES:] if len(first) > 3 * SAMPLE_BYTES else b""
    return _Cut(first, first[:SAMPLE_BYTES] if middle else first, middle, tail)


def _alone(cut: _Cut) -> Sample:
    """Return a look by what was read of a file."""
    if not cut.middle or is_binary(cut.head):
        return _of_whole(cut, read_lines(cut.first))
    return Sample(
        read_lines(cut.first),
        read_lines(_whole_lines(cut.head, begin=True, end=False)),
        read_lines(_whole_lines(cut.middle, begin=False, end=False)),
        read_lines(_whole_lines(cut.tail, begin=False, end=True)),
        False,
        _digest(cut),
    )


def _of_whole(cut: _Cut, lines: pl.Series) -> Sample:
    """Return a look at a file of which the beginning is all, or of one that is no text."""
    nothing = lines.clear()
    if is_binary(cut.head):
        return Sample(nothing, nothing, nothing, nothing, True, _digest(cut))
    return Sample(lines, lines, nothing, nothing, False, _digest(cut))


def _digest(cut: _Cut) -> str:
    """Return the hash of the first bytes."""
    return sha256(cut.head[: SAMPLE_BYTES // 2]).hexdigest()[:32]


def _whole_lines(content: bytes, *, begin: bool, end: bool) -> bytes:
    """Return the lines of a cut that are whole; a cut inside of one long line is taken as it is."""
    first = 0 if begin else content.find(b"\n") + 1
    last = len(content) if end else content.rfind(b"\n") + 1
    return content[first:last] if last > first else content
