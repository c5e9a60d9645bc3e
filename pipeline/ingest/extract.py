"""One pattern × a column of lines → rows of an event table. No line is looked at by Python, and none twice.

A frame of lines has the columns ``line, segment, text, rank, task, host, stamp, uncaught`` (`peel.py`), and
once its heads were read also ``ts_raw, ts, ts_quality``. Rows have those columns of `pipeline/tables.py` that
are filled; `merge_rows` brings the rows of a table together and adds the others, except ``source_id``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import polars as pl

from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest.bars import Labels
from pipeline.ingest.clock import read_head_hosts, read_head_stamps, read_stamps
from pipeline.ingest.regexes import to_ascii
from pipeline.ingest.search import search_fields
from pipeline.ingest.values import HOST_LISTS, POLARS_TYPES, read_value, text_of
from pipeline.tables import EVENT_TABLES

#: Columns that the caller or the engine fills for every row, and how they are named in a frame of lines.
_CARRIED = ("line", "segment")

#: What precedes the name of a column that is filled from between bars, to keep it apart from groups.
_BAR = "|"


#: A field that holds the times of ISO stamps without an offset, where these were read as they were cut.
READ_TIME = "@ts"


@dataclass(frozen=True, slots=True)
class Rows:
    """What one pattern found.

    Attributes:
        matched: positions of the rows of the frame that the pattern matched.
        table: event table of ``rows``; empty where the pattern carries nothing.
        rows: the event rows, or None.
    """

    matched: pl.Series
    table: str
    rows: pl.DataFrame | None


@cache
def table_types(table: str) -> dict[str, pl.DataType]:
    """Return the columns of an event table with their polars types, in order, without ``source_id``."""
    columns = EVENT_TABLES[table].columns
    return {column.name: POLARS_TYPES[column.type] for column in columns if column.name != "source_id"}


def has_literal(text: pl.Series, pattern: Pattern) -> pl.Series:
    """Return which lines hold one of the literals of a pattern."""
    first, *others = pattern.literals
    found = text.str.contains(first, literal=True)
    for literal in others:
        found |= text.str.contains(literal, literal=True)
    return found


def extract_pattern(fmt: Format, pattern: Pattern, frame: pl.DataFrame) -> Rows:
    """Return what a pattern of lines finds in a frame."""
    return extract_candidates(fmt, pattern, frame, has_literal(frame["text"], pattern).arg_true())


def extract_candidates(fmt: Format, pattern: Pattern, frame: pl.DataFrame, candidates: pl.Series) -> Rows:
    """Return what a pattern finds in the rows of a frame that hold one of its literals."""
    if not len(candidates):
        return Rows(candidates, pattern.table, None)
    text = frame["text"][candidates]
    if not pattern.table:
        return Rows(candidates.filter(text.str.contains(to_ascii(pattern.regex))), "", None)
    fields, hit = search_fields(text, pattern.regex, labels_of(pattern))
    if not hit.all():
        candidates, fields = candidates.filter(hit), fields.filter(hit)
    if not len(candidates):
        return Rows(candidates, pattern.table, None)
    matched = candidates
    lines = frame[candidates]
    if "ts" not in frame.columns and "ts" not in pattern.columns:
        lines = read_heads(lines)
    if pattern.each:
        lines, fields = _each_match(pattern, lines, fields)
    return Rows(matched, pattern.table, build_rows(fmt, pattern, lines, fields))


def labels_of(pattern: Pattern) -> Labels:
    """Return the fields between bars of a pattern: names of columns for their texts, and labels."""
    return tuple((f"{_BAR}{name}", names) for name, (names, _) in pattern.bars.items())


def values_of(pattern: Pattern) -> list[Value]:
    """Return how the columns of a pattern are read out of fields, those between bars among these."""
    bars = [replace(value, group=f"{_BAR}{name}") for name, (_, value) in pattern.bars.items()]
    return [*pattern.columns.values(), *bars]


def read_heads(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with the stamps at the heads of its lines, and with the hosts that stand behind them."""
    frame = frame.hstack(read_head_stamps(frame["text"]))
    raw, ts, quality = (frame[name] for name in ("ts_raw", "ts", "ts_quality"))
    raw, ts, quality = _fill_time(raw, ts, quality, frame["stamp"])
    hosts = read_head_hosts(frame["text"]) if frame["host"].null_count() else frame["host"]
    return frame.with_columns(raw, ts, quality, _coalesce(frame["host"], hosts).alias("host"))


def build_rows(fmt: Format, pattern: Pattern, lines: pl.DataFrame, fields: pl.DataFrame) -> pl.DataFrame:
    """Return the event rows of matched lines: ``lines`` and ``fields`` have one row per row to build.

    ``fields`` holds the texts that the values of the pattern name. Of the common columns those that the
    pattern does not fill come from the line: stamp at its head, rank and host of its prefixes. Where ``host``
    is a list of hosts each of them makes a row, and a list that cannot be read makes none.
    """
    types = table_types(pattern.table)
    listed = pattern.columns.get("host")
    hosts: pl.Series | None = None
    if listed is not None and listed.kind in HOST_LISTS:
        lines, fields, hosts = _each_host(listed, lines, fields)
    columns: dict[str, pl.Series] = {name: lines[name] for name in _CARRIED}
    columns["format"] = _constant(fmt.name, lines.height)
    columns["pattern"] = _constant(pattern.name, lines.height)
    columns |= _read_time(pattern, lines, fields)
    for name, value in pattern.columns.items():
        if name == "host" and hosts is not None:
            columns[name] = hosts
        elif name != "ts":
            columns[name] = read_value(fields, value, types[name])
    for name, (regex, value) in pattern.extras.items():
        found = lines["text"].str.extract(to_ascii(regex))
        read = read_value(pl.DataFrame({"v": found}), replace(value, group="v"), types[name])
        columns[name] = _coalesce(columns[name], read) if name in columns else read
    for name, (_, value) in pattern.bars.items():
        columns[name] = read_value(fields, replace(value, group=f"{_BAR}{name}"), types[name])
    for name in ("host", "rank"):
        columns[name] = _coalesce(columns[name], lines[name]) if name in columns else lines[name]
    return pl.DataFrame(columns)


def merge_rows(rows: dict[str, list[pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """Return one frame per table with all of its columns and its rows in line order.

    Rows of one line keep the order of their patterns.
    """
    merged = {}
    for table, frames in sorted(rows.items()):
        types = table_types(table)
        found = pl.concat(frames, how="diagonal")
        columns = [
            pl.col(name).cast(dtype) if name in found.columns else pl.lit(None, dtype).alias(name)
            for name, dtype in types.items()
        ]
        merged[table] = found.select(columns).sort("line", "segment", maintain_order=True)
    return merged


def _read_time(pattern: Pattern, lines: pl.DataFrame, fields: pl.DataFrame) -> dict[str, pl.Series]:
    """Return ``ts_raw, ts, ts_quality``: from the pattern, else as read from the head of the line."""
    value = pattern.columns.get("ts")
    if value is None:
        return {name: lines[name] for name in ("ts_raw", "ts", "ts_quality")}
    raw = text_of(fields, value)
    if READ_TIME in fields.columns:
        return {"ts_raw": raw, "ts": fields[READ_TIME], "ts_quality": _constant("zone_assumed", len(raw))}
    ts, quality = read_stamps(raw, value.stamp or "iso")
    raw, ts, quality = _fill_time(raw, ts, quality, lines["stamp"])
    return {"ts_raw": raw, "ts": ts, "ts_quality": quality}


def _fill_time(
    raw: pl.Series, ts: pl.Series, quality: pl.Series, stamps: pl.Series
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Return times with those that are missing taken from the transport, where it told one."""
    if not ts.null_count() or stamps.null_count() == len(stamps):
        return raw, ts, quality
    for kind in ("iso", "ctime"):
        read, how = read_stamps(stamps, kind)
        use = ts.is_null() & read.is_not_null()
        raw, ts, quality = stamps.zip_with(use, raw), read.zip_with(use, ts), how.zip_with(use, quality)
    return raw.alias("ts_raw"), ts.alias("ts"), quality.alias("ts_quality")


def _each_match(
    pattern: Pattern, lines: pl.DataFrame, groups: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one row per match of ``pattern.each`` in each line, with the groups of both expressions."""
    each = to_ascii(pattern.each)
    found = pl.DataFrame({"match": lines["text"].str.extract_all(each)}).with_row_index("row")
    found = found.explode("match", empty_as_null=False, keep_nulls=False)
    parts = found["match"].str.extract_groups(each).struct.unnest()
    kept = groups[found["row"]].drop(parts.columns, strict=False)
    return lines[found["row"]], pl.concat([kept, parts], how="horizontal")


def _each_host(
    value: Value, lines: pl.DataFrame, fields: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.Series]:
    """Return one row per host of the list in each row, and these hosts."""
    found = pl.DataFrame({"host": read_value(fields, value, pl.List(pl.String()))}).with_row_index("row")
    found = found.explode("host", empty_as_null=False, keep_nulls=False)
    return lines[found["row"]], fields[found["row"]], found["host"]


def _constant(text: str, height: int) -> pl.Series:
    """Return a column that holds one text."""
    return pl.Series([text], dtype=pl.String).new_from_index(0, height)


def _coalesce(first: pl.Series, second: pl.Series) -> pl.Series:
    """Return the first column with its nulls taken from the second."""
    return first if not first.null_count() else first.zip_with(first.is_not_null(), second)
