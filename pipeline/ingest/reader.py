"""One source → event rows, chunk by chunk, and an account of every one of its lines."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Protocol

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import TABULAR
from pipeline.ingest.account import (
    KNOWN_LINE,
    TORN_LINE,
    UNKNOWN_LINE,
    Account,
    ChunkResult,
    Piece,
    known_chunk,
    shift_lines,
    split_scan,
)
from pipeline.ingest.chunks import BrokenSourceError, Chunk, chunk_digest, read_chunks, read_head
from pipeline.ingest.delimited import Header
from pipeline.ingest.detect import BINARY
from pipeline.ingest.limits import bound_rows
from pipeline.ingest.lines import BOM, controls_of, is_unended, read_lines
from pipeline.ingest.match import WHOLE, match_records, table_header
from pipeline.ingest.rules import rules_for
from pipeline.ingest.scan import Scan, Scanner
from pipeline.ingest.scan_fields import scan_fields
from pipeline.ingest.secrets import mask_rows
from pipeline.ingest.shapes import MIN_BYTES
from pipeline.ingest.signals import fold_signals, limit_signals, load_signals
from pipeline.ingest.telemetry import Thinner
from pipeline.ingest.templates import MAX_TEMPLATES, merge_templates
from pipeline.ingest.traces import trace_document
from pipeline.ingest.unended import settle_unended
from pipeline.ingest.work import run_here
from pipeline.places import Place

#: A document is read as a whole, in a few times the memory of its bytes.
MAX_DOCUMENT_BYTES = 1 << 30

#: Rows of one signal in one file that are kept one by one.
MAX_SIGNALS = 1000


class Submit(Protocol):
    """Runs a function on each item, possibly elsewhere, and yields the results in order."""

    def __call__(
        self, function: Callable[[Chunk], ChunkResult], items: Iterator[Chunk]
    ) -> Iterator[ChunkResult]:
        """Yield the results."""


class ChunkReader:
    """Reads the chunks of sources of one kind, in any order and in any process.

    What it learns of their lines makes it faster and changes nothing, so that a process keeps it.
    """

    def __init__(self, fmt: str, shape: str, label: str, header: Header | None) -> None:
        self._told = fmt, shape, label, header
        self._format, self._label, self._header = fmt, label, header
        self._scanner = Scanner(rules_for(fmt), label) if shape == "lines" else None

    def __reduce__(self) -> tuple[Callable[..., ChunkReader], tuple[str, str, str, Header | None]]:
        return kept_reader, self._told

    def read(self, chunk: Chunk) -> ChunkResult:
        """Return what one chunk holds; may run in any thread."""
        content = chunk.load()
        controls = controls_of(content)
        lines = read_lines(content, controls)
        if self._scanner is not None:
            plain = None if controls or content.startswith(BOM) else content
            scan = self._scanner.scan(lines, several=b"\r" in controls, plain=plain)
            scan = settle_unended(scan, [len(lines)] if is_unended(content) else [])
        elif self._format == BINARY:
            scan = Scan({}, pl.Series("line", [], dtype=pl.Int64), pl.Series("line", [], dtype=pl.Int64))
        else:
            scan = scan_fields(registry()[self._format], lines, self._header, self._label)
        return next(split_scan(scan, [Piece(chunk, content, lines)], self._label))


@lru_cache(maxsize=8)
def kept_reader(fmt: str, shape: str, label: str, header: Header | None) -> ChunkReader:
    """Return the reader of sources of a format and its shape that have one label or one header."""
    return ChunkReader(fmt, shape, label, header)


def load() -> None:
    """Load what reading chunks needs, in a process that has nothing to read yet."""
    # Arrays are laid out by one, and polars loads the other with the first of them.
    from numpy import ma  # noqa: F401

    from pipeline.ingest import layout  # noqa: F401

    registry()
    load_signals()


class SourceReader:
    """Reads one source; iterate over its rows, then look at `account`.

    ``label`` matches the bare names that label its lines (`labels.py`), and is empty where none does.
    """

    def __init__(self, place: Place, fmt: str, label: str = "") -> None:
        self.place, self.format, self.label = place, fmt, label
        self.account = Account()
        self.shape = "binary" if fmt == BINARY else getattr(registry().get(fmt), "shape", "lines")
        header = self._find_header() if self.shape in TABULAR else None
        self._chunk_reader = kept_reader(fmt, self.shape, label, header)
        self._signals: dict[str, int] = {}
        self._thinner = Thinner()
        self._folded: pl.DataFrame | None = None
        self._templates: pl.DataFrame | None = None
        self._last = UNKNOWN_LINE

    def rows(self, submit: Submit) -> Iterator[dict[str, pl.DataFrame]]:
        """Yield the event rows of the source by table, chunk by chunk and at last what needs the whole file.

        Rows have no ``source_id``. What stops the file from being read is in ``account.error``.
        """
        if self.shape == "trace":
            return self._rows_of_trace()
        if self.shape in WHOLE:
            return self._rows_of_document()
        return self.rows_of(submit(self._chunk_reader.read, self.chunks()))

    def rows_of(self, results: Iterable[ChunkResult]) -> Iterator[dict[str, pl.DataFrame]]:
        """Yield the event rows of chunks that were read, and at last what needs the whole file."""
        for result in results:
            yield self._take(result)
        closing: dict[str, pl.DataFrame] = {}
        if self._folded is not None:
            closing["signals"] = self._folded
        if self._templates is not None and self._templates.height:
            closing["templates"] = self._templates.head(MAX_TEMPLATES)
        yield closing

    def _rows_of_document(self) -> Iterator[dict[str, pl.DataFrame]]:
        """Yield the event rows of a file that only makes sense as a whole."""
        contents: list[bytes] = []
        for chunk in self.chunks():
            contents.append(chunk.load())
            if sum(map(len, contents)) > MAX_DOCUMENT_BYTES:
                self.account.error = f"a document of more than {MAX_DOCUMENT_BYTES >> 20} MB; split it"
                break
        digests = [chunk_digest(content) for content in contents]
        content = b"".join(contents)
        whole = Chunk(0, lambda: content)
        yield from self.rows_of([self._chunk_reader.read(whole)] if content else [])
        self.account.digests = digests

    def _rows_of_trace(self) -> Iterator[dict[str, pl.DataFrame]]:
        """Yield the event rows of a trace, which is read once and never lies in memory as a whole."""

        def blocks() -> Iterator[bytes]:
            for chunk in self.chunks():
                content = chunk.load()
                self._take(known_chunk(chunk, content))
                yield content

        document = trace_document(blocks(), lambda: self.account.lines)
        if document.broken or not document.records:
            # What cannot be read is no trace: without records none of it is known.
            lost = 1 if document.records else self.account.lines
            state = TORN_LINE if document.records else UNKNOWN_LINE
            self.account.counts[KNOWN_LINE] -= lost
            self.account.counts[state] += lost
        tables, _, _ = match_records(registry()[self.format], document.records)
        for rows in tables.values():
            self._take_times(rows)
        yield {table: mask_rows(table, rows) for table, rows in tables.items()}

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of the file; a broken one ends it."""
        try:
            yield from read_chunks(self.place)
        except BrokenSourceError as error:
            self.account.error = str(error)

    def _find_header(self) -> Header | None:
        """Return the header of a table, which its later chunks need."""
        return table_header(registry()[self.format], read_lines(read_head(self.place)))

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
        tables = {table: shift_lines(bound_rows(rows), offset) for table, rows in result.tables.items()}
        if "telemetry" in tables:
            tables["telemetry"] = self._thinner.thin(tables["telemetry"])
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


def read_together(readers: Sequence[SourceReader]) -> Iterator[Iterator[dict[str, pl.DataFrame]]]:
    """Yield for each reader its rows, in order; what follows is only done as each is used up.

    Small files of lines with the same rules and label are scanned as one: asking costs more than reading
    them. A file that turns out to be larger is read by itself, with what the shapes of its lines tell.
    """
    pieces: list[Piece] = []
    single: dict[int, int] = {}
    for at, reader in enumerate(readers):
        if reader.shape != "lines" or reader.place.size >= MIN_BYTES:
            continue
        chunks = list(islice(reader.chunks(), 2))
        content = chunks[0].load() if len(chunks) == 1 else b""
        if 0 < len(content) < MIN_BYTES:
            single[at] = len(pieces)
            pieces.append(Piece(chunks[0], content, read_lines(content)))
    results: list[ChunkResult] = []
    if pieces:
        lines = pl.concat((piece.lines for piece in pieces), rechunk=True)
        first = readers[0]
        scan = Scanner(rules_for(first.format), first.label, one_file=len(pieces) == 1).scan(lines)
        ends = list(accumulate(len(piece.lines) for piece in pieces))
        unended = [end for end, piece in zip(ends, pieces, strict=True) if is_unended(piece.content)]
        results = list(split_scan(settle_unended(scan, unended), pieces, first.label))
        # What another format prints into one file is found where that is read by itself.
        guests = {bisect_left(ends, line) for line in scan.proving} if scan.proving is not None else set()
        single = {at: number for at, number in single.items() if number not in guests}
    for at, reader in enumerate(readers):
        yield reader.rows_of([results[single[at]]]) if at in single else reader.rows(run_here)
