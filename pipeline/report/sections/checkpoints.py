"""Page 5: what saves cost, what they save, and which interval between them would cost least."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.charts.lost import LostDot, LostRow, LostWork
from pipeline.report.charts.overhead import OverheadPanel, Overheads
from pipeline.report.charts.strips import Dots, Strip, Strips, describe
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Figure, Page
from pipeline.report.reliability_rows import FEWEST_FAILURES
from pipeline.report.saving_rows import CheckpointCost, Checkpoints, Stall
from pipeline.report.sections.checkpoint_tables import build_expected, build_savings
from pipeline.report.sections.given import Given
from pipeline.report.text import anchor, elide
from pipeline.report.words import alternative, clause

QUESTION = "What do checkpoints cost and save?"
_MOST_ROWS = 12
_MOST_PANELS = 3


def build(facts: Facts, given: Given) -> Page:
    """Return the page; one line where the period saw no save."""
    active = tuple(run for run in facts.checkpoints if run.saves)
    if not active:
        return Page(5, "checkpoints", QUESTION, _nothing(facts))
    shown = _largest(active)
    costs = {cost.run_id: cost for cost in facts.checkpoint_costs}
    blocks: list[Block] = []
    blocks.append(_build_strips(facts, shown, len(active) - len(shown)))
    lost = _build_lost(facts, shown, costs)
    if lost is not None:
        blocks.append(lost)
    curves = _build_overheads(facts, costs)
    if curves is not None:
        blocks.append(curves)
    blocks.append(build_savings(facts, active, costs))
    blocks.extend(build_expected(facts))
    return Page(5, "checkpoints", QUESTION, _sentence(active, costs), tuple(blocks))


def _nothing(facts: Facts) -> str:
    restores = sum(run.restores for run in facts.checkpoints)
    if restores:
        return f"No save in the logs of this period; {units.counted(restores, 'restore')} of earlier ones."
    return "No checkpoint events in the logs of this period."


def _largest(runs: tuple[Checkpoints, ...]) -> list[Checkpoints]:
    """Return the runs whose saves and losses cost most, in order of their names."""
    ranked = sorted(runs, key=lambda run: (-(run.stalled_gpu_s + run.lost_gpu_s), run.run_id))
    return sorted(ranked[:_MOST_ROWS], key=lambda run: run.run_id)


def _sentence(runs: tuple[Checkpoints, ...], costs: dict[str, CheckpointCost]) -> str:
    saves = sum(run.saves for run in runs)
    stalled = sum(run.stalled_gpu_s for run in runs)
    losing = sum(run.losing_incidents for run in runs)
    text = f"{units.counted(saves, 'save')} stalled the loop for {units.gpu_hours(stalled)} GPU-hours"
    if losing:
        lost = units.gpu_hours(sum(run.lost_gpu_s for run in runs))
        text += f", and {units.counted(losing, 'interruption')} lost {lost} GPU-hours of work"
    else:
        text += ", and no interruption lost work"
    return f"{text}; {_advice([costs[run.run_id] for run in runs if run.run_id in costs])}."


def _advice(costs: list[CheckpointCost]) -> str:
    """Return what the model makes of the intervals used."""
    known = [cost for cost in costs if cost.young_s is not None]
    if not known:
        reasons = sorted({clause(cost.reason) for cost in costs if cost.reason})
        reason = reasons[0] if len(reasons) == 1 else "each run says why in the table"
        return f"the best interval is not known ({reason})" if reasons else "the best interval is not known"
    sure = [cost for cost in known if cost.failures >= FEWEST_FAILURES]
    if not sure:
        basis = units.counted(sum(cost.failures for cost in known), "failure")
        return f"{basis} cannot tell which interval would cost least: the table has what they suggest"
    gains = [cost for cost in sure if cost.gain_gpu_s_per_week is not None and cost.gain_gpu_s_per_week > 0]
    if not gains:
        whose = "the interval used is" if len(sure) == 1 else "the intervals used are"
        return f"{whose} within 5{units.THIN}% of the least that they could cost"
    best = max(gains, key=lambda cost: (cost.gain_gpu_s_per_week or 0.0, cost.run_id))
    gain = units.gpu_hours(sum(cost.gain_gpu_s_per_week or 0.0 for cost in gains))
    if len(gains) > 1:
        basis = units.counted(sum(cost.failures for cost in gains), "failure")
        text = f"other intervals in {units.counted(len(gains), 'run')} would gain {gain} GPU-hours a week"
        return f"{text}, judging by {basis}"
    name = f" in {elide(best.run_id)}" if len(costs) > 1 else ""
    return (
        f"a save each {units.duration(best.suggested_s or 0.0)} instead of "
        f"{units.duration(best.interval_s or 0.0)}{name} would gain {gain} GPU-hours a week, "
        f"judging by {units.counted(best.failures, 'failure')}"
    )


def _build_strips(facts: Facts, runs: list[Checkpoints], hidden: int) -> Figure:
    rows = tuple(
        Strip(
            run.run_id,
            tuple(_dots(run.run_id, stall) for stall in facts.stalls if stall.run_id == run.run_id),
            run.stall_median_s,
            _note(run),
        )
        for run in runs
    )
    return Figure(
        name="saves",
        caption="How long the loop stood still for each save, logarithmic."
        + (f" The {_MOST_ROWS} runs with most at stake; {hidden:,} more in the table." if hidden else ""),
        alt=alternative("Stall of each save by run", (describe(row) for row in rows)),
        chart=Strips(rows),
    )


def _dots(run_id: str, stall: Stall) -> Dots:
    length = "stall not timed" if stall.stall_s is None else units.duration(stall.stall_s)
    return Dots(
        stall.stall_s,
        stall.saves,
        stall.outcome in ("failed", "never committed"),
        f"{run_id}: {units.counted(stall.saves, 'save')}, {length}, {stall.outcome}",
    )


def _note(run: Checkpoints) -> str:
    """Return how many saves there were, and how many of them came to nothing."""
    bad = run.failed_saves + run.uncommitted_saves
    return units.counted(run.saves, "save") + (f", {bad:,} came to nothing" if bad else "")


def _build_lost(facts: Facts, runs: list[Checkpoints], costs: dict[str, CheckpointCost]) -> Figure | None:
    """Return work lost against the interval; None where no run has both."""
    numbers = {incident.incident_id: str(n) for n, incident in enumerate(facts.interruptions, 1)}
    rows: list[LostRow] = []
    for run in runs:
        if run.interval_s is None or run.interval_s <= 0 or not run.losing_incidents:
            continue
        dots = [
            LostDot(
                incident.lost_work_s / run.interval_s,
                numbers[incident.incident_id],
                anchor(f"incident-{incident.incident_id}"),
                f"no. {numbers[incident.incident_id]}: {units.duration(incident.lost_work_s)}, "
                f"{units.number(incident.lost_work_s / run.interval_s, 2)} intervals",
            )
            for incident in facts.interruptions
            if incident.run_id == run.run_id and incident.lost_work_s and facts.happened(incident)
        ]
        if dots:
            note = f"interval {units.duration(run.interval_s)}, median lost "
            note += units.duration(run.lost_median_s or 0.0)
            rows.append(LostRow(run.run_id, tuple(dots), note))
    if not rows:
        return None
    values = (
        f"{row.title} {units.counted(len(row.dots), 'interruption')}, {row.note}, "
        f"{sum(dot.multiple > 0.5 for dot in row.dots)} above half an interval"
        for row in rows
    )
    return Figure(
        name="lost",
        caption="Work lost by each interruption, in intervals between saves. Beyond one interval, a save "
        "was missing or was not the one that was loaded.",
        alt=alternative("Work lost by interruption against the interval between saves", values),
        chart=LostWork(tuple(rows)),
    )


def _build_overheads(facts: Facts, costs: dict[str, CheckpointCost]) -> Figure | None:
    """Return the curves of the runs that would gain most; None where no run has a minimum."""
    known = [cost for cost in costs.values() if cost.young_s is not None]
    known.sort(key=lambda cost: (-(cost.gain_gpu_s_per_week or 0.0), cost.run_id))
    panels: list[OverheadPanel] = []
    for cost in known[:_MOST_PANELS]:
        curve = tuple(
            (point.interval_s, point.stall_share, point.overhead)
            for point in facts.checkpoint_curves
            if point.run_id == cost.run_id
        )
        if not curve or cost.young_s is None or cost.overhead_least is None:
            continue
        used = None
        if cost.interval_s is not None and cost.overhead_used is not None:
            used = (cost.interval_s, cost.overhead_used)
        panels.append(
            OverheadPanel(
                title=cost.run_id,
                curve=curve,
                flat=(cost.flat_from_s or cost.young_s, cost.flat_to_s or cost.young_s),
                least=(cost.young_s, cost.overhead_least),
                used=used,
                measured=cost.overhead_measured,
            )
        )
    if not panels:
        return None
    hidden = len(known) - len(panels)
    return Figure(
        name="overhead",
        caption="Overhead, in share of progress, against the interval between saves, logarithmic: stalls and "
        "expected lost work (black), stalls alone (grey). Measured: what this period really paid."
        + (f" {hidden:,} more runs in the table." if hidden else ""),
        alt=alternative("Modelled overhead against the interval between saves", map(_told, panels)),
        chart=Overheads(tuple(panels)),
    )


def _told(panel: OverheadPanel) -> str:
    text = (
        f"{panel.title} least {units.percent(panel.least[1])} at {units.duration(panel.least[0])}, flat from "
    )
    text += f"{units.duration(panel.flat[0])} to {units.duration(panel.flat[1])}"
    if panel.used:
        text += f", used {units.duration(panel.used[0])} with {units.percent(panel.used[1])}"
    return text
