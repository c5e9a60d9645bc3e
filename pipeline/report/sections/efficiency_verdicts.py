"""What runs are bound by, in words, and the change of each that would pay most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.report import units
from pipeline.report.efficiency_rows import Efficiency
from pipeline.report.facts import Facts
from pipeline.report.model import Item, Listing
from pipeline.report.text import elide
from pipeline.report.words import clause

NOT_KNOWN = "not_known"

#: Runs of one verdict that are named in the line on those without an item.
_MOST_NAMES = 4

_BOUND = {
    "network_bound": "bound by the network",
    "memory_bound": "bound by memory",
    "compute_bound": "bound by computing",
    "input_bound": "bound by its input",
    "bubble_bound": "bound by the bubble of its pipeline",
    "balanced": "balanced: no part of a step stands out",
}

#: The share that a verdict speaks of, and what it is called.
_FIGURES: Mapping[str, tuple[str, str]] = {
    "network_bound": ("exposed_comm_share", "{share} of a step is exposed communication"),
    "memory_bound": ("memory_copy_share", "{share} of a step is copies under which nothing else runs"),
    "compute_bound": ("compute_share", "{share} of a step computes"),
    "input_bound": ("data_wait_share", "{share} of a step waits for data"),
    "bubble_bound": ("bubble_share", "{share} of a step is bubble"),
}

#: What ends that would pay, and how.
_CHANGES = {
    "data_wait": "feeding steps without a wait",
    "exposed_comm": "hiding communication under computing",
    "bubble": "closing the bubble of the pipeline",
    "memory_copy": "hiding copies under computing",
    "compute": "computing faster",
    "steady_pace": "keeping the reference pace",
    "slow_ranks": "bringing slow ranks up to the others",
}


def known_verdicts(runs: Iterable[Efficiency]) -> list[Efficiency]:
    """Return the runs of which it is known what they are bound by."""
    return [run for run in runs if run.verdict != NOT_KNOWN]


def bound_by(run: Efficiency, whose: str = "") -> str:
    """Return the clause on what a run is bound by, with the figure that says so."""
    words = _BOUND.get(run.verdict, run.verdict.replace("_", " "))
    if whose:
        return f"{whose} are {words.replace('its', 'their')}"
    figure = _figure(run)
    return f"{elide(run.run_id)} is {words}" + (f" ({figure})" if figure else "")


def _figure(run: Efficiency) -> str:
    if run.verdict not in _FIGURES:
        return ""
    name, text = _FIGURES[run.verdict]
    share = getattr(run, name)
    return "" if share is None else text.format(share=units.percent(share))


def build_verdicts(facts: Facts, most: int) -> Listing:
    """Return one item per run, the largest first: what it is bound by, why, and what would pay."""
    runs = sorted(facts.productive.efficiencies, key=lambda run: (-run.productive_gpu_s, run.run_id))
    items = tuple(Item(elide(run.run_id), _verdict(run) + _slowed(run, facts)) for run in runs)
    return Listing(
        title="What steps are bound by, and the change that would pay most",
        items=items[:most],
        more=items[most:],
        note=_rest(runs[most:]),
    )


def _rest(runs: list[Efficiency]) -> str:
    """Return the verdicts on runs that have no item, in one line."""
    by_verdict: dict[str, list[str]] = {}
    for run in runs:
        by_verdict.setdefault(run.verdict, []).append(elide(run.run_id))
    told: list[str] = []
    for verdict, names in by_verdict.items():
        words = "not known" if verdict == NOT_KNOWN else _BOUND.get(verdict, verdict).partition(":")[0]
        others = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        told.append(f"{words}: {', '.join(names[:_MOST_NAMES])}{others}")
    text = "; ".join(told)
    return f"Besides, {text} (reasons in review.html)." if text else ""


def _verdict(run: Efficiency) -> str:
    """Return the verdict on a run, the figures behind it, and what would be won."""
    if run.verdict == NOT_KNOWN:
        text = "Not known"
    else:
        words = _BOUND.get(run.verdict, run.verdict.replace("_", " "))
        text = words[:1].upper() + words[1:]
    if run.verdict_reason:
        text += f": {clause(run.verdict_reason)}"
    elif figure := _figure(run):
        text += f": {figure}"
    text += "."
    if run.verdict_windows < run.windows:
        text += f" So in {run.verdict_windows:,} of {run.windows:,} windows."
    if run.best_change and run.best_change_gpu_s:
        change = _CHANGES.get(run.best_change, f"ending {run.best_change.replace('_', ' ')}")
        gain = units.gpu_hours(run.best_change_gpu_s)
        share = units.percent(run.best_change_gpu_s / run.productive_gpu_s)
        text += f" {change[:1].upper()}{change[1:]} would win up to {gain} GPU-hours"
        text += f" ({share} of its productive time)."
    if run.evidence_line:
        text += f" Evidence: {run.evidence_line}."
    return text


def _slowed(run: Efficiency, facts: Facts) -> str:
    """Return the device that the costliest slow stretch of a run is due to; nothing where none is named."""
    named = [
        s
        for s in facts.productive.slow_stretches
        if s.run_id == run.run_id and s.host is not None and s.cost_gpu_s
    ]
    if not named:
        return ""
    worst = max(named, key=lambda s: (s.cost_gpu_s or 0.0, -s.attempt, -s.step_first))
    what = worst.host or ""
    if worst.gpu is not None:
        what = f"GPU{units.SPACE}{worst.gpu} of {what}" if worst.gpu.isdigit() else f"{worst.gpu} of {what}"
    cost = units.gpu_hours(worst.cost_gpu_s or 0.0)
    return (
        f" {what} {worst.host_reason or 'was throttled'}: steps {worst.step_first:,} to {worst.step_last:,} "
        f"cost {cost} GPU-hours beyond the reference pace."
    )
