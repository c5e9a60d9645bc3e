"""The lanes of attempts on page 3."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.charts.attempts import Attempts, Bar, Lane, Mark
from pipeline.report.facts import Facts
from pipeline.report.model import Figure
from pipeline.report.rows import Stretch
from pipeline.report.text import anchor
from pipeline.report.words import alternative

_MOST_LANES = 16

#: More stretches than this in a lane are thinner than a printed line.
_MOST_BARS = 400


def build_attempts(facts: Facts, numbers: dict[str, str]) -> Figure:
    """Return one lane per run; of many runs, those that lost most. Without a number, no label."""
    ranked = sorted(facts.runs_goodput, key=lambda r: (-r.lost_gpu_s, r.run_id))
    shown = sorted(run.run_id for run in ranked[:_MOST_LANES])
    start, end = facts.span
    lanes = tuple(_lane(facts, run_id, numbers) for run_id in shown)
    hidden = len(ranked) - len(shown)
    values = (f"{lane.title}: {units.counted(len(lane.marks), 'interruption')}" for lane in lanes)
    return Figure(
        name="attempts",
        caption="What each run did, and where it was interrupted; numbers are those of the table."
        + (f" {hidden:,} runs that lost less are not drawn." if hidden else ""),
        alt=alternative("Lanes of runs over time", values, most=_MOST_LANES),
        chart=Attempts(start, end, lanes),
    )


def _lane(facts: Facts, run_id: str, numbers: dict[str, str]) -> Lane:
    start, end = facts.span
    stretches = [stretch for stretch in facts.lanes if stretch.run_id == run_id]
    marks = []
    for incident in facts.interruptions:
        moment = incident.moment
        if incident.run_id == run_id and moment is not None and start <= moment <= end:
            tip = f"{incident.incident_id}: {incident.title or incident.cause or 'unknown'}"
            row = anchor(f"incident-{incident.incident_id}")
            planned = incident.kind == "planned"
            marks.append(Mark(numbers.get(incident.incident_id, ""), moment, planned, row, tip))
    marks.sort(key=lambda mark: mark.moment)
    return Lane(run_id, tuple(_visible(stretches, (end - start).total_seconds())), tuple(marks))


def _visible(stretches: list[Stretch], length_s: float) -> list[Bar]:
    """Return bars; in a crowded lane those thinner than a hair go into their neighbour before."""
    bars: list[Bar] = []
    hair = length_s / 2000 if len(stretches) > _MOST_BARS else 0.0
    for stretch in stretches:
        thin = (stretch.end_ts - stretch.start_ts).total_seconds() < hair
        if bars and bars[-1].end == stretch.start_ts and (thin or bars[-1].state == stretch.lane):
            bars[-1] = Bar(bars[-1].state, bars[-1].start, stretch.end_ts)
        else:
            bars.append(Bar(stretch.lane, stretch.start_ts, stretch.end_ts))
    return bars
