"""One format × one column of lines: what its patterns find, which lines they know, which are torn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.formats import fields_of
from pipeline.formats.format import TABULAR, Format
from pipeline.ingest.blocks import read_blocks
from pipeline.ingest.csv_tables import find_csv_header, read_csv
from pipeline.ingest.delimited import Header, find_header, read_delimited
from pipeline.ingest.derive import derived_fields
from pipeline.ingest.documents import Record, read_documents
from pipeline.ingest.extract import extract_pattern, has_literal, merge_rows
from pipeline.ingest.fields import build_fields, unwrapped
from pipeline.ingest.lines import build_frame
from pipeline.ingest.prose import is_around, read_prose
from pipeline.ingest.records import extract_fields, read_records
from pipeline.ingest.traces import iter_text, trace_document

#: Shapes of files that only make sense as a whole.
WHOLE = ("document", "blocks", "prose", "trace")

#: How a record of JSON begins on a line; a dictionary that Python printed has other quotes.
RECORD_BEGINS = r'^\s*\{\s*["}]'

_MATCHES = {"line": pl.Int64, "pattern": pl.String}
_AROUND = {"line": pl.Int64, "text": pl.String}


@dataclass(frozen=True, slots=True)
class Found:
    """What a format finds in lines.

    Attributes:
        tables: event rows by table, in line order, without ``source_id``.
        matches: columns ``line`` and ``pattern``, one row per pattern and line or segment that it matched.
        known: numbers of the lines whose meaning is known: matched ones, headers, further lines of a record.
        torn: numbers of the lines that the format claims and cannot read.
    """

    tables: dict[str, pl.DataFrame]
    matches: pl.DataFrame
    known: pl.Series
    torn: pl.Series


def match_format(fmt: Format, lines: pl.Series, label: str = "") -> Found:
    """Apply every pattern of one format to a column of raw lines, numbered from 1.

    ``label`` matches the bare names that label them (`labels.py`), and is empty where none does.
    """
    if fmt.shape != "lines":
        return match_fields(fmt, lines)
    return _match_lines(fmt, build_frame(lines, 1, label))


def table_header(fmt: Format, lines: pl.Series) -> Header | None:
    """Return the header of a table that the first lines of a file hold, or None."""
    if fmt.shape == "table":
        return find_header(lines, fmt)
    found = find_csv_header(lines, fmt)
    return found[1] if found is not None else None


def match_fields(fmt: Format, lines: pl.Series, header: Header | None = None) -> Found:
    """Apply a format of records, tables, documents or blocks to a column of raw lines, numbered from 1.

    ``header`` serves a part of a table that begins without one.
    """
    if fmt.shape == "prose":
        return _match_prose(fmt, lines)
    if fmt.shape in WHOLE:
        return _match_document(fmt, lines)
    also_known: list[int] = []
    if fmt.shape in TABULAR:
        table = (read_delimited if fmt.shape == "table" else read_csv)(lines, fmt, header)
        fields, torn = table.fields, pl.Series("line", table.bad_lines, dtype=pl.Int64)
        also_known += table.header_lines
        for first, last in (
            fields.filter(pl.col("last_line") > pl.col("line")).select("line", "last_line").rows()
        ):
            also_known += range(first + 1, last + 1)
    else:
        records = read_records(_numbered(lines), fmt)
        fields, torn = records.fields, records.bad_lines
    rows: dict[str, list[pl.DataFrame]] = {}
    matches = [pl.DataFrame(schema=_MATCHES)]
    for pattern, found in extract_fields(fmt, fmt.patterns, fields):
        matches.append(fields.select("line")[found.matched].with_columns(pattern=pl.lit(pattern.name)))
        if found.rows is not None:
            rows.setdefault(found.table, []).append(found.rows)
    matched = pl.concat(matches).sort("line")
    known = pl.concat([matched["line"], pl.Series("line", also_known, dtype=pl.Int64)]).unique().sort()
    return Found(merge_rows(rows), matched, known, torn.filter(~torn.is_in(known.implode())))


def _match_document(fmt: Format, lines: pl.Series) -> Found:
    """Apply the patterns of a format of documents or blocks.

    What is around the records of a document is known with them; around blocks only empty lines are.
    """
    texts = lines.fill_null("").to_list()
    blocks = fmt.shape == "blocks"
    if fmt.shape == "trace":
        read = trace_document(iter_text(texts), lambda: len(texts))
    else:
        read = read_blocks(texts, fmt) if blocks else read_documents(texts, fmt.elements)
    rows, matched, touched = match_records(fmt, read.records)
    spans = pl.DataFrame(sorted(touched), schema={"first": pl.Int64, "last": pl.Int64}, orient="row")
    # A record that no pattern knows is unknown; brackets and keys around records are not.
    foreign = {
        line
        for record in read.records
        if (record.first, record.last) not in touched
        for line in range(record.first, record.last + 1)
    }
    known = {line for first, last in spans.iter_rows() for line in range(first, last + 1)}
    end = read.broken - 1 if read.broken else len(lines)
    if known and blocks:
        known |= {line for line, text in enumerate(texts, start=1) if not text.strip()}
    elif known:
        known |= set(range(1, end + 1)) - foreign
    torn = range(read.broken, len(lines) + 1) if read.broken else range(0)
    return Found(
        rows,
        matched,
        pl.Series("line", sorted(known), dtype=pl.Int64),
        pl.Series("line", [line for line in torn if line not in known], dtype=pl.Int64),
    )


def _match_prose(fmt: Format, lines: pl.Series) -> Found:
    """Apply the patterns of a format of prose: to records, and those without a table to lines around them."""
    texts = lines.fill_null("").to_list()
    read = read_prose(texts, fmt)
    rows, matched, touched = match_records(fmt, read.records)
    known = {line for first, last in touched for line in range(first, last + 1)}
    inside = {line for record in read.records for line in range(record.first, record.last + 1)}
    outside = [line for line in range(1, len(texts) + 1) if line not in inside]
    around = pl.DataFrame({"line": outside, "text": [texts[line - 1] for line in outside]}, schema=_AROUND)
    found = [
        around.filter(pl.col("text").str.contains(pattern.regex)).select("line", pattern=pl.lit(pattern.name))
        for pattern in fmt.patterns
        if pattern.regex
    ]
    matched = pl.concat([matched, *found]).sort("line")
    known |= set(matched["line"])
    if known:
        known |= {line for line in outside if is_around(texts[line - 1])}
    return Found(
        rows, matched, pl.Series("line", sorted(known), dtype=pl.Int64), pl.Series("line", [], dtype=pl.Int64)
    )


def match_records(
    fmt: Format, read: Sequence[Record]
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame, set[tuple[int, int]]]:
    """Return event rows by table, what matched (``line``, ``pattern``), and the lines of matched records."""
    records = [unwrapped(record, fmt.unwrap) for record in read]
    rows: dict[str, list[pl.DataFrame]] = {}
    matches = [pl.DataFrame(schema=_MATCHES)]
    touched: set[tuple[int, int]] = set()
    told = [pattern for pattern in fmt.patterns if not pattern.regex]
    for each in dict.fromkeys(pattern.each for pattern in told):
        patterns = [pattern for pattern in told if pattern.each == each]
        fields = build_fields(records, fields_of(fmt, patterns), each).with_columns(derived_fields(fmt))
        for pattern, found in extract_fields(fmt, patterns, fields):
            hit = fields[found.matched]
            matches.append(hit.select("line", pattern=pl.lit(pattern.name)))
            touched.update(hit.select("line", "last_line").rows())
            if found.rows is not None:
                rows.setdefault(found.table, []).append(found.rows)
    return merge_rows(rows), pl.concat(matches).sort("line"), touched


def _match_lines(fmt: Format, frame: pl.DataFrame) -> Found:
    """Apply every pattern of a format of lines to a frame."""
    rows: dict[str, list[pl.DataFrame]] = {}
    matches = [pl.DataFrame(schema=_MATCHES)]
    claimed = pl.Series("claimed", [False]).new_from_index(0, frame.height)
    for pattern in fmt.patterns:
        found = extract_pattern(fmt, pattern, frame)
        matches.append(frame[found.matched].select("line", pattern=pl.lit(pattern.name)))
        if found.rows is not None:
            rows.setdefault(found.table, []).append(found.rows)
        if pattern.unique:
            claimed |= has_literal(frame["text"], pattern)
    matched = pl.concat(matches).sort("line")
    known = matched["line"].unique().sort()
    torn = frame["line"].filter(claimed).unique().sort()
    return Found(merge_rows(rows), matched, known, torn.filter(~torn.is_in(known.implode())))


def _numbered(lines: pl.Series) -> pl.DataFrame:
    """Return lines with their numbers from 1."""
    return pl.DataFrame({"text": lines}).with_row_index("line", 1).cast({"line": pl.Int64})
