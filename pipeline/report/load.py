"""Marts to facts: the only place where the report meets SQL.

A fact's fields are named as the columns of its mart, so a SELECT is generated from the dataclass; where a
name differs, `marts.py` says which expression fills the field.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

import duckdb

import pipeline
from pipeline.errors import GoodputError
from pipeline.report import efficiency_rows as er
from pipeline.report import reliability_rows as rr
from pipeline.report import rows as r
from pipeline.report.facts import Context, Facts
from pipeline.report.marts import PRODUCTIVE, RELIABILITY, REST, RUNS_GOODPUT, TOTAL, Mart

T = TypeVar("T")


def load_facts(con: duckdb.DuckDBPyConnection) -> Facts:
    """Read everything that a review is made of from a classified store.

    Raises:
        GoodputError: the store holds no run, or none in the period asked for.
    """
    total, runs = _read(con, r.Goodput, TOTAL), _read(con, r.Goodput, RUNS_GOODPUT)
    rest = {name: _read(con, kind, mart) for name, (kind, mart) in REST.items()}
    context = _load_context(con)
    reliability = {name: _read(con, kind, mart) for name, (kind, mart) in RELIABILITY.items()}
    fleet = reliability.pop("fleet")[0]
    if not total or not runs:
        raise _nothing(con, context.asked)
    known = rr.Reliability(**reliability, fleet=fleet)
    ran = er.Productive(**{name: _read(con, kind, mart) for name, (kind, mart) in PRODUCTIVE.items()})
    return Facts(
        context=context, total=total[0], runs_goodput=runs, reliability=known, productive=ran, **rest
    )


def _nothing(con: duckdb.DuckDBPyConnection, asked: bool) -> GoodputError:
    """Return the error of a period without any run."""
    if asked:
        return GoodputError(
            "no run lived in the period that was asked for",
            now="leave out `--week`, `--from` and `--to`, or widen them",
        )
    row = con.execute(
        "select run_id, cause, coalesce(evidence_path || ':' || evidence_line, 'no line'), incident_id "
        "from ledger.incidents order by run_id, attempt limit 1"
    ).fetchone()
    if row is not None:
        run_id, cause, place, incident_id = row
        return GoodputError(
            f"the lines of `{run_id}` carry one time or none: its time cannot be counted",
            where=f"it ended with `{cause}`, at {place}",
            now=f"`goodput explain --store DIR {incident_id}` tells more; accounting would bring its times",
        )
    return GoodputError(
        "the store holds no run",
        why="no file was recognised as the log of a trainer or of a scheduler",
        now="`goodput doctor LOGS` tells what each file was taken for",
    )


def _read(con: duckdb.DuckDBPyConnection, kind: type[T], mart: Mart) -> tuple[T, ...]:
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


def _load_context(con: duckdb.DuckDBPyConnection) -> Context:
    price = con.execute("select gpu_hour, currency from config.price").fetchone()
    fleet = con.execute("select logs_name from config.store").fetchone()
    report = con.execute(
        "select window_us, coalesce(from_ts, to_ts) is not null or week is not null from config.report"
    ).fetchone()
    return Context(
        fleet=fleet[0] if fleet else "",
        window_s=(report[0] if report else 86_400_000_000) / 1e6,
        policy=tuple(con.execute("select key, value from config.policy order by key").fetchall()),
        targets=tuple(con.execute("select figure, value from config.targets order by figure").fetchall()),
        price_gpu_hour=price[0] if price else None,
        currency=price[1] or "" if price else "",
        rules=f"{pipeline.__version__}-{_rules_digest(con)}",
        asked=bool(report and report[1]),
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
