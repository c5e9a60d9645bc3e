"""Which mart fills which field of the facts: relation, order, and the expressions where names differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.report import efficiency_rows as er
from pipeline.report import program_rows as program
from pipeline.report import reliability_rows as rr
from pipeline.report import rows as r
from pipeline.report import saving_rows as saving
from pipeline.report.verdict_rows import Verdict


@dataclass(frozen=True, slots=True)
class Mart:
    """Where the rows of one kind of fact come from, and in which order."""

    relation: str
    order: str
    expressions: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""


_PERIOD = {"start": "period_start", "end": "period_end"}
_WINDOW = {"start": "window_start", "end": "window_end"}

TOTAL = Mart("marts.period", "run_id", _PERIOD, f"where run_id = '{r.ALL}'")
RUNS_GOODPUT = Mart("marts.period", "run_id", _PERIOD, f"where run_id <> '{r.ALL}'")

#: Field of the facts: what its rows are, and where they come from.
REST: dict[str, tuple[type[Any], Mart]] = {
    "windows": (r.Goodput, Mart("marts.daily", "window_start", _WINDOW)),
    "losses": (
        r.Loss,
        Mart(
            "marts.losses",
            "run_id, layer, category",
            {"title": "any_value(title)", "gpu_s": "sum(gpu_s)"},
            "group by run_id, layer, category having sum(gpu_s) > 0",
        ),
    ),
    "causes": (r.Cause, Mart("marts.causes", "gpu_s desc, cause")),
    "incidents": (
        r.Incident,
        Mart("marts.incidents", "at_ts, incident_id"),
    ),
    "lanes": (r.Stretch, Mart("marts.lanes", "run_id, start_ts, lane")),
    "runs": (r.Run, Mart("marts.runs", "run_id")),
    "hours": (r.Hour, Mart("marts.hours", "day, hour")),
    "comparisons": (r.Comparison, Mart("marts.reconciliation", "run_id, comparison")),
    "sources": (r.Source, Mart("marts.data_quality", "path, source_id")),
    "unknown": (r.Unknown, Mart("marts.unknown", "run_id, gpu_s desc, reason")),
    "coverage": (r.Coverage, Mart("marts.coverage", "source_id, start_ts")),
    "sensitivity": (r.Sensitivity, Mart("marts.sensitivity", "run_id")),
    "model_inputs": (program.ModelInput, Mart("marts.model_inputs", "run_id")),
    "model_faults": (program.ModelFault, Mart("marts.model_faults", "run_id, fault")),
    "metrics": (r.Metric, Mart("seeds.metrics", "rowid")),
    "verdicts": (Verdict, Mart("marts.verdicts", "at_ts, incident_id")),
    "checkpoints": (saving.Checkpoints, Mart("marts.checkpoints", "run_id")),
    # A run may save thousands of times: saves that would be drawn in one place are one row.
    "stalls": (
        saving.Stall,
        Mart(
            "marts.saves",
            "run_id, outcome, min(stall_s)",
            {"stall_s": "median(stall_s)", "saves": "count(*)"},
            "group by run_id, outcome, round(40 * log10(greatest(stall_s, 1e-3)))",
        ),
    ),
    "checkpoint_costs": (saving.CheckpointCost, Mart("marts.checkpoint_cost", "run_id")),
    "checkpoint_curves": (saving.CurvePoint, Mart("marts.checkpoint_curve", "run_id, interval_s")),
    "expected_ettr": (saving.ExpectedEttr, Mart("marts.expected_ettr", "run_id, is_own_size desc, gpus")),
    "definitions": (
        saving.Definition,
        Mart(
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
RELIABILITY: dict[str, tuple[type[Any], Mart]] = {
    "survival": (
        rr.Survival,
        Mart(
            "marts.survival",
            "age_s",
            rest=f"where {_ALL_ATTEMPTS} qualify row_number() over (order by age_s) in (1, count(*) over ()) "
            f"or row_number() over (order by age_s) % greatest(1, count(*) over () // {_MOST_STEPS}) = 0",
        ),
    ),
    "failures": (
        rr.Failure,
        Mart(
            "marts.lifetimes",
            "life_s, run_id, attempt",
            rest="where outcome = 'failure' and counted "
            "and start_ts >= (select max(period_end) - interval 84 day from marts.period) "
            f"and not (select coalesce(bool_or(is_enough), false) from marts.survival where {_ALL_ATTEMPTS})",
        ),
    ),
    "rates": (
        rr.FailureRate,
        Mart(
            "marts.failure_rates",
            "span_start desc, span, grouped_by, gpus_from, domain",
            rest="where span <> 'window' and grouped_by in ('all', 'gpus', 'domain')",
        ),
    ),
    "phases": (
        rr.Phase,
        Mart(
            "marts.recovery_phases",
            "incident_id, rank",
            rest="where kind <> 'planned' and (select count(*) from marts.recovery where kind <> 'planned') "
            f"<= {_MOST_RECOVERIES}",
        ),
    ),
    "recovery": (rr.PhaseSummary, Mart("marts.recovery_summary", "rank")),
    "hosts": (rr.Host, Mart("marts.hosts", "gpu_s desc, host", rest="where events > 0")),
    "host_events": (
        rr.HostEvent,
        Mart(
            "marts.host_incidents",
            "host, at_ts, incident_id",
            {"title": "coalesce((select title from seeds.causes where code = cause), cause)"},
            "where is_event and host in (select host from marts.hosts where events >= 2)",
        ),
    ),
    "fleet": (
        rr.Fleet,
        Mart(
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

#: Runs whose pace is drawn: those with most productive time.
MOST_PACES = 12

_LARGEST = (
    f"run_id in (select run_id from marts.run_efficiency order by productive_gpu_s desc, run_id "
    f"limit {MOST_PACES})"
)
_IN_PERIOD = (
    "start_ts < (select max(period_end) from marts.period) and end_ts > (select min(period_start) from "
    "marts.period)"
)

#: The same for how well the productive time ran.
PRODUCTIVE: dict[str, tuple[type[Any], Mart]] = {
    "efficiencies": (er.Efficiency, Mart("marts.run_efficiency", "run_id")),
    "paces": (er.Pace, Mart("marts.pace", "run_id, bin_ts", rest=f"where {_LARGEST}")),
    "slow_stretches": (
        er.SlowStretch,
        Mart(
            "marts.slow_stretches",
            "cost_gpu_s desc nulls last, run_id, start_ts",
            rest=f"where kind <> 'jitter' and {_IN_PERIOD}",
        ),
    ),
    "jitters": (
        er.Jitter,
        Mart(
            "marts.slow_stretches",
            "run_id",
            {"attempts": "count(distinct attempt)", "cost_gpu_s": "coalesce(sum(cost_gpu_s), 0)"},
            f"where kind = 'jitter' and {_IN_PERIOD} group by run_id",
        ),
    ),
    "scaling": (er.Scaling, Mart("marts.scaling", "family, gpus, run_id")),
    "stragglers": (
        er.Straggler,
        Mart("marts.stragglers", "p_value nulls last, ratio desc, run_id, host, rank, component"),
    ),
    "links": (er.Link, Mart("marts.links", "run_id nulls last, evidence_line, operation, size_class")),
    "devices": (er.Devices, Mart("marts.devices", "run_id, host nulls first")),
}
