"""Records with named fields → rows of event tables: JSON lines, and tables that `delimited.py` has split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from pipeline.formats import fields_of, names_of
from pipeline.formats.format import Format, Pattern
from pipeline.ingest.clock import TS
from pipeline.ingest.derive import derived_fields
from pipeline.ingest.evidence import asks_catalogue, find_signals
from pipeline.ingest.extract import Rows, build_rows
from pipeline.ingest.telemetry import Thinner


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a column of lines.

    Attributes:
        fields: column ``line``, then one text column per field that the format's patterns read.
        bad_lines: lines that are not a record.
    """

    fields: pl.DataFrame
    bad_lines: pl.Series


def read_records(frame: pl.DataFrame, fmt: Format) -> Records:
    """Read lines (columns ``line``, ``text``) of one JSON object each; empty lines are no records.

    A field may lie at the top or below one of the keys of ``fmt.unwrap``, and is named by a pointer: ``a/b``
    is the member ``b`` of ``a``. Numbers come out as text.
    """
    frame = frame.filter(frame["text"].str.contains(r"\S"))
    # The elements of an array written one per line end with a comma, and its brackets stand alone.
    text = frame["text"].str.strip_chars().str.strip_chars_end(",")
    frame = frame.with_columns(text=text).filter(~text.is_in(["[", "]"]))
    valid = frame["text"].str.starts_with("{") & frame["text"].str.json_path_match("$").is_not_null()
    good = frame.filter(valid)
    fields = _decode(good["text"], fields_of(fmt, fmt.patterns), fmt.unwrap)
    return Records(
        good.select("line").hstack(fields).with_columns(derived_fields(fmt)), frame["line"].filter(~valid)
    )


def _decode(text: pl.Series, fields: tuple[str, ...], unwrap: tuple[str, ...]) -> pl.DataFrame:
    """Return the wanted fields of valid JSON objects as text columns."""
    if any("/" in name or "~" in name for name in fields):
        return _decode_paths(text, fields, unwrap)
    own = dict.fromkeys(fields, pl.String)
    shape = pl.Struct({**own, **{key: pl.Struct(own) for key in unwrap if key not in own}})
    try:
        decoded = text.str.json_decode(shape).struct.unnest()
    except pl.exceptions.ComputeError:
        # A field that holds a list or an object has no text: field by field, such ones come out as JSON.
        return _decode_paths(text, fields, unwrap)
    return decoded.select(
        pl.coalesce(pl.col(name), *(pl.col(key).struct.field(name) for key in unwrap)).alias(name)
        for name in fields
    )


def _decode_paths(text: pl.Series, fields: tuple[str, ...], unwrap: tuple[str, ...]) -> pl.DataFrame:
    """Return the wanted fields one by one; slower, and indifferent to what they hold."""
    lines = pl.DataFrame({"text": text})
    prefixes = ("$", *(f"$['{key}']" for key in unwrap))
    return lines.select(
        pl.coalesce(
            pl.col("text").str.json_path_match(f"{prefix}{_path(name)}") for prefix in prefixes
        ).alias(name)
        for name in fields
    )


def _path(pointer: str) -> str:
    """Return a pointer (RFC 6901, without the first slash) as the engine's path."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]
    return "".join(f"[{step}]" if step.isdigit() else f"['{step}']" for step in steps)


def extract_fields(
    fmt: Format, patterns: Iterable[Pattern], fields: pl.DataFrame
) -> Iterator[tuple[Pattern, Rows]]:
    """Yield for each pattern of records what it finds in a frame of ``line`` and text fields."""
    for pattern in patterns:
        hit = pl.lit(True)
        for name in pattern.when:
            hit &= pl.col(name).is_not_null() if name in fields.columns else pl.lit(False)
        for name, texts in pattern.where.items():
            hit &= (
                pl.col(name).is_in(list(texts)).fill_null(False) if name in fields.columns else pl.lit(False)
            )
        matched = fields.select(hit=hit)["hit"]
        if matched.len() != fields.height:  # a pattern without conditions
            matched = pl.Series("hit", [True]).new_from_index(0, fields.height)
        rows = matched.arg_true()
        if not len(rows) or not pattern.table:
            yield pattern, Rows(rows, pattern.table, None)
            continue
        # A wide table has many columns, and a pattern reads few.
        read = {name for value in pattern.columns.values() for name in names_of(value)}
        found = fields.select("line", *(name for name in fields.columns if name in read))[rows]
        if pattern.table == "telemetry":
            found = found.filter(Thinner.may_keep(pattern, found))
        lines = found.select(
            "line",
            segment=pl.lit(0, pl.Int32),
            text=pl.lit(None, pl.String),
            rank=pl.lit(None, pl.Int32),
            host=pl.lit(None, pl.String),
            stamp=pl.lit(None, pl.String),
            ts_raw=pl.lit(None, pl.String),
            ts=pl.lit(None, TS),
            ts_quality=pl.lit("none"),
        )
        built: pl.DataFrame | None = build_rows(fmt, pattern, lines, found)
        if built is not None and asks_catalogue(pattern):
            built = find_signals(built)
        elif built is not None and pattern.table == "telemetry":
            # A chunk holds more samples than memory, were every metric of every line a row of its own.
            built = Thinner().thin(built)
        yield pattern, Rows(rows, pattern.table, built)
