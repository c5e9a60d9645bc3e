"""Pareto: causes by GPU-hours lost, count and cumulative share as numbers beside the bars."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.font import fit
from pipeline.report.charts.palette import SOFT
from pipeline.report.charts.scale import Linear, nice_ticks, tick_texts
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_LABELS, _AXIS_END = 150.0, 385.0
_COUNT, _CUMULATIVE = 440.0, 493.0
_ROW, _BAR = 12.0, 8.5


@dataclass(frozen=True, slots=True)
class ParetoRow:
    """A cause.

    Attributes:
        title: cause.
        parts: layer whose code draws it, what it is, GPU-seconds.
        events: how often, or None where the time belongs to no incident.
        cumulative_share: share of all losses down to this row.
    """

    title: str
    parts: tuple[tuple[str, str, float], ...]
    events: int | None
    cumulative_share: float

    @property
    def gpu_s(self) -> float:
        """GPU-seconds of all parts."""
        return sum(part[2] for part in self.parts)


@dataclass(frozen=True, slots=True)
class Pareto:
    """Causes from the costliest down."""

    rows: tuple[ParetoRow, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the bars as SVG."""
        drawing = Drawing(name, alt)
        top = 12.0
        high = max(row.gpu_s for row in self.rows)
        scale = Linear(0, high, _LABELS, _AXIS_END)
        foot = top + len(self.rows) * _ROW
        ticks = nice_ticks(high / units.HOUR)
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            x = scale.at(tick * units.HOUR)
            drawing.line(x, top - 2, x, foot, colour="#E6E6E6")
            drawing.text(x, foot + 7, text, anchor="middle", size=SMALL, colour=SOFT)
        drawing.text(0, foot + 7, "GPU-hours", size=SMALL, colour=SOFT)
        drawing.text(_COUNT, 6, "times", anchor="end", size=SMALL, colour=SOFT)
        drawing.text(_CUMULATIVE, 6, "cumulative", anchor="end", size=SMALL, colour=SOFT)
        decimals = units.gpu_hours_decimals([high])
        for n, row in enumerate(self.rows):
            _draw_row(drawing, row, scale, top + n * _ROW, decimals)
        return drawing.svg(foot + 10)


def _draw_row(drawing: Drawing, row: ParetoRow, scale: Linear, y: float, decimals: int) -> None:
    drawing.text(0, y + 6.8, fit(row.title, _LABELS - 6, SIZE))
    at = 0.0
    for layer, words, gpu_s in row.parts:
        x, end = scale.at(at), scale.at(at + gpu_s)
        tip = f"{row.title}, {words}: {units.gpu_hours(gpu_s)}{units.THIN}GPU-h"
        if gpu_s > 0:
            drawing.rect(x, y, max(end - x, 0.4), _BAR, drawing.fill(layer), tip=tip)
        at += gpu_s
    drawing.text(scale.at(at) + 3, y + 6.8, units.gpu_hours(row.gpu_s, decimals), size=SMALL, halo=True)
    events = "–" if row.events is None else f"{row.events:,}"
    drawing.text(_COUNT, y + 6.8, events, anchor="end")
    drawing.text(_CUMULATIVE, y + 6.8, units.percent(row.cumulative_share), anchor="end")
