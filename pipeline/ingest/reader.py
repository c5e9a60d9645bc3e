"""One source → event rows, chunk by chunk, and an account of every one of its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

import polars as pl

from pipeline.formats import registry
from pipeline.ingest.chunks import (
    BrokenSourceError,
    Chunk,
    chunk_digest,
    content_hash,
    read_chunks,
    read_head,
)
from pipeline.ingest.delimited import Header, find_header
from pipeline.ingest.detect import BINARY
from pipeline.ingest.lines import read_lines
from pipeline.ingest.match import match_fields
from pipeline.ingest.rules import rules_for
from pipeline.ingest.scan import Scanner
from pipeline.ingest.secrets import mask_rows
from pipeline.ingest.signals import fold_signals, limit_signals
from pipeline.ingest.templates import MAX_TEMPLATES, build_templates, merge_templates, take_sample

#: Rows of one signal in one file that are kept one by one.
MAX_SIGNALS = 1000

#: States of a line; of a line that was cut into pieces the greatest counts.
UNKNOWN_LINE, TORN_LINE, KNOWN_LINE = 0, 1, 2


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


class Submit(Protocol):
    """Runs a function on each item, possibly elsewhere, and yields the results in order."""

    def __call__(
        self, function: Callable[[Chunk], ChunkResult], items: Iterator[Chunk]
    ) -> Iterator[ChunkResult]:
        """Yield the results."""


class SourceReader:
    """Reads one source; iterate over `rows`, then look at `account`."""

    def __init__(self, path: Path, fmt: str) -> None:
        self.path, self.format = path, fmt
        self.account = Account()
        self._shape = "binary" if fmt == BINARY else getattr(registry().get(fmt), "shape", "lines")
        self._header = self._find_header() if self._shape == "table" else None
        self._scanner = Scanner(rules_for(fmt)) if self._shape == "lines" else None
        self._signals: dict[str, int] = {}
        self._folded: pl.DataFrame | None = None
        self._templates: pl.DataFrame | None = None
        self._last = UNKNOWN_LINE

    def rows(self, submit: Submit) -> Iterator[dict[str, pl.DataFrame]]:
        """Yield the event rows of the source by table, chunk by chunk and at last what needs the whole file.

        Rows have no ``source_id``. What stops the file from being read is in ``account.error``.
        """
        for result in submit(self._read_chunk, self._chunks()):
            yield self._take(result)
        closing: dict[str, pl.DataFrame] = {}
        if self._folded is not None:
            closing["signals"] = mask_rows("signals", self._folded)
        if self._templates is not None and self._templates.height:
            closing["templates"] = mask_rows("templates", self._templates.head(MAX_TEMPLATES))
        yield closing

    def _find_header(self) -> Header | None:
        """Return the header of a table, which its later chunks need."""
        return find_header(read_lines(read_head(self.path)), registry()[self.format])

    def _chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of the file; a broken one ends it."""
        try:
            yield from read_chunks(self.path)
        except BrokenSourceError as error:
            self.account.error = str(error)

    def _read_chunk(self, chunk: Chunk) -> ChunkResult:
        """Return what one chunk holds; runs in any thread and knows no other chunk."""
        content = chunk.load()
        digest = chunk_digest(content)
        lines = read_lines(content)
        height = max(len(lines), 1) if content else 0
        if self._scanner is None:
            tables, known, torn = self._match_fields(lines)
        else:
            scan = self._scanner.scan(lines)
            tables, known, torn = scan.tables, scan.known, scan.torn
        states = pl.Series("state", [UNKNOWN_LINE], dtype=pl.Int8).new_from_index(0, height)
        states = states.scatter(torn - 1, TORN_LINE).scatter(known - 1, KNOWN_LINE)
        numbered = pl.DataFrame({"text": lines}).with_row_index("line", 1).cast({"line": pl.Int64})
        unknown = numbered.filter(states.head(len(lines)) == UNKNOWN_LINE)
        counts = tuple(int((states == state).sum()) for state in (UNKNOWN_LINE, TORN_LINE, KNOWN_LINE))
        return ChunkResult(
            chunk.index,
            chunk.inside,
            digest,
            len(content),
            height,
            {table: mask_rows(table, rows) for table, rows in tables.items()},
            (counts[0], counts[1], counts[2]),
            int(states[0]) if height else UNKNOWN_LINE,
            int(states[-1]) if height else UNKNOWN_LINE,
            build_templates(take_sample(unknown, first=chunk.index == 0)),
        )

    def _match_fields(self, lines: pl.Series) -> tuple[dict[str, pl.DataFrame], pl.Series, pl.Series]:
        """Return rows, known and torn lines of records or a table; a binary file holds nothing."""
        if self.format == BINARY:
            nothing = pl.Series("line", [], dtype=pl.Int64)
            return {}, nothing, nothing
        found = match_fields(registry()[self.format], lines, self._header)
        return found.tables, found.known, found.torn

    def _take(self, result: ChunkResult) -> dict[str, pl.DataFrame]:
        """Bring a chunk into account, and return its rows with the line numbers of the file."""
        account = self.account
        account.digests.append(result.digest)
        account.content_bytes += result.bytes
        offset = account.lines - result.inside
        account.lines += result.lines - result.inside
        for state, count in enumerate(result.counts):
            account.counts[state] += count
        if result.inside and result.lines:
            # Two pieces of one line: it has one state.
            account.counts[min(self._last, result.first)] -= 1
        self._last = max(self._last, result.first) if result.inside and result.lines == 1 else result.last
        tables = {table: _shift(rows, offset) for table, rows in result.tables.items()}
        for rows in tables.values():
            self._take_times(rows)
        if "signals" in tables:
            tables["signals"], beyond = limit_signals(tables["signals"], self._signals, MAX_SIGNALS)
            self._folded = fold_signals([rows for rows in (self._folded, beyond) if rows is not None])
        shapes = result.templates.with_columns(pl.col("example_line") + offset)
        self._templates = merge_templates(self._templates, shapes)
        return tables

    def _take_times(self, rows: pl.DataFrame) -> None:
        """Widen the spans of printed times by those of some rows."""
        spans = rows.filter(pl.col("ts").is_not_null()).group_by("ts_quality")
        for quality, first, last in spans.agg(first=pl.col("ts").min(), last=pl.col("ts").max()).iter_rows():
            old = self.account.dated.get(quality, (first, last))
            self.account.dated[quality] = (min(first, old[0]), max(last, old[1]))


def _shift(rows: pl.DataFrame, offset: int) -> pl.DataFrame:
    """Return rows whose line numbers count from the start of the file."""
    if not offset:
        return rows
    return rows.with_columns(pl.col(name) + offset for name in ("line", "last_line") if name in rows.columns)
