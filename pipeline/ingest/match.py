"""One format × one column of lines: what its patterns find, which lines they know, which are torn."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pipeline.formats.format import Format
from pipeline.ingest.delimited import Header, read_delimited
from pipeline.ingest.extract import extract_pattern, has_literal, merge_rows
from pipeline.ingest.lines import build_frame
from pipeline.ingest.records import extract_fields, read_records

_MATCHES = {"line": pl.Int64, "pattern": pl.String}


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


def match_format(fmt: Format, lines: pl.Series) -> Found:
    """Apply every pattern of one format to a column of raw lines, numbered from 1."""
    return _match_lines(fmt, build_frame(lines, 1)) if fmt.shape == "lines" else match_fields(fmt, lines)


def match_fields(fmt: Format, lines: pl.Series, header: Header | None = None) -> Found:
    """Apply a format of records or tables to a column of raw lines, numbered from 1.

    ``header`` serves a part of a table that begins without one.
    """
    also_known: list[int] = []
    if fmt.shape == "table":
        table = read_delimited(lines, fmt, header)
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
    for pattern, found in extract_fields(fmt, fields):
        matches.append(fields[found.matched].select("line", pattern=pl.lit(pattern.name)))
        if found.rows is not None:
            rows.setdefault(found.table, []).append(found.rows)
    matched = pl.concat(matches).sort("line")
    known = pl.concat([matched["line"], pl.Series("line", also_known, dtype=pl.Int64)]).unique().sort()
    return Found(merge_rows(rows), matched, known, torn.filter(~torn.is_in(known.implode())))


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
