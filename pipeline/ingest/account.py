"""The account of lines: what each of them is, chunk by chunk, and what is known of a source in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import accumulate
from typing import Any

import polars as pl

from pipeline.ingest.chunks import Chunk, chunk_digest, content_hash
from pipeline.ingest.scan import Scan
from pipeline.ingest.secrets import mask_rows
from pipeline.ingest.templates import count_templates, mask_lines, take_sample

#: States of a line; of a line that was cut into pieces the greatest counts.
UNKNOWN_LINE, TORN_LINE, KNOWN_LINE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk with its bytes and lines."""

    chunk: Chunk
    content: bytes
    lines: pl.Series

    @property
    def height(self) -> int:
        """Physical lines or pieces of lines: at least one where there are bytes, be they NULs."""
        return max(len(self.lines), 1) if self.content else 0


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """What one chunk holds; lines are numbered from 1 within it.

    Attributes:
        digest, bytes, lines: hash and length of its bytes, and its lines or pieces of lines.
        inside: True where its first line is the continuation of the last one of the chunk before.
        counts: lines that are unknown, torn and known.
        first, last: states of the first and last line.
    """

    index: int
    inside: bool
    digest: bytes
    bytes: int
    lines: int
    tables: dict[str, pl.DataFrame]
    counts: tuple[int, int, int]
    first: int
    last: int
    templates: pl.DataFrame

    def __reduce__(self) -> tuple[Callable[..., ChunkResult], tuple[Any, ...]]:
        """Return what another process sends: columns of one value, which most are, by that alone."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        tables = values.pop("tables")
        return _received, ({table: _packed(rows) for table, rows in tables.items()}, values)


#: Rows of a table as they are sent: their number, a row of all columns, and those of more than one value.
_Packed = tuple[int, pl.DataFrame, pl.DataFrame]


def _packed(rows: pl.DataFrame) -> _Packed:
    """Return rows as they are sent."""
    one = rows.head(1)
    return rows.height, one, rows.select(col for col in rows if col.ne_missing(one[col.name]).any())


def _received(sent: Mapping[str, _Packed], values: Mapping[str, Any]) -> ChunkResult:
    """Return the result of a chunk that another process sent."""
    tables = {
        table: one.select(_filled(col, several, height) for col in one)
        for table, (height, one, several) in sent.items()
    }
    return ChunkResult(tables=tables, **values)


def _filled(column: pl.Series, several: pl.DataFrame, height: int) -> pl.Series:
    """Return a column of the first row of a table as it was."""
    if column.name in several.columns:
        return several[column.name]
    return column.new_from_index(0, height) if height > 1 else column


@dataclass(slots=True)
class Account:
    """What is known of a source when all of its chunks have been taken."""

    digests: list[bytes] = field(default_factory=list)
    content_bytes: int = 0
    lines: int = 0
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    dated: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    error: str = ""

    @property
    def content_hash(self) -> str:
        """Hash of the decompressed bytes."""
        return content_hash(self.digests)

    def span(self) -> tuple[datetime | None, datetime | None]:
        """Return the earliest and latest time printed, of the best kind of stamps that the file has."""
        for qualities in (("logged", "zone_assumed"), ("year_assumed",)):
            spans = [self.dated[quality] for quality in qualities if quality in self.dated]
            if spans:
                return min(first for first, _ in spans), max(last for _, last in spans)
        return None, None


def known_chunk(chunk: Chunk, content: bytes) -> ChunkResult:
    """Return the result of a chunk of which all lines are known, and whose rows come from elsewhere."""
    height = content.count(b"\n") + (not content.endswith(b"\n"))
    nothing = count_templates(mask_lines(pl.DataFrame(schema={"line": pl.Int64, "text": pl.String}), ""))
    return ChunkResult(
        chunk.index,
        chunk.inside,
        chunk_digest(content),
        len(content),
        height,
        {},
        (0, 0, height),
        KNOWN_LINE,
        KNOWN_LINE,
        nothing,
    )


def split_scan(scan: Scan, pieces: Sequence[Piece], label: str) -> Iterator[ChunkResult]:
    """Yield the results of the chunks whose lines, one behind the other, a scan was made of.

    ``label`` matches the label that the lines bear, and is empty where they bear none.
    """
    tables = {table: mask_rows(table, rows) for table, rows in scan.tables.items()}
    ends = list(accumulate(len(piece.lines) for piece in pieces))
    states = pl.Series("state", [UNKNOWN_LINE], dtype=pl.Int8).new_from_index(0, ends[-1])
    states = states.scatter(scan.torn - 1, TORN_LINE).scatter(scan.known - 1, KNOWN_LINE)
    samples = []
    for piece, end in zip(pieces, ends, strict=True):
        start = end - len(piece.lines)
        numbers = pl.int_range(start + 1, end + 1, dtype=pl.Int64, eager=True)
        lines = pl.DataFrame({"line": numbers, "text": piece.lines})
        unknown = lines.filter(states.slice(start, len(piece.lines)) == UNKNOWN_LINE)
        samples.append(take_sample(unknown, first=piece.chunk.index == 0))
    shapes = mask_lines(pl.concat(samples, rechunk=True), label)
    for piece, end in zip(pieces, ends, strict=True):
        start = end - len(piece.lines)
        own = states.slice(start, len(piece.lines))
        torn, known = (int((own == state).sum()) for state in (TORN_LINE, KNOWN_LINE))
        yield ChunkResult(
            piece.chunk.index,
            piece.chunk.inside,
            chunk_digest(piece.content),
            len(piece.content),
            piece.height,
            {
                table: shift_lines(rows.slice(*_between(rows["line"], start, end)), -start)
                for table, rows in tables.items()
            },
            (piece.height - torn - known, torn, known),
            int(own[0]) if len(own) else UNKNOWN_LINE,
            int(own[-1]) if len(own) else UNKNOWN_LINE,
            count_templates(
                shapes.slice(*_between(shapes["example_line"], start, end)).with_columns(
                    pl.col("example_line") - start
                )
            ),
        )


def _between(lines: pl.Series, start: int, end: int) -> tuple[int, int]:
    """Return offset and length of the sorted line numbers after ``start`` and up to ``end``."""
    first = int(lines.search_sorted(start, side="right"))
    return first, int(lines.search_sorted(end, side="right")) - first


def shift_lines(rows: pl.DataFrame, offset: int) -> pl.DataFrame:
    """Return rows with an offset added to their line numbers."""
    if not offset:
        return rows
    return rows.with_columns(pl.col(name) + offset for name in ("line", "last_line") if name in rows.columns)
