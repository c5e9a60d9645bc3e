"""How long attempts live: their survival, and how often they fail, for page 4."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.report import units
from pipeline.report.charts.intervals import IntervalRow, Intervals
from pipeline.report.charts.survival import Step, SurvivalCurve
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Column, Figure, Item, Listing, Row, Table
from pipeline.report.reliability_rows import FEWEST_FAILURES, FailureRate
from pipeline.report.text import elide
from pipeline.report.words import alternative

_SPANS = {
    "period": "this period",
    "1_week": "last week",
    "4_weeks": "last 4 weeks",
    "12_weeks": "last 12 weeks",
}


def build_lives(facts: Facts) -> Iterator[Block]:
    """Yield the curve of survival or the list of failures, then the rates; nothing without an attempt."""
    known = facts.reliability
    if known.has_curve:
        yield _build_curve(facts)
    elif known.failures:
        yield _build_failures(facts)
    rates = _rates(facts)
    if any(rate.failures and rate.run_hours > 0 for rate in rates):
        yield _build_dots(rates)
        yield _build_rates(facts, rates)


def _build_curve(facts: Facts) -> Figure:
    steps = facts.reliability.survival
    first = steps[0]
    values = (
        f"after {units.duration(row.age_s)} {units.percent(row.survival)}"
        + (
            f" ({units.percent(row.survival_low, unit=False)} to {units.percent(row.survival_high)})"
            if row.survival_low is not None
            else ""
        )
        for row in steps
        if row.failures
    )
    return Figure(
        name="survival",
        caption="Share of attempts that live on, by age (Kaplan–Meier): "
        f"{units.counted(first.attempts, 'attempt')} of the last twelve weeks that got under way, "
        f"{units.counted(first.group_failures, 'failure')}; those that ended otherwise count until "
        "they did. Number of attempts at risk.",
        alt=alternative("Survival of attempts", values),
        chart=SurvivalCurve(
            tuple(
                Step(r.age_s, r.survival, r.survival_low, r.survival_high, r.censored, r.at_risk)
                for r in steps
            )
        ),
    )


def _build_failures(facts: Facts) -> Listing:
    """Return the failures one by one: they are too few for a curve."""
    titles = {i.incident_id: i.title for i in facts.incidents}
    items = tuple(
        Item(
            units.duration(failure.life_s),
            f"{elide(failure.run_id)}, {units.counted(failure.gpus, 'GPU')}: "
            f"{titles.get(failure.incident_id) or failure.cause or 'unknown'}",
        )
        for failure in facts.reliability.failures
    )
    attempts = facts.reliability.survival[0].attempts if facts.reliability.survival else 0
    return Listing(
        title="How long those attempts had lived that failed",
        items=items,
        note=f"Fewer than five failures, of {units.counted(attempts, 'attempt')} that got under way: "
        "no curve of survival is drawn."
        if len(items) < FEWEST_FAILURES
        else "",
    )


def _rates(facts: Facts) -> list[FailureRate]:
    """Return the figures of all attempts, one for each span that differs, the shortest first."""
    found: dict[object, FailureRate] = {}
    for span in ("period", "1_week", "4_weeks", "12_weeks", "records"):
        rate = facts.reliability.rate(span)
        # all records are told only where they are shorter than twelve weeks
        if (
            rate is not None
            and rate.attempts
            and not (span == "records" and facts.reliability.rate("12_weeks"))
        ):
            found.setdefault(rate.span_start, rate)
    return sorted(found.values(), key=lambda rate: rate.span_start, reverse=True)


def longest(facts: Facts) -> FailureRate | None:
    """Return the figures of all attempts over the longest span of at most twelve weeks that there is."""
    spans = (facts.reliability.rate(span) for span in ("12_weeks", "records", "period"))
    return next((rate for rate in spans if rate is not None and rate.attempts), None)


def _groups(facts: Facts, grouped_by: str) -> list[FailureRate]:
    """Return sizes or domains over the longest span, those with an attempt or an event."""
    base = longest(facts)
    rates = facts.reliability.rates
    return [
        r for r in rates if base and r.span == base.span and r.grouped_by == grouped_by and r.run_hours > 0
    ]


def _span_title(rate: FailureRate) -> str:
    days = units.duration((rate.span_end - rate.span_start).total_seconds())
    return f"{_SPANS.get(rate.span, 'all records')} ({days})"


def _size(gpus_class: str | None) -> str:
    low, _, high = (gpus_class or "").partition("-")
    return f"{int(low):,}–{int(high):,} GPUs"


def _build_dots(rates: list[FailureRate]) -> Figure:
    rows = tuple(
        IntervalRow(
            title=f"{_span_title(rate)}{rate.mark}",
            value=rate.time_to_failure_1000_gpus_h,
            low=rate.time_to_failure_1000_gpus_low_h,
            high=rate.time_to_failure_1000_gpus_high_h,
            texts=(
                _hours(rate.time_to_failure_1000_gpus_h),
                f"{rate.failures:,}",
                _limits(rate.per_1000_node_days, rate.per_1000_node_days_low, rate.per_1000_node_days_high),
            ),
        )
        for rate in rates
    )
    values = (
        f"{row.title} {row.texts[0]} h, between {_hours(row.low)} and {_hours(row.high)}, "
        f"{units.counted(rate.failures, 'failure')}"
        for row, rate in zip(rows, rates, strict=True)
    )
    return Figure(
        name="failures",
        caption="Hours between failures of a job of 1,000 GPUs, if failures grow with GPUs; line: exact "
        f"Poisson limits of 95{units.THIN}%. Failures, and failures per 1,000 node-days with their limits.",
        alt=alternative("Time to failure per 1,000 GPUs", values),
        chart=Intervals(
            rows, "hours, logarithmic", (("hours", 365), ("failures", 402), ("per 1,000 node-days", 493))
        ),
    )


def _hours(value: float | None) -> str:
    return "–" if value is None else units.number(value)


def _limits(value: float | None, low: float | None, high: float | None) -> str:
    """Return a figure with its limits in brackets; a missing upper limit is told as such."""
    size = max((abs(v) for v in (value, low) if v is not None), default=0.0)
    places = min(units.decimals_for(size), 2)

    def text(number: float | None) -> str:
        return "∞" if number is None else units.number(number, min(places, units.decimals_for(number)))

    if value is None:
        return f"over {text(low)}" if low is not None else "–"
    return f"{text(value)} ({text(low)}–{text(high)})"


def _build_rates(facts: Facts, rates: list[FailureRate]) -> Table:
    """Return spans, then sizes, then domains of the longest span."""
    sizes, domains = _groups(facts, "gpus"), _groups(facts, "domain")
    titled = [(f"{_span_title(r)}{r.mark}", r) for r in rates]
    titled += [(f"{_size(r.gpus_class)}{r.mark}", r) for r in sizes] if len(sizes) > 1 else []
    broken = (r for r in domains if r.failures or r.failed_starts)
    titled += [(f"cause: {(r.domain or 'unknown').replace('_', ' ')}{r.mark}", r) for r in broken]
    base = rates[-1]
    rows = tuple(
        Row(
            (
                title,
                f"{rate.attempts:,}",
                f"{rate.failures:,}",
                f"{rate.failed_starts:,}" + (f" ({rate.crash_loops:,})" if rate.crash_loops else ""),
                f"{rate.preemptions:,}",
                f"{rate.planned_ends:,}",
                units.number(rate.run_hours),
                _limits(rate.time_to_failure_h, rate.time_to_failure_low_h, rate.time_to_failure_high_h),
                units.number(rate.node_days),
                _limits(rate.per_1000_node_days, rate.per_1000_node_days_low, rate.per_1000_node_days_high),
            )
        )
        for title, rate in titled
    )
    return Table(
        name="failure-rates",
        caption="How often attempts failed"
        + (
            f"; sizes and causes over {_span_title(base)}"
            if base is not None and len(rows) > len(rates)
            else ""
        )
        + f". In brackets: exact Poisson limits of 95{units.THIN}%.",
        columns=(
            Column("", share=5),
            Column("attempts", "right"),
            Column("failures", "right"),
            Column("failed starts", "right"),
            Column("preempted", "right"),
            Column("planned ends", "right"),
            Column("run-hours", "right"),
            Column("hours to a failure", "right", share=5),
            Column("node-days", "right"),
            Column("per 1,000 node-days", "right", share=5),
        ),
        rows=rows,
        after="Attempts that failed before any step are failed starts: priced, not counted here; in "
        "brackets, rows of three or more alike (crash loops)."
        if any(rate.failed_starts for _, rate in titled)
        else "",
    )
