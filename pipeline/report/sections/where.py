"""Page 2: where the GPU-hours went, by window, by hour of the day, and by run."""

from __future__ import annotations

from collections import defaultdict
from datetime import date

from pipeline.report import units
from pipeline.report.charts.days import Day, Days
from pipeline.report.charts.hours import HourRow, Hours
from pipeline.report.charts.multiples import Multiples, Panel
from pipeline.report.charts.palette import ORDER
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Column, Figure, Page, Row, Table, Text
from pipeline.report.rows import Goodput, Hour, Run
from pipeline.report.sections.given import Given
from pipeline.report.text import elide
from pipeline.report.words import alternative

_MOST_WINDOWS = 31
_MOST_DAYS = 31
_MOST_PANELS = 12
_MOST_RUNS = 20

#: Fewer hours than this show no pattern by hour.
_FEWEST_HOURS = 3

_LAYERS = tuple(layer for layer in ORDER if layer != "model")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def build(facts: Facts, given: Given) -> Page:
    """Return the page."""
    days = _build_days(facts)
    blocks: list[Block] = [days, _build_hours(facts)]
    if len(facts.runs) > 1:
        blocks.append(_build_multiples(facts))
    blocks.append(_build_runs(facts))
    return Page(2, "where", "Where did the GPU-hours go?", _sentence(facts), tuple(blocks))


def _sentence(facts: Facts) -> str:
    total = facts.total
    whole = total.training_gpu_s
    if whole <= 0:
        return "No training capacity in this period."
    infra, framework, unknown = (
        units.percent(total.layer_gpu_s(layer) / whole)
        for layer in ("infrastructure", "framework", "unknown")
    )
    text = (
        f"Of {units.gpu_hours(whole)} GPU-hours of training capacity, infrastructure took {infra} and the "
        f"framework {framework}; {unknown if total.unknown_gpu_s else 'none'} is unattributed"
    )
    due = [w for w in facts.windows if w.training_gpu_s > 0]
    if len(due) > 1:
        worst = max(due, key=lambda w: (w.lost_gpu_s, -w.start.timestamp()))
        text += f"; {_window_name(worst, facts)} lost most, {units.gpu_hours(worst.lost_gpu_s)} GPU-hours"
    return f"{text}."


def _window_name(window: Goodput, facts: Facts) -> str:
    if facts.context.window_s % 86400 == 0:
        years = facts.total.start.year != facts.total.end.year
        return f"{units.day(window.start)} {window.start.year}" if years else units.day(window.start)
    return units.stamp(window.start)


def _build_days(facts: Facts) -> Figure:
    windows = facts.windows
    per = -(-len(windows) // _MOST_WINDOWS)
    groups = [windows[n : n + per] for n in range(0, len(windows), per)]
    rows = tuple(_day(group, facts) for group in groups)
    length = (
        "day" if facts.context.window_s == 86400 else f"window of {units.duration(facts.context.window_s)}"
    )
    joined = f"; one row joins {per}" if per > 1 else ""
    return Figure(
        name="days",
        caption=f"Each {length} as a share of its capacity{joined}. Goodput counts planned time out.",
        alt=alternative(
            "Goodput by window", (f"{row.label} {units.percent(row.goodput)}" for row in rows), most=31
        ),
        chart=Days(rows),
    )


def _day(group: tuple[Goodput, ...], facts: Facts) -> Day:
    training = sum(w.training_gpu_s for w in group)
    productive = sum(w.productive_gpu_s for w in group)
    label = _window_name(group[0], facts)
    return Day(
        label=label if len(group) == 1 else f"from {label}",
        capacity_gpu_s=sum(w.capacity_gpu_s for w in group),
        goodput=productive / training if training > 0 else None,
        layers=tuple((layer, sum(w.layer_gpu_s(layer) for w in group)) for layer in _LAYERS),
    )


def _build_hours(facts: Facts) -> Block:
    """Return the heat-map, or the line that says why there is none."""
    due = [hour for hour in facts.hours if hour.due_gpu_s > 0]
    if len(due) < _FEWEST_HOURS:
        return Text("No heat-map by hour: the period is shorter than three hours, and shows no pattern.")
    days = sorted({hour.day for hour in due})
    by_weekday = len(days) > _MOST_DAYS
    rows = _hour_rows(due, by_weekday)
    what = "weekday" if by_weekday else "day"
    worst = max(due, key=lambda h: (h.loss_gpu_s, -h.day.toordinal(), -h.hour))
    share = units.percent(worst.loss_gpu_s / worst.due_gpu_s)
    size = f"{units.gpu_hours(worst.loss_gpu_s)} GPU-hours, {share}"
    return Figure(
        name="hours",
        caption=f"Share of capacity lost, by hour of the {what} (UTC). Numbers are per cent, from 20 on.",
        alt=alternative(
            f"Heat-map of losses by hour and {what}",
            [f"most was lost on {units.day(worst.day)} from {worst.hour:02d}:00, {size}"],
        ),
        chart=Hours(rows),
    )


def _hour_rows(hours: list[Hour], by_weekday: bool) -> tuple[HourRow, ...]:
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    names: dict[int, str] = {}
    for hour in hours:
        key = hour.day.weekday() if by_weekday else hour.day.toordinal()
        names[key] = _WEEKDAYS[key] if by_weekday else units.day(date.fromordinal(key))
        cell = sums[key, hour.hour]
        cell[0] += hour.loss_gpu_s
        cell[1] += hour.due_gpu_s
    return tuple(
        HourRow(names[key], tuple(_ratio(sums.get((key, n))) for n in range(24))) for key in sorted(names)
    )


def _ratio(cell: list[float] | None) -> float | None:
    return None if cell is None or cell[1] <= 0 else cell[0] / cell[1]


def _build_multiples(facts: Facts) -> Figure:
    """Return one tiny bridge per run, the largest loss first; runs beyond twelve together."""
    ranked = sorted(facts.runs_goodput, key=lambda r: (-(r.capacity_gpu_s - r.productive_gpu_s), r.run_id))
    shown = ranked if len(ranked) <= _MOST_PANELS else ranked[: _MOST_PANELS - 1]
    rest = ranked[len(shown) :]
    panels = [_panel((run,), run.run_id) for run in shown]
    if rest:
        panels.append(_panel(tuple(rest), f"{len(rest):,} other runs"))
    values = (f"{run.run_id} {units.gpu_hours(run.lost_gpu_s)} GPU-hours lost" for run in shown)
    return Figure(
        name="multiples",
        caption="Not productive by run and layer, GPU-hours, all on one scale.",
        alt=alternative("Losses by run", values),
        chart=Multiples(tuple(panels)),
    )


def _panel(runs: tuple[Goodput, ...], title: str) -> Panel:
    training = sum(run.training_gpu_s for run in runs)
    productive = sum(run.productive_gpu_s for run in runs)
    size = f"{units.counted(runs[0].gpus, 'GPU')} · " if len(runs) == 1 and runs[0].gpus else ""
    goodput = units.percent(productive / training if training > 0 else None)
    layers = tuple(
        (layer, sum(run.layer_gpu_s(layer) for run in runs)) for layer in _LAYERS if layer != "productive"
    )
    return Panel(title, f"{size}goodput {goodput}", layers)


def _build_runs(facts: Facts) -> Table:
    """Return the runs, identity first; the total comes from sums, never from means."""
    ranked = sorted(facts.runs, key=lambda r: (-r.held_gpu_s, r.run_id))
    decimals = units.gpu_hours_decimals([facts.total.held_gpu_s])
    rows = [_run_row(run, decimals) for run in ranked]
    total = facts.total
    cells = (
        "all runs", "", "", "", "", "",
        units.gpu_hours(total.held_gpu_s, decimals),
        *_figures(total),
        "", "",
    )  # fmt: skip
    last = [Row(cells, weight="total")] if len(rows) > 1 else []
    shown = len(rows) if len(rows) <= _MOST_RUNS else _MOST_RUNS
    return Table(
        name="runs",
        caption="Runs: who, how large, how well. Each factor is a share of what the one before it left.",
        columns=(
            Column("run", share=4),
            Column("GPUs", "right"),
            Column("device", share=4),
            Column("trainer", share=3),
            Column("attempts", "right"),
            Column("steps", "right"),
            Column("held GPU-h", "right"),
            Column("goodput", "right"),
            Column("infra.", "right"),
            Column("framew.", "right"),
            Column("model", "right"),
            Column("top loss", share=5),
            Column("GPU-h", "right"),
        ),
        rows=(*rows[:shown], *last),
        more=tuple(rows[shown:]),
    )


def _figures(row: Run | Goodput) -> tuple[str, ...]:
    """Return goodput and its factors as they are printed."""
    figures = (row.training_time_goodput, row.g_infra, row.g_framework, row.g_model)
    return tuple(units.percent(value) for value in figures)


def _run_row(run: Run, decimals: int) -> Row:
    steps = (
        "–" if run.first_step is None or run.last_step is None else f"{run.first_step:,}–{run.last_step:,}"
    )
    flags = f"Note: {'; '.join(run.flags)}." if run.flags else ""
    return Row(
        (
            elide(run.run_id),
            "–" if run.gpus is None else f"{run.gpus:,}",
            run.gpu_model or "–",
            run.formats or "–",
            "–" if run.attempts is None else f"{run.attempts:,}",
            steps,
            units.gpu_hours(run.held_gpu_s, decimals),
            *_figures(run),
            run.top_loss or "–",
            "–" if run.top_loss_gpu_s is None else units.gpu_hours(run.top_loss_gpu_s, decimals),
        ),
        detail=flags,
    )
