"""Page 6: how well the productive time ran, what a step is spent on, and what runs are bound by."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from pipeline.report import units
from pipeline.report.charts.pace import HourOf, PacePanel, Paces, told
from pipeline.report.charts.split import PART_TITLES, SplitRow, Splits, describe
from pipeline.report.efficiency_rows import Efficiency, Pace
from pipeline.report.facts import Facts
from pipeline.report.model import Figure, Page
from pipeline.report.sections.device_tables import build_devices, build_links
from pipeline.report.sections.efficiency_tables import build_factors
from pipeline.report.sections.efficiency_verdicts import bound_by, build_verdicts, known_verdicts
from pipeline.report.sections.model_faults import build_model_faults
from pipeline.report.sections.pace_tables import build_sizes_and_stragglers, build_slow
from pipeline.report.sections.room import Part, fit_parts
from pipeline.report.text import elide
from pipeline.report.words import alternative, clause

QUESTION = "How well did the productive time run?"


def build(facts: Facts, paper: str = "a4") -> Page:
    """Return the page, with as much of each part as fits on a sheet; one line where no step is timed."""
    ran = facts.productive.efficiencies
    if not ran:
        return Page(6, "efficiency", QUESTION, "No productive time in this period.")
    if not any(pace.step_median_s is not None for pace in facts.productive.paces):
        return Page(6, "efficiency", QUESTION, "No step times in the logs of this period.")
    sentence = _sentence(facts)
    return Page(6, "efficiency", QUESTION, sentence, fit_parts(sentence, paper, _parts(facts)))


def _parts(facts: Facts) -> tuple[Part, ...]:
    """Return the parts of the page in their order: rows on a full sheet, and on an empty one."""
    largest = _largest(facts.productive.efficiencies)
    return (
        Part(lambda most: (_build_paces(facts, most),), 5, 12),
        Part(lambda most: _build_splits(largest, most), 2, 12),
        Part(lambda most: (build_verdicts(facts, most),), 2, 8),
        Part(lambda most: (build_factors(facts, most),), 2, 20),
        Part(lambda most: build_model_faults(facts, most), 1, 8),
        Part(lambda most: build_slow(facts, most), 2, 6),
        Part(lambda most: build_sizes_and_stragglers(facts, most), 2, 8),
        Part(lambda most: build_links(facts, most), 1, 4),
        Part(lambda most: build_devices(facts, most), 2, 20),
    )


def _largest(runs: Iterable[Efficiency]) -> list[Efficiency]:
    """Return the runs with most productive time first."""
    return sorted(runs, key=lambda run: (-run.productive_gpu_s, run.run_id))


def _sentence(facts: Facts) -> str:
    total, ran = facts.total, facts.productive
    if total.g_model is not None:
        text = f"Model goodput {units.percent(total.g_model)}"
    else:
        text = "Model goodput is not known"
    slow = ran.slow_gpu_s
    whole = sum(run.productive_gpu_s for run in ran.efficiencies if run.lost_gpu_s is not None)
    if slow is not None and whole and slow / whole >= 0.005:
        text += f"; slow steps cost {units.gpu_hours(slow)} GPU-hours"
    return f"{text}; {_bound(facts)}."


def _bound(facts: Facts) -> str:
    """Return what the runs are bound by; of several, what most of their time is."""
    runs = facts.productive.efficiencies
    known = known_verdicts(runs)
    if not known:
        return "no line tells what its steps are bound by"
    if len(runs) == 1:
        return bound_by(known[0])
    spent: dict[str, float] = {}
    for run in known:
        spent[run.verdict] = spent.get(run.verdict, 0.0) + run.productive_gpu_s
    verdict = max(spent, key=lambda name: (spent[name], name))
    alike = [run for run in known if run.verdict == verdict]
    if len(alike) == 1:
        return bound_by(alike[0])
    if len(alike) == len(runs):
        return bound_by(alike[0], whose=f"all {len(runs)} runs")
    share = units.percent(spent[verdict] / sum(run.productive_gpu_s for run in runs))
    return bound_by(alike[0], whose=f"{len(alike)} of {len(runs)} runs, with {share} of this time,")


def _build_paces(facts: Facts, most: int) -> Figure:
    """Return MFU by hour, or step time of runs whose FLOPs are not known."""
    by_run: dict[str, list[Pace]] = {}
    for pace in facts.productive.paces:
        by_run.setdefault(pace.run_id, []).append(pace)
    shown = [run for run in _largest(facts.productive.efficiencies) if _is_paced(by_run.get(run.run_id, []))]
    panels = tuple(_panel(run, by_run[run.run_id]) for run in shown[:most])
    hours = [hour for panel in panels for hour in panel.hours]
    values = (_described(panel) for panel in panels)
    hidden = len(facts.productive.efficiencies) - len(panels)
    return Figure(
        name="pace",
        caption=f"MFU {_each(facts)}, else step time: median of lines, 10 to 90 % of them (band), restarts "
        "(ticks), undisturbed pace (dashed)." + (f" {hidden:,} more in the table." if hidden else ""),
        alt=alternative("Pace of steps over time by run", values),
        chart=Paces(min(hour.start for hour in hours), max(hour.end for hour in hours), panels),
    )


def _each(facts: Facts) -> str:
    """Return in which stretches time is cut."""
    seconds = facts.productive.paces[0].bin_s
    return "by hour" if seconds == units.HOUR else f"in stretches of {units.duration(seconds)}"


def _described(panel: PacePanel) -> str:
    """Return what a panel shows, for the text alternative."""
    first, last = panel.hours[0], panel.hours[-1]
    text = f"from {told(first)} to {told(last)}" if len(panel.hours) > 1 else told(first)
    restarts = sum(count for _, count in panel.restarts)
    more = f", {units.counted(restarts, 'restart')}" if restarts else ""
    return f"{panel.title} ({panel.subtitle}) {text}{units.THIN}{panel.unit}{more}"


def _is_paced(paces: list[Pace]) -> bool:
    return any(pace.step_median_s is not None for pace in paces)


def _panel(run: Efficiency, paces: list[Pace]) -> PacePanel:
    timed = [pace for pace in paces if pace.step_median_s is not None]
    knows_mfu = all(pace.mfu_median is not None for pace in timed)
    hours = tuple(_hour(pace, knows_mfu) for pace in timed)
    restarts = tuple((pace.first_restart_ts or pace.bin_ts, pace.restarts) for pace in paces if pace.restarts)
    if knows_mfu:
        reference = None if run.reference_mfu is None else 100 * run.reference_mfu
        median = units.percent(run.mfu_median)
        return PacePanel(run.run_id, f"MFU, median {median}", "MFU", "%", hours, restarts, reference)
    median = "–" if run.step_median_s is None else units.duration(run.step_median_s)
    subtitle = f"step time, median {median}"
    return PacePanel(run.run_id, subtitle, run.run_id, "s", hours, restarts, run.reference_step_s)


def _hour(pace: Pace, knows_mfu: bool) -> HourOf:
    start, end = pace.start_ts or pace.bin_ts, pace.end_ts or pace.bin_ts + timedelta(seconds=pace.bin_s)
    if knows_mfu:
        low, middle, high = (100 * (v or 0.0) for v in (pace.mfu_p10, pace.mfu_median, pace.mfu_p90))
    else:
        low, middle, high = (v or 0.0 for v in (pace.step_p10_s, pace.step_median_s, pace.step_p90_s))
    return HourOf(start, end, low, middle, high)


def _build_splits(runs: list[Efficiency], most: int) -> tuple[Figure, ...]:
    """Return how a step of each run divides, or why nothing tells; nothing where that is so of all runs."""
    rows = tuple(_split(run) for run in runs[:most])
    if not any(row.shares for row in rows):
        return ()
    hidden = len(runs) - len(rows)
    figure = Figure(
        name="split",
        caption="What a step at the reference pace is spent on; communication, copies and waits where "
        "nothing is computed." + (f" {hidden:,} more in the table." if hidden else ""),
        alt=alternative("Parts of a step by run", (describe(row) for row in rows)),
        chart=Splits(rows),
    )
    return (figure,)


def _split(run: Efficiency) -> SplitRow:
    shares = {part: getattr(run, f"{part}_share") for part in PART_TITLES}
    if run.exposed_comm_share is None and run.compute_share is not None:
        # What is not told of communication lies in computing.
        shares |= {"compute": None, "other": run.compute_share + (run.other_share or 0.0)}
    parts = tuple((part, share) for part, share in shares.items() if share is not None)
    pace = "" if run.reference_step_s is None else f"{units.duration(run.reference_step_s)} a step"
    if not any(part != "other" and share > 0 for part, share in parts):
        reason = run.network_reason or run.verdict_reason or "no line tells the parts of its steps"
        return SplitRow(elide(run.run_id), (), pace, clause(reason))
    source = (run.evidence_source or "").replace("comms", "timed communication").replace("_", " ")
    return SplitRow(elide(run.run_id), parts, ", ".join(filter(None, (pace, source))))
