"""Page 4: how long attempts live, and how fast runs are back."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.charts.recovery import Recovery, RecoveryRow
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Column, Figure, Page, Row, Table
from pipeline.report.reliability_rows import Phase, PhaseSummary
from pipeline.report.sections.given import Given
from pipeline.report.sections.lives import build_lives, longest
from pipeline.report.text import anchor
from pipeline.report.words import alternative, marks_of

#: Fewer disruptions than this have no median worth a row of its own.
_FEWEST = 3

#: Number of the phase in which steps are made again; what lies before it is downtime.
_CATCH_UP = "catch_up"


def build(facts: Facts, given: Given) -> Page:
    """Return the page; without a failure and without a recovery it is one line."""
    blocks: list[Block] = list(build_lives(facts))
    phases = [s for s in facts.reliability.recovery if not s.phase.startswith("(")]
    if any(s.median_s is not None for s in phases):
        if any(s.median_s for s in phases):
            blocks.append(_build_anatomy(facts, phases))
        blocks.append(_build_phases(facts))
    marks = [rate.mark for rate in facts.reliability.rates if rate.failures and blocks]
    marks += [i.mark or "" for i in facts.interruptions if _phases_of(facts, i.incident_id)]
    return Page(
        number=4,
        key="recovery",
        question="How long do attempts live, and how fast do we recover?",
        sentence=_sentence(facts),
        blocks=tuple(blocks),
        marks=marks_of(marks),
    )


def _sentence(facts: Facts) -> str:
    base, known = longest(facts), facts.reliability
    whole = next((s for s in known.recovery if s.phase == "(all)" and s.median_s is not None), None)
    back = ""
    if whole is not None and whole.median_s is not None:
        many = f" (median of {whole.disruptions:,})" if whole.disruptions > 1 else ""
        back = f"after a disruption it took {units.duration(whole.median_s)} to the next step{many}"
    if base is None:
        text = "No attempt made a step: there is no life of an attempt to tell of"
    elif base.failures == 0:
        text = f"No attempt failed in {units.duration(base.run_hours * units.HOUR)} of training"
        if base.time_to_failure_low_h:
            limit = units.duration(base.time_to_failure_low_h * units.HOUR)
            text += f", which puts the time to failure above {limit} (limit of 95{units.THIN}%)"
    elif known.median_life_s is not None:
        text = f"Half of the attempts live longer than {units.duration(known.median_life_s)}"
    elif known.has_curve:
        left = units.percent(known.survival[-1].survival)
        text = f"{left} of the attempts live longer than {units.duration(known.survival[-1].age_s)}"
    else:
        count = units.counted(base.failures, "failure")
        text = (
            f"Fewer than five failures: {count} in {units.duration(base.run_hours * units.HOUR)} of training"
        )
    return f"{text}; {back}." if back else f"{text}."


def _phases_of(facts: Facts, incident_id: str) -> list[Phase]:
    return [p for p in facts.reliability.phases if p.incident_id == incident_id]


def _build_anatomy(facts: Facts, summary: list[PhaseSummary]) -> Figure:
    """Return one row per disruption where they are few, and what is usual where they are several."""
    rows: list[RecoveryRow] = []
    for number, incident in enumerate(facts.interruptions, 1):
        phases = _phases_of(facts, incident.incident_id)
        known = tuple((p.rank, p.seconds) for p in phases if p.seconds is not None)
        if known:
            title = f"{number}  {incident.title or incident.cause or 'unknown'}{incident.mark or ''}"
            note = "restarted inside its allocation" if phases[0].inside_allocation else ""
            back = any(p.phase == "first_step" and p.seconds is not None for p in phases)
            note = note if back else "; ".join(part for part in (note, "no step yet") if part)
            rows.append(RecoveryRow(title, known, anchor(f"incident-{incident.incident_id}"), note))
    if len(rows) >= _FEWEST or not rows:
        for title, value in (("median of each", "median_s"), ("90th percentile", "p90_s")):
            known = tuple(
                (s.rank, float(getattr(s, value))) for s in summary if getattr(s, value) is not None
            )
            rows.append(RecoveryRow(title, known))
    values = (
        f"{row.title} {units.duration(sum(seconds for _, seconds in row.phases))}"
        + (f", {row.note}" if row.note else "")
        for row in rows
    )
    return Figure(
        name="anatomy",
        caption="Recovery from each disruption, phase by phase; numbers before causes are those of page 3. "
        "A phase whose end is not known is part of the next one."
        if len(rows) != 2 or rows[0].anchor
        else "Recovery phase by phase: median and 90th percentile of each phase.",
        alt=alternative("From the fault until a run had caught up", values, most=14),
        chart=Recovery(tuple(rows), tuple(s.title for s in sorted(summary, key=lambda s: s.rank))),
    )


def _build_phases(facts: Facts) -> Table:
    """Return what each phase took; times that several phases share stand below a rule."""
    summary = [s for s in facts.reliability.recovery if s.median_s is not None]
    longest_s = max(s.worst_s or 0.0 for s in summary)
    unit, per = units.time_unit(longest_s)
    places = min(units.decimals_for(longest_s / per), 1)
    numbers = {incident.incident_id: str(n) for n, incident in enumerate(facts.interruptions, 1)}

    def length(seconds: float | None) -> str:
        return "–" if seconds is None else units.number(seconds / per, places)

    def row(s: PhaseSummary) -> Row:
        number = numbers.get(s.worst_incident_id or "")
        return Row(
            (
                str(s.rank) if s.owner else "",
                s.title,
                f"{s.disruptions:,}",
                length(s.median_s),
                length(s.p90_s),
                length(s.worst_s),
                f"no.{units.SPACE}{number}" if number else "–",
                units.percent(s.downtime_share),
                s.owner or "–",
            )
        )

    return Table(
        name="recovery-phases",
        caption="Phases of recovery over the disruptions of the period; shares are of GPU-hours without "
        "progress. Medians do not add up.",
        columns=(
            Column("#", "right"),
            Column("phase", share=7),
            Column("known for", "right"),
            Column(f"median, {unit}", "right"),
            Column(f"p90, {unit}", "right"),
            Column(f"worst, {unit}", "right"),
            Column("which"),
            Column("share of downtime", "right"),
            Column("owner", share=5),
        ),
        rows=tuple(row(s) for s in summary),
        after="While it catches up a run makes steps again that had been lost: no downtime. Hang: the loop "
        "stood still and nobody had noticed.",
    )
