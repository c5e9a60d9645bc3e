"""One format × one column of lines: what its patterns find, which lines they know, which are torn."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pipeline.formats.format import Format
from pipeline.ingest.delimited import read_delimited
from pipeline.ingest.extract import extract_pattern, has_literal
from pipeline.ingest.lines import build_frame
from pipeline.ingest.records import extract_fields, read_records


@dataclass(frozen=True, slots=True)
class Found:
    """What a format finds in lines.

    Attributes:
        tables: event rows by table, in line order, without ``source_id``.
        matches: columns ``line`` and ``pattern``, one row per pattern and line or segment that it matched.
        bad_lines: lines that the format claims and cannot read.
    """

    tables: dict[str, pl.DataFrame]
    matches: pl.DataFrame
    bad_lines: pl.Series


def match_format(fmt: Format, lines: pl.Series) -> Found:
    """Apply every pattern of one format to a column of raw lines, numbered from 1."""
    if fmt.shape == "lines":
        return _match_lines(fmt, build_frame(lines, 1))
    if fmt.shape == "table":
        table = read_delimited(lines, fmt)
        fields, bad = table.fields, pl.Series("line", table.bad_lines, dtype=pl.Int64)
    else:
        records = read_records(pl.DataFrame({"text": lines}).with_row_index("line", 1), fmt)
        fields, bad = records.fields.cast({"line": pl.Int64}), records.bad_lines.cast(pl.Int64)
    rows: dict[str, list[pl.DataFrame]] = {}
    matches = [pl.DataFrame(schema={"line": pl.Int64, "pattern": pl.String})]
    for pattern, found in extract_fields(fmt, fields):
        matches.append(fields[found.matched].select("line", pattern=pl.lit(pattern.name)))
        if found.rows is not None:
            rows.setdefault(found.table, []).append(found.rows)
    return Found(merge_rows(rows), pl.concat(matches).sort("line"), bad)


def _match_lines(fmt: Format, frame: pl.DataFrame) -> Found:
    """Apply every pattern of a format of lines to a frame."""
    rows: dict[str, list[pl.DataFrame]] = {}
    matches = [pl.DataFrame(schema={"line": pl.Int64, "pattern": pl.String})]
    claimed = pl.Series("claimed", [False]).new_from_index(0, frame.height)
    known = claimed.clone()
    for pattern in fmt.patterns:
        found = extract_pattern(fmt, pattern, frame)
        matches.append(frame[found.matched].select("line", pattern=pl.lit(pattern.name)))
        if found.rows is not None:
            rows.setdefault(found.table, []).append(found.rows)
        if pattern.unique:
            claimed |= has_literal(frame["text"], pattern)
        known = known.scatter(found.matched, True)
    torn = frame["line"].filter(claimed & ~known).unique().sort()
    return Found(merge_rows(rows), pl.concat(matches).sort("line"), torn)


def merge_rows(rows: dict[str, list[pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """Return one frame per table with its rows in line order; patterns keep their order within a line."""
    return {
        table: pl.concat(frames).sort("line", "segment", maintain_order=True)
        for table, frames in sorted(rows.items())
    }
