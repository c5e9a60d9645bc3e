"""Page 3: what broke, when, and what it cost."""

from __future__ import annotations

import shlex
from collections import defaultdict
from datetime import timedelta

from pipeline.report import units
from pipeline.report.charts.palette import ORDER, TITLES, layer_of
from pipeline.report.charts.pareto import Pareto, ParetoRow
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Column, Figure, Page, Row, Table
from pipeline.report.rows import Cause, Incident
from pipeline.report.sections.given import Given
from pipeline.report.sections.lanes import build_attempts
from pipeline.report.sections.verdicts import build_verdicts, count_contradicted
from pipeline.report.text import anchor, elide
from pipeline.report.words import alternative, clause, marks_of, quoted

_MOST_INCIDENTS = 20
_MOST_CAUSES = 12

#: Characters of evidence that are printed.
_MOST_TEXT = 240


def build(facts: Facts, given: Given) -> Page:
    """Return the page."""
    numbers = {incident.incident_id: str(n) for n, incident in enumerate(facts.interruptions, 1)}
    printed = _printed(facts)
    blocks: list[Block] = [build_attempts(facts, {i: n for i, n in numbers.items() if i in printed})]
    if facts.loss_causes:
        blocks.append(_build_pareto(facts))
    if facts.interruptions:
        blocks.append(_build_incidents(facts, numbers))
    if facts.verdicts:
        blocks.append(build_verdicts(facts))
    return Page(
        number=3,
        key="broke",
        question="What broke?",
        sentence=_sentence(facts, numbers) + _of_verdicts(facts),
        blocks=tuple(blocks),
        marks=marks_of(
            [
                *(incident.mark for incident in facts.interruptions),
                *(cause.mark for cause in facts.loss_causes if cause.is_incident),
            ]
        ),
    )


def _sentence(facts: Facts, numbers: dict[str, str]) -> str:
    inside = [incident for incident in facts.interruptions if facts.happened(incident)]
    size = units.gpu_hours(sum(i.period_gpu_s for i in facts.interruptions))
    if not facts.interruptions:
        attempts = sum(run.attempts or 0 for run in facts.runs)
        return f"Nothing broke: {units.counted(attempts, 'attempt')}, no interruption."
    if not inside:
        others = units.counted(len(facts.interruptions), "interruption")
        return f"Nothing broke in this period; {others} before or after cost {size} GPU-hours of it."
    count = sum(incident.is_disruption for incident in inside)
    what = units.counted(count, "disruption") if count else "no disruption"
    if count < len(inside):
        what += f" and {units.counted(len(inside) - count, 'planned end')}"
    text = f"{what[:1].upper()}{what[1:]} cost {size} GPU-hours"
    if len(facts.interruptions) > 1:
        top = max(facts.interruptions, key=lambda i: (i.period_gpu_s, i.incident_id))
        text += f"; the costliest was no.{units.SPACE}{numbers[top.incident_id]}, {_cause(top)}: "
        text += f"{units.gpu_hours(top.period_gpu_s)} GPU-hours"
    return f"{text}."


def _of_verdicts(facts: Facts) -> str:
    """Return a sentence about verdicts that the logs contradict, or nothing."""
    number = count_contradicted(facts)
    if not number:
        return ""
    return f" The logs contradict {number:,} of {units.counted(len(facts.verdicts), 'verdict')}."


def _cause(incident: Incident) -> str:
    return quoted(incident.title or incident.cause or "unknown")


def _build_pareto(facts: Facts) -> Figure:
    """Return causes by GPU-hours lost; what no incident brought about is one row at the foot."""
    everything = sum(cause.loss_gpu_s for cause in facts.loss_causes)
    incidents = [cause for cause in facts.loss_causes if cause.is_incident]
    shown = incidents if len(incidents) <= _MOST_CAUSES else incidents[: _MOST_CAUSES - 1]
    rest, others = incidents[len(shown) :], [cause for cause in facts.loss_causes if not cause.is_incident]
    rows: list[ParetoRow] = []
    done = 0.0
    groups: list[tuple[str, list[Cause], bool]] = [(f"{c.title}{c.mark or ''}", [c], True) for c in shown]
    groups.append((f"{len(rest):,} other causes", rest, True))
    groups.append(("without an interruption", others, False))
    for title, causes, counted in groups:
        gpu_s = sum(cause.loss_gpu_s for cause in causes)
        if gpu_s <= 0:
            continue
        done += gpu_s
        events = sum(cause.events or 0 for cause in causes) if counted else None
        rows.append(ParetoRow(title, _parts(causes), events, done / everything))
    values = (f"{row.title} {units.gpu_hours(row.gpu_s)} GPU-hours" for row in rows)
    return Figure(
        name="pareto",
        caption="Training capacity lost by cause, GPU-hours: lost work (solid), time without progress "
        "(hatched); the last row by layer. Number of interruptions, cumulative share.",
        alt=alternative("Causes by GPU-hours lost", values, most=14),
        chart=Pareto(tuple(rows)),
    )


def _parts(causes: list[Cause]) -> tuple[tuple[str, str, float], ...]:
    """Return lost work and time without progress; what no incident brought about is told by layer."""
    if causes[0].is_incident:
        lost = sum(cause.lost_work_gpu_s for cause in causes)
        rest = sum(cause.loss_gpu_s for cause in causes) - lost
        return (("framework", "lost work", lost), ("infrastructure", "time without progress", max(rest, 0.0)))
    sums: dict[str, float] = defaultdict(float)
    for cause in causes:
        sums[layer_of(cause.layer or "unknown")] += cause.loss_gpu_s
    return tuple((layer, TITLES[layer].lower(), sums[layer]) for layer in ORDER if layer in sums)


def _build_incidents(facts: Facts, numbers: dict[str, str]) -> Table:
    """Return interruptions in order of time; of more than twenty, the costliest twenty come first."""
    everything = facts.interruptions
    kept = _printed(facts)
    lengths = [max(i.lost_work_s or 0.0, i.downtime_s or 0.0) for i in everything]
    unit, per = units.time_unit(max(lengths))
    time_decimals = min(units.decimals_for(max(lengths) / per), 1)
    decimals = units.gpu_hours_decimals([sum(i.period_gpu_s for i in everything)])
    several = len(facts.runs_goodput) > 1
    years = facts.total.start.year != facts.total.end.year
    short = facts.span[1] - facts.span[0] < timedelta(hours=2)

    def length(seconds: float | None) -> str:
        return "–" if seconds is None else units.number(seconds / per, time_decimals)

    def row(incident: Incident) -> Row:
        title = f"{incident.title or incident.cause or 'unknown'}{incident.mark or ''}"
        return Row(
            (
                numbers[incident.incident_id],
                units.stamp(incident.moment, seconds=short, year=years),
                *((elide(incident.run_id),) if several else ()),
                "–" if incident.gpus is None else f"{incident.gpus:,}",
                title if incident.kind != "planned" else f"{title} (planned)",
                "verdict" if _is_verdict(incident) else incident.confidence or "–",
                elide(_place(incident)),
                length(incident.lost_work_s),
                length(incident.downtime_s),
                units.gpu_hours(incident.period_gpu_s, decimals),
                incident.owner or "–",
            ),
            detail=_evidence(incident),
            anchor=anchor(f"incident-{incident.incident_id}"),
        )

    blank = ("", "all", *(("",) if several else ()), "", "", "", "")
    total = Row(
        (*blank, "", "", units.gpu_hours(sum(i.period_gpu_s for i in everything), decimals), ""),
        weight="total",
    )
    hidden = len(everything) - len(kept)
    outside = sum((i.total_gpu_s or 0.0) - i.period_gpu_s for i in everything)
    notes = [f"Planned time, and time outside this period: {units.gpu_hours(outside)} GPU-h more."]
    notes = notes if outside > 1 else []
    if any(i.lost_work_s is None for i in everything):
        notes.append("Lost work –: no log tells whether the attempt made steps, so that it is not known.")
    return Table(
        name="incidents",
        caption="Interruptions in order of time, each with the command that tells its story."
        + (f" The {_MOST_INCIDENTS} costliest; {hidden:,} more in review.html." if hidden else ""),
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
        after=" ".join(notes),
    )


def _place(incident: Incident) -> str:
    """Return host and GPU of an incident; a bare number is the index of a GPU."""
    gpu = f"GPU {incident.gpu}" if incident.gpu and incident.gpu.isdigit() else incident.gpu
    return " ".join(part for part in (incident.host, gpu) if part) or "–"


def _printed(facts: Facts) -> set[str]:
    """Return the incidents that every print shows: the costliest."""
    ranked = sorted(facts.interruptions, key=lambda i: (-i.period_gpu_s, i.incident_id))
    return {incident.incident_id for incident in ranked[:_MOST_INCIDENTS]}


def _is_verdict(incident: Incident) -> bool:
    """Return whether a person decided the cause."""
    return (incident.confidence_reason or "").startswith("a person's verdict")


def _evidence(incident: Incident) -> str:
    parts = [f"goodput explain {shlex.quote(incident.incident_id)}"]
    if _is_verdict(incident) and incident.confidence_reason:
        parts.append(clause(elide(incident.confidence_reason, _MOST_TEXT)))
    if incident.evidence:
        parts.append(f"{incident.evidence}  {elide(incident.evidence_text or '', _MOST_TEXT)}".rstrip())
    elif incident.confidence_reason:
        parts.append(clause(incident.confidence_reason))
    return " · ".join(parts)
