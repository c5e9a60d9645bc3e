"""The ledger of a simulated folder against the truth beside its logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from pipeline.simulate.check import Difference, Span, differences
from pipeline.simulate.written import Written

#: Parts of a ledger that tile something: time, and what is missing from or beyond the capacity.
_PARTS = ("active", "missing", "spare")

_TOLD = """
    select
        i.run_id,
        i.part,
        epoch_us(i.start_ts) as start_us,
        epoch_us(i.end_ts) as end_us,
        i.category,
        coalesce(n.attempt, 0) as incident,
        -- what is missing may be held or not
        sum(i.gpus)::bigint as gpus,
        sum(i.gpu_us) as gpu_us,
        min(coalesce(s.path || ':' || i.line, '')) as evidence,
    from ledger.intervals as i
    left join ledger.incidents as n using (incident_id)
    left join events.sources as s using (source_id)
    group by all
    order by all
"""
_ENDS = """
    select run_id, attempt, kind, cause, coalesce(host, '') as host, lost_steps
    from ledger.incidents
    order by run_id, attempt
"""

# Windows add up by productive time; what is known of one of them only is known of none.
_FACTORS = """
    select
        run_id,
        sum(g_model * productive_gpu_s) / nullif(sum(productive_gpu_s), 0) as g_model,
        sum(steadiness * productive_gpu_s) / nullif(sum(productive_gpu_s), 0) as steadiness,
        sum(input_efficiency * productive_gpu_s) / nullif(sum(productive_gpu_s), 0) as input_efficiency,
        sum(network_efficiency * productive_gpu_s) / nullif(sum(productive_gpu_s), 0) as network_efficiency,
        sum(compute_efficiency * productive_gpu_s) / nullif(sum(productive_gpu_s), 0) as compute_efficiency,
        sum(reference_step_s * productive_gpu_s) / nullif(sum(productive_gpu_s), 0) as reference_step_s,
        string_agg(distinct verdict, ', ' order by verdict) as verdict,
    from marts.efficiency
    where productive_gpu_s > 0
    group by run_id
"""

#: By what share of the true one a factor may differ.
_NEAR = 0.01


@dataclass(frozen=True, slots=True)
class Mistake:
    """What the ledger tells otherwise than the truth of the end of an attempt, or of a run: attempt 0."""

    run: str
    attempt: int
    what: str
    truth: str
    ledger: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a comparison found.

    Attributes:
        spans: where the ledger differs by more than logs allow, in order.
        mistakes: ends that are told otherwise.
        errors: for each run and category GPU-microseconds of the ledger less the true ones.
        whole_us: true GPU-microseconds of each run.
    """

    spans: tuple[Difference, ...]
    mistakes: tuple[Mistake, ...]
    errors: Mapping[tuple[str, str], int]
    whole_us: Mapping[str, int]

    @property
    def agrees(self) -> bool:
        """Whether the ledger tells the truth, as far as logs can."""
        return not self.spans and not self.mistakes


def judge(con: duckdb.DuckDBPyConnection, truth: Written) -> Judgement:
    """Return how a ledger compares with the truth that stands beside its logs."""
    true, ends = truth.intervals, truth.ends
    told = _rows(con, _TOLD)
    brought = {(end["run_id"], end["attempt"]): _brought_about(end) for end in ends.iter_rows(named=True)}
    spans: list[Difference] = []
    for run, slack in truth.slacks.items():
        for part in _PARTS:
            own = _true_spans(true.filter((pl.col("run_id") == run) & (pl.col("part") == part)), brought)
            seen = _told_spans(told.filter((pl.col("run_id") == run) & (pl.col("part") == part)))
            for true_layer, told_layer in _layers(own, seen) if part == "missing" else [(own, seen)]:
                spans += differences(run, true_layer, told_layer, slack)
    others = sorted(set(told["run_id"]) - set(truth.slacks))
    mistakes = [Mistake(run, 0, "run", "no such run", "a run of its own") for run in others]
    mistakes += _misjudged(con, truth)
    mistakes += _mistakes(ends, _rows(con, _ENDS), truth.steps, _overwritten(true))
    errors: Counter[tuple[str, str]] = Counter()
    for run, category, gpu_us in _sums(told):
        errors[run, category] += gpu_us
    whole: Counter[str] = Counter()
    for run, category, gpu_us in _sums(true):
        errors[run, category] -= gpu_us
        whole[run] += gpu_us
    return Judgement(tuple(sorted(spans, key=lambda d: (d.run, d.start_us))), tuple(mistakes), errors, whole)


def _misjudged(con: duckdb.DuckDBPyConnection, truth: Written) -> Iterator[Mistake]:
    """Yield the factors and verdicts that differ, of runs of which it is known how their steps divide."""
    if not truth.efficiency:
        return
    told = {row["run_id"]: row for row in _rows(con, _FACTORS).iter_rows(named=True)}
    for run, factors in truth.efficiency.items():
        for name, true in factors.items():
            seen = told.get(run, {}).get(name)
            if isinstance(true, float) and isinstance(seen, float) and abs(seen / true - 1) <= _NEAR:
                continue
            if seen != true:
                yield Mistake(run, 0, name.replace("_", " "), _told(true), _told(seen))


def _told(value: float | str | None) -> str:
    """Return a value in words."""
    return "not known" if value is None else f"{value:.4f}" if isinstance(value, float) else value


def _rows(con: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """Return what a query gives."""
    found = con.execute(query)
    names = [column[0] for column in found.description or ()]
    return pl.DataFrame(found.fetchall(), schema=names, orient="row", infer_schema_length=None)


def _sums(intervals: pl.DataFrame) -> Iterator[tuple[str, str, int]]:
    """Yield run, category and GPU-microseconds."""
    yield from intervals.group_by("run_id", "category").agg(pl.col("gpu_us").sum()).sort("run_id").iter_rows()


def _true_spans(intervals: pl.DataFrame, brought: Mapping[tuple[str, int], str]) -> list[Span]:
    """Return true intervals as spans, with the end that brought each of them about, or its attempt."""
    micros = [pl.col(name).dt.timestamp("us") for name in ("start_ts", "end_ts")]
    columns = ("category", pl.col("incident").fill_null(0), "gpus", "run_id", "attempt")
    spans = []
    for start, end, category, incident, gpus, run, attempt in intervals.select(*micros, *columns).iter_rows():
        own = "" if attempt is None else f"attempt {attempt}"
        spans.append(Span(start, end, category, incident, gpus, brought.get((run, incident), own)))
    return spans


def _brought_about(end: Mapping[str, Any]) -> str:
    """Return in words what the truth knows of the end of an attempt."""
    where = f" on {end['host']}" if end["host"] else ""
    moments = (("stood still", "stop_ts"), ("noticed", "detected_ts"), ("released", "released_ts"))
    told = (f"{what} {end[name]:%H:%M:%S}" for what, name in moments if end[name] is not None)
    return f"attempt {end['attempt']} ended by {end['cause']}{where}: {', '.join(told)}"


def _told_spans(intervals: pl.DataFrame) -> list[Span]:
    """Return intervals of the ledger as spans."""
    columns = ("start_us", "end_us", "category", "incident", "gpus", "evidence")
    return [Span(*row) for row in intervals.select(columns).iter_rows()]


def _layers(own: list[Span], seen: list[Span]) -> Iterator[tuple[list[Span], list[Span]]]:
    """Yield spans by incident: several ends may have taken their share of one time."""
    for incident in sorted({span.incident for span in (*own, *seen)}):
        yield [s for s in own if s.incident == incident], [s for s in seen if s.incident == incident]


def _overwritten(true: pl.DataFrame) -> Mapping[tuple[str, int], int]:
    """Return by run and end how many attempts lost work to it."""
    lost = true.filter((pl.col("category") == "lost_work") & pl.col("incident").is_not_null())
    counts = lost.group_by("run_id", "incident").agg(pl.col("attempt").n_unique())
    return {(run, incident): attempts for run, incident, attempts in counts.iter_rows()}


def _mistakes(
    true: pl.DataFrame,
    told: pl.DataFrame,
    steps: Mapping[str, int],
    overwritten: Mapping[tuple[str, int], int],
) -> Iterator[Mistake]:
    """Yield the ends that are told otherwise.

    Lost steps may differ by less than is told for each run, at each attempt whose work an end took away.
    """
    seen = {(row["run_id"], row["attempt"]): row for row in told.iter_rows(named=True)}
    for row in true.iter_rows(named=True):
        run, attempt = row["run_id"], row["attempt"]
        other = seen.pop((run, attempt), None)
        if other is None:
            yield Mistake(run, attempt, "attempt", f"{row['kind']}, {row['cause']}", "no such attempt")
            continue
        for name in ("kind", "cause"):
            if row[name] != other[name]:
                yield Mistake(run, attempt, name, row[name], other[name])
        if row["host"] and other["host"] and row["host"] != other["host"]:
            yield Mistake(run, attempt, "host", row["host"], other["host"])
        allowed = (steps[run] - 1) * max(overwritten.get((run, attempt), 0), 1)
        # Where no line of a trainer tells of an attempt the ledger knows no number: it is held to none.
        if abs(row["lost_steps"] - (other["lost_steps"] or 0)) > allowed:
            yield Mistake(run, attempt, "lost steps", str(row["lost_steps"]), str(other["lost_steps"]))
    for run, attempt in sorted(seen):
        yield Mistake(run, attempt, "attempt", "no such attempt", "one more")
