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
from pipeline.report import program_rows as program
from pipeline.report import reliability_rows as rr
from pipeline.report import rows as r
from pipeline.report import saving_rows as saving
from pipeline.report.facts import Context, Facts

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

_TOTAL = _Mart("marts.period", "run_id", _PERIOD, f"where run_id = '{r.ALL}'")
_RUNS_GOODPUT = _Mart("marts.period", "run_id", _PERIOD, f"where run_id <> '{r.ALL}'")

#: Field of the facts: what its rows are, and where they come from.
_REST: dict[str, tuple[type[Any], _Mart]] = {
    "windows": (r.Goodput, _Mart("marts.daily", "window_start", _WINDOW)),
    "losses": (
        r.Loss,
        _Mart(
            "marts.losses",
            "run_id, layer, category",
            {"title": "any_value(title)", "gpu_s": "sum(gpu_s)"},
            "group by run_id, layer, category having sum(gpu_s) > 0",
        ),
    ),
    "causes": (r.Cause, _Mart("marts.causes", "gpu_s desc, cause")),
    "incidents": (
        r.Incident,
        _Mart("marts.incidents", "coalesce(fault_ts, last_progress_ts, detected_ts), incident_id"),
    ),
    "lanes": (r.Stretch, _Mart("marts.lanes", "run_id, start_ts, lane")),
    "runs": (r.Run, _Mart("marts.runs", "run_id")),
    "hours": (r.Hour, _Mart("marts.hours", "day, hour")),
    "comparisons": (r.Comparison, _Mart("marts.reconciliation", "run_id, comparison")),
    "sources": (r.Source, _Mart("marts.data_quality", "path, source_id")),
    "unknown": (r.Unknown, _Mart("marts.unknown", "run_id, gpu_s desc, reason")),
    "coverage": (r.Coverage, _Mart("marts.coverage", "source_id, start_ts")),
    "sensitivity": (r.Sensitivity, _Mart("marts.sensitivity", "run_id")),
    "model_inputs": (program.ModelInput, _Mart("marts.model_inputs", "run_id")),
    "model_faults": (program.ModelFault, _Mart("marts.model_faults", "run_id, fault")),
    "metrics": (r.Metric, _Mart("seeds.metrics", "rowid")),
    "checkpoints": (saving.Checkpoints, _Mart("marts.checkpoints", "run_id")),
    # A run may save thousands of times: saves that would be drawn in one place are one row.
    "stalls": (
        saving.Stall,
        _Mart(
            "marts.saves",
            "run_id, outcome, min(stall_s)",
            {"stall_s": "median(stall_s)", "saves": "count(*)"},
            "group by run_id, outcome, round(40 * log10(greatest(stall_s, 1e-3)))",
        ),
    ),
    "checkpoint_costs": (saving.CheckpointCost, _Mart("marts.checkpoint_cost", "run_id")),
    "checkpoint_curves": (saving.CurvePoint, _Mart("marts.checkpoint_curve", "run_id, interval_s")),
    "expected_ettr": (saving.ExpectedEttr, _Mart("marts.expected_ettr", "run_id, is_own_size desc, gpus")),
    "definitions": (
        saving.Definition,
        _Mart(
            "marts.definitions",
            "value desc nulls last, definition",
            {
                "title": "any_value(title)",
                "defined_by": "any_value(defined_by)",
                # the least hour of a period is the least of its windows; all else are ratios of sums
                "value": "case when definition = 'sliding_ettr_least' then min(value) "
                "else sum(numerator_gpu_s) / nullif(sum(denominator_gpu_s), 0) end",
                "numerator_gpu_s": "case when definition = 'sliding_ettr_least' then min(numerator_gpu_s) "
                "else sum(numerator_gpu_s) end",
                "denominator_gpu_s": "case when definition = 'sliding_ettr_least' then "
                "arg_min(denominator_gpu_s, value) else sum(denominator_gpu_s) end",
                "reason": "any_value(reason)",
            },
            "group by definition",
        ),
    ),
}

#: More steps of a curve than this are thinner than a printed line.
_MOST_STEPS = 400

#: More disruptions than this are told by medians, not each by itself.
_MOST_RECOVERIES = 12

_ALL_ATTEMPTS = "gpus_class = '(all)'"

#: The same for the figures of reliability.
_RELIABILITY: dict[str, tuple[type[Any], _Mart]] = {
    "survival": (
        rr.Survival,
        _Mart(
            "marts.survival",
            "age_s",
            rest=f"where {_ALL_ATTEMPTS} qualify row_number() over (order by age_s) in (1, count(*) over ()) "
            f"or row_number() over (order by age_s) % greatest(1, count(*) over () // {_MOST_STEPS}) = 0",
        ),
    ),
    "failures": (
        rr.Failure,
        _Mart(
            "marts.lifetimes",
            "life_s, run_id, attempt",
            rest="where outcome = 'failure' and counted "
            "and start_ts >= (select max(period_end) - interval 84 day from marts.period) "
            f"and not (select coalesce(bool_or(is_enough), false) from marts.survival where {_ALL_ATTEMPTS})",
        ),
    ),
    "rates": (
        rr.FailureRate,
        _Mart(
            "marts.failure_rates",
            "span_start desc, span, grouped_by, gpus_from, domain",
            rest="where span <> 'window'",
        ),
    ),
    "phases": (
        rr.Phase,
        _Mart(
            "marts.recovery_phases",
            "incident_id, rank",
            rest="where kind <> 'planned' and (select count(*) from marts.recovery where kind <> 'planned') "
            f"<= {_MOST_RECOVERIES}",
        ),
    ),
    "recovery": (rr.PhaseSummary, _Mart("marts.recovery_summary", "rank")),
    "hosts": (rr.Host, _Mart("marts.hosts", "gpu_s desc, host", rest="where events > 0")),
    "host_events": (
        rr.HostEvent,
        _Mart(
            "marts.host_incidents",
            "host, at_ts, incident_id",
            {"title": "coalesce((select title from seeds.causes where code = cause), cause)"},
            "where is_event and host in (select host from marts.hosts where events >= 2)",
        ),
    ),
    "fleet": (
        rr.Fleet,
        _Mart(
            "marts.hosts",
            "hosts",
            {
                "hosts": "count(*) filter (where host_days > 0)",
                "host_days": "coalesce(sum(host_days), 0)",
                "events": "coalesce(sum(events), 0)::bigint",
                "start": "(select max(span_start) from marts.failure_rates "
                "where span in ('12_weeks', 'records') and span_start >= span_end - interval 84 day)",
            },
        ),
    ),
}


def load_facts(con: duckdb.DuckDBPyConnection) -> Facts:
    """Read everything that a review is made of from a classified store.

    Raises:
        GoodputError: the store holds no run, or none in the period asked for.
    """
    total, runs = _read(con, r.Goodput, _TOTAL), _read(con, r.Goodput, _RUNS_GOODPUT)
    rest = {name: _read(con, kind, mart) for name, (kind, mart) in _REST.items()}
    context = _load_context(con)
    reliability = {name: _read(con, kind, mart) for name, (kind, mart) in _RELIABILITY.items()}
    fleet = reliability.pop("fleet")[0]
    if not total or not runs:
        raise _nothing(con, context.asked)
    known = rr.Reliability(**reliability, fleet=fleet)
    return Facts(context=context, total=total[0], runs_goodput=runs, reliability=known, **rest)


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
