"""Results of ad-hoc queries as a table for people, CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS = ("table", "csv", "json", "parquet")

#: Types that are set flush right in a table.
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")

#: Control characters of log text could move the cursor of a terminal or change its colours.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


@dataclass(frozen=True, slots=True)
class Result:
    """What a query returned.

    Attributes:
        columns: names in order.
        types: their SQL types.
        rows: values as Python objects; times carry UTC.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def table_text(result: Result) -> str:
    """Return an aligned table: a head, a rule, one line per row, and the number of rows."""
    cells = [[cell_text(v).translate(_VISIBLE) for v in row] for row in result.rows]
    widths = [max(map(len, column)) for column in zip(result.columns, *cells, strict=True)]
    right = [kind.startswith(_NUMBERS) or kind.endswith("INT") for kind in result.types]

    def line(texts: list[str] | tuple[str, ...]) -> str:
        padded = (t.rjust(w) if r else t.ljust(w) for t, w, r in zip(texts, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    rule = "  ".join("─" * w for w in widths)
    noun = "row" if len(cells) == 1 else "rows"
    return "\n".join([line(result.columns), rule, *map(line, cells), f"({len(cells):,} {noun})"]) + "\n"


def csv_text(result: Result) -> str:
    """Return CSV with a header; null is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([cell_text(v) for v in row] for row in result.rows)
    return out.getvalue()


def json_text(result: Result) -> str:
    """Return a JSON list with one object per row, one row per line; times in ISO form, UTC."""
    rows = (
        json.dumps(
            {c: _plain(v) for c, v in zip(result.columns, row, strict=True)},
            ensure_ascii=False,
            allow_nan=False,
        )
        for row in result.rows
    )
    return "[" + ",\n ".join(rows) + "]\n"


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a Parquet file with the rows of an Arrow table."""
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def cell_text(value: Any) -> str:
    """Return one value as text: null is empty, times are UTC to the last digit that is not zero."""
    plain = _plain(value)
    if plain is None:
        return ""
    if isinstance(plain, bool):
        return str(plain).lower()
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return moment.isoformat() + ("Z" if value.tzinfo else "")
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | timedelta):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, str | int) else str(value)
