"""Marts to facts: the only place where the report meets SQL.

A fact's fields are named as the columns of its mart, so a SELECT is generated from the dataclass; where a
name differs, `_MARTS` says which expression fills the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

import duckdb

import pipeline
from pipeline.errors import GoodputError
from pipeline.report import facts as f

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Mart:
    """Where the rows of one kind of fact come from, and in which order."""

    relation: str
    order: str
    expressions: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""


_PERIOD = {"start": "period_start", "end": "period_end"}
_WINDOW = {"start": "window_start", "end": "window_end"}

_TOTAL = _Mart("marts.period", "run_id", _PERIOD, f"where run_id = '{f.ALL}'")
_RUNS_GOODPUT = _Mart("marts.period", "run_id", _PERIOD, f"where run_id <> '{f.ALL}'")
_WINDOWS = _Mart("marts.daily", "window_start", _WINDOW)
_LOSSES = _Mart(
    "marts.losses",
    "run_id, layer, category",
    {"title": "any_value(title)", "gpu_s": "sum(gpu_s)"},
    "group by run_id, layer, category having sum(gpu_s) > 0",
)
_CAUSES = _Mart("marts.causes", "gpu_s desc, cause")
_INCIDENTS = _Mart("marts.incidents", "coalesce(fault_ts, last_progress_ts, detected_ts), incident_id")
_LANES = _Mart("marts.lanes", "run_id, start_ts, lane")
_RUNS = _Mart("marts.runs", "run_id")
_HOURS = _Mart("marts.hours", "day, hour")
_COMPARISONS = _Mart("marts.reconciliation", "run_id, comparison")
_SOURCES = _Mart("marts.data_quality", "path, source_id")
_UNKNOWN = _Mart("marts.unknown", "run_id, gpu_s desc, reason")
_COVERAGE = _Mart("marts.coverage", "source_id, start_ts")
_SENSITIVITY = _Mart("marts.sensitivity", "run_id")
_METRICS = _Mart("seeds.metrics", "rowid")


def load_facts(con: duckdb.DuckDBPyConnection) -> f.Facts:
    """Read everything that a review is made of from a classified store.

    Raises:
        GoodputError: the store holds no run.
    """
    total = _read(con, f.Goodput, _TOTAL)
    runs = _read(con, f.Goodput, _RUNS_GOODPUT)
    if not total or not runs:
        raise GoodputError(
            "the store holds no run",
            why="no file was recognised as the log of a trainer or of a scheduler",
            now="`goodput doctor LOGS` tells what each file was taken for",
        )
    return f.Facts(
        context=_load_context(con),
        total=total[0],
        runs_goodput=runs,
        windows=_read(con, f.Goodput, _WINDOWS),
        losses=_read(con, f.Loss, _LOSSES),
        causes=_read(con, f.Cause, _CAUSES),
        incidents=_read(con, f.Incident, _INCIDENTS),
        lanes=_read(con, f.Stretch, _LANES),
        runs=_read(con, f.Run, _RUNS),
        hours=_read(con, f.Hour, _HOURS),
        comparisons=_read(con, f.Comparison, _COMPARISONS),
        sources=_read(con, f.Source, _SOURCES),
        unknown=_read(con, f.Unknown, _UNKNOWN),
        coverage=_read(con, f.Coverage, _COVERAGE),
        sensitivity=_read(con, f.Sensitivity, _SENSITIVITY),
        metrics=_read(con, f.Metric, _METRICS),
    )


def _read(con: duckdb.DuckDBPyConnection, kind: type[T], mart: _Mart) -> tuple[T, ...]:
    """Return the rows of a mart as values of one kind."""
    names = [part.name for part in fields(kind)]  # type: ignore[arg-type]
    columns = ", ".join(f"{mart.expressions.get(n, n)} as {n}" for n in names)
    rows = con.execute(f"select {columns} from {mart.relation} {mart.rest} order by {mart.order}").fetchall()
    return tuple(kind(*(_plain(value) for value in row)) for row in rows)


def _plain(value: Any) -> Any:
    """Return times in the standard library's UTC, decimals as floating-point numbers, lists as tuples."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, Decimal):
        return float(value)
    return tuple(value) if isinstance(value, list) else value


def _load_context(con: duckdb.DuckDBPyConnection) -> f.Context:
    price = con.execute("select gpu_hour, currency from config.price").fetchone()
    fleet = con.execute("select logs_name from config.store").fetchone()
    window = con.execute("select window_us from config.report").fetchone()
    return f.Context(
        fleet=fleet[0] if fleet else "",
        window_s=(window[0] if window else 86_400_000_000) / 1e6,
        policy=tuple(con.execute("select key, value from config.policy order by key").fetchall()),
        targets=tuple(con.execute("select figure, value from config.targets order by figure").fetchall()),
        price_gpu_hour=price[0] if price else None,
        currency=price[1] or "" if price else "",
        rules=f"{pipeline.__version__}-{_rules_digest(con)}",
    )


def _rules_digest(con: duckdb.DuckDBPyConnection) -> str:
    """Return eight hexadecimal digits that change with a category, a cause or a signal."""
    row = con.execute(
        "select md5(string_agg(line, chr(10) order by line)) from ("
        "select to_json(c)::varchar as line from seeds.categories as c union all "
        "select to_json(c)::varchar from seeds.causes as c union all "
        "select to_json(s)::varchar from seeds.signals as s)"
    ).fetchone()
    return str(row[0])[:8] if row and row[0] else "00000000"
