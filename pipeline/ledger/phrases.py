"""Rows as dictionaries, and times, durations and places as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from pipeline.plain import visible

_HOUR_US = 3_600_000_000


def records(con: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object]) -> list[dict[str, Any]]:
    """Return the rows of a query by column name."""
    cursor = con.execute(sql, list(parameters))
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def moment(value: datetime) -> str:
    """Return a time in UTC to the second, with the part of a second only where there is one."""
    text = value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    return text.removesuffix(".000000")


def duration(value: timedelta) -> str:
    """Return a length in its two largest units: ``1 h 05 min``, ``2 min 30 s``, ``0.25 s``."""
    seconds = value.total_seconds()
    if seconds < 60:
        return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours:02d} h"


def gpu_hours(gpu_us: int, of_us: int | None = None) -> str:
    """Return GPU-microseconds as GPU-hours, with as many digits as the size of the whole deserves."""
    hours, whole = gpu_us / _HOUR_US, (gpu_us if of_us is None else of_us) / _HOUR_US
    return f"{hours:,.0f}" if whole >= 100 else f"{hours:,.1f}" if whole >= 10 else f"{hours:,.2f}"


def place(path: str | None, line: int | None) -> str:
    """Return ``path:line``; what is not known is left out."""
    if not path:
        return "no line"
    return visible(path) if line is None else f"{visible(path)}:{line}"
