"""Page 3: what broke, when, and what it cost."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.charts.pareto import Pareto, ParetoRow
from pipeline.report.facts import Cause, Facts, Incident
from pipeline.report.model import Block, Column, Figure, Page, Row, Table
from pipeline.report.sections.given import Given
from pipeline.report.sections.lanes import build_attempts
from pipeline.report.text import anchor
from pipeline.report.words import alternative, clause, in_sentence, marks_of

_MOST_INCIDENTS = 20
_MOST_CAUSES = 12


def build(facts: Facts, given: Given) -> Page:
    """Return the page."""
    numbers = {incident.incident_id: str(n) for n, incident in enumerate(facts.interruptions, 1)}
    blocks: list[Block] = [build_attempts(facts, numbers)]
    if any(cause.gpu_s > 0 for cause in facts.causes):
        blocks.append(_build_pareto(facts))
    if facts.interruptions:
        blocks.append(_build_incidents(facts, numbers))
    return Page(
        number=3,
        key="broke",
        question="What broke?",
        sentence=_sentence(facts, numbers),
        blocks=tuple(blocks),
        marks=marks_of(incident.mark for incident in facts.interruptions),
    )


def _sentence(facts: Facts, numbers: dict[str, str]) -> str:
    count = len(facts.disruptions)
    planned = len(facts.interruptions) - count
    if not facts.interruptions:
        attempts = sum(run.attempts or 0 for run in facts.runs)
        return f"Nothing broke: none of {units.counted(attempts, 'attempt')} was interrupted."
    what = units.counted(count, "disruption") if count else "no disruption"
    if planned:
        what += f" and {units.counted(planned, 'planned end')}"
    cost = sum(i.total_gpu_s or 0.0 for i in facts.interruptions)
    text = f"{what[:1].upper()}{what[1:]} cost {units.gpu_hours(cost)} GPU-hours"
    if len(facts.interruptions) > 1:
        top = max(facts.interruptions, key=lambda i: (i.total_gpu_s or 0.0, i.incident_id))
        size = units.gpu_hours(top.total_gpu_s or 0.0)
        text += f"; the dearest was no. {numbers[top.incident_id]}, {_cause(top)}: {size} GPU-hours"
    return f"{text}."


def _cause(incident: Incident) -> str:
    return in_sentence(incident.title or incident.cause or "unknown cause")


def _build_pareto(facts: Facts) -> Figure:
    """Return causes by GPU-hours lost; what no incident brought about is one row at the foot."""
    everything = sum(cause.gpu_s for cause in facts.causes)
    incidents = [cause for cause in facts.causes if cause.is_incident and cause.gpu_s > 0]
    shown = incidents if len(incidents) <= _MOST_CAUSES else incidents[: _MOST_CAUSES - 1]
    rest, others = incidents[len(shown) :], [cause for cause in facts.causes if not cause.is_incident]
    rows: list[ParetoRow] = []
    done = 0.0
    groups: list[tuple[str, list[Cause], bool]] = [(f"{c.title}{c.mark or ''}", [c], True) for c in shown]
    groups.append((f"{len(rest):,} other causes", rest, True))
    groups.append(("without an interruption", others, False))
    for title, causes, counted in groups:
        gpu_s = sum(cause.gpu_s for cause in causes)
        if gpu_s <= 0:
            continue
        done += gpu_s
        events = sum(cause.events or 0 for cause in causes) if counted else None
        rows.append(ParetoRow(title, _parts(causes, gpu_s), events, done / everything))
    values = (f"{row.title} {units.gpu_hours(row.gpu_s)} GPU-hours" for row in rows)
    return Figure(
        name="pareto",
        caption="Time that was not productive by cause, GPU-hours: lost work (solid) and time without "
        "progress (hatched); number of interruptions; cumulative share.",
        alt=alternative("Causes by GPU-hours lost", values, most=14),
        chart=Pareto(tuple(rows)),
    )


def _parts(causes: list[Cause], gpu_s: float) -> tuple[tuple[str, str, float], ...]:
    lost = sum(cause.lost_work_gpu_s for cause in causes)
    return (
        ("framework", "lost work", lost),
        ("infrastructure", "time without progress", max(gpu_s - lost, 0.0)),
    )


def _build_incidents(facts: Facts, numbers: dict[str, str]) -> Table:
    """Return interruptions in order of time; of more than twenty, the dearest twenty come first."""
    everything = facts.interruptions
    ranked = sorted(everything, key=lambda i: (-(i.total_gpu_s or 0.0), i.incident_id))
    kept = {i.incident_id for i in ranked[:_MOST_INCIDENTS]}
    lengths = [max(i.lost_work_s or 0.0, i.downtime_s or 0.0) for i in everything]
    unit, per = units.time_unit(max(lengths))
    time_decimals = min(units.decimals_for(max(lengths) / per), 1)
    decimals = units.gpu_hours_decimals([sum(i.total_gpu_s or 0.0 for i in everything)])
    several = len(facts.runs_goodput) > 1
    short = (facts.total.end - facts.total.start).total_seconds() < 7200

    def length(seconds: float | None) -> str:
        return "–" if seconds is None else units.number(seconds / per, time_decimals)

    def row(incident: Incident) -> Row:
        title = f"{incident.title or incident.cause or 'unknown'}{incident.mark or ''}"
        return Row(
            (
                numbers[incident.incident_id],
                units.stamp(incident.moment, seconds=short),
                *((incident.run_id,) if several else ()),
                "–" if incident.gpus is None else f"{incident.gpus:,}",
                title if incident.kind != "planned" else f"{title} (planned)",
                incident.confidence or "–",
                " ".join(part for part in (incident.host, incident.gpu) if part) or "–",
                length(incident.lost_work_s),
                length(incident.downtime_s),
                units.gpu_hours(incident.total_gpu_s or 0.0, decimals),
                incident.owner or "–",
            ),
            detail=_evidence(incident),
            anchor=anchor(f"incident-{incident.incident_id}"),
        )

    blank = ("", "all", *(("",) if several else ()), "", "", "", "")
    total = Row(
        (*blank, "", "", units.gpu_hours(sum(i.total_gpu_s or 0.0 for i in everything), decimals), ""),
        weight="total",
    )
    hidden = len(everything) - len(kept)
    return Table(
        name="incidents",
        caption="Interruptions in order of time. Each id is understood by goodput explain."
        + (f" The {_MOST_INCIDENTS} dearest; {hidden:,} more are in the HTML print." if hidden else ""),
        columns=(
            Column("#", "right"),
            Column("when", share=4),
            *((Column("run", share=4),) if several else ()),
            Column("GPUs", "right"),
            Column("cause", share=7),
            Column("confidence"),
            Column("host, GPU", share=4),
            Column(f"lost work, {unit}", "right"),
            Column(f"down, {unit}", "right"),
            Column("GPU-h", "right"),
            Column("owner", share=4),
        ),
        rows=(*(row(i) for i in everything if i.incident_id in kept), total),
        more=tuple(row(i) for i in everything if i.incident_id not in kept),
    )


def _evidence(incident: Incident) -> str:
    parts = [incident.incident_id]
    if incident.evidence:
        parts.append(f"{incident.evidence}  {incident.evidence_text or ''}".rstrip())
    elif incident.confidence_reason:
        parts.append(clause(incident.confidence_reason))
    return " · ".join(parts)
