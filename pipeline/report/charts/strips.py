"""Strips: one row of dots per run on a logarithmic scale of time, with a tick at the median."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.durations import duration_bounds, duration_ticks
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import CODES, INK, SOFT
from pipeline.report.charts.scale import Log
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_ROW, _TOP = 20.0, 12.0
_NOTES = 118.0
_UNTIMED = 34.0
_MOST_HIGH = 6  # dots above one another


@dataclass(frozen=True, slots=True)
class Dots:
    """Saves that stalled about equally long.

    Attributes:
        seconds: how long, or None where nobody timed it.
        count: how many.
        cross: whether they failed or were never committed.
        tip: what a browser shows under the pointer.
    """

    seconds: float | None
    count: int
    cross: bool
    tip: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A run: its name, its dots, the median, and a note at the right."""

    title: str
    dots: tuple[Dots, ...]
    median_s: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Strips:
    """Runs from top to bottom."""

    rows: tuple[Strip, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the strips as SVG."""
        drawing = Drawing(name, alt)
        left = min(max(text_width(row.title, SIZE) for row in self.rows) + 8, 120)
        untimed = any(dots.seconds is None for row in self.rows for dots in row.dots)
        right = drawing.width - _NOTES - (_UNTIMED if untimed else 0)
        foot = _TOP + len(self.rows) * _ROW
        times = [d.seconds for row in self.rows for d in row.dots if d.seconds is not None and d.seconds > 0]
        low, high = duration_bounds(times or [1.0])
        scale = Log(low, high, left + 6, right - 6)
        for tick, text in duration_ticks(low, high):
            drawing.line(scale.at(tick), _TOP - 2, scale.at(tick), foot, colour="#E6E6E6")
            drawing.text(scale.at(tick), foot + 7, text, anchor="middle", size=SMALL, colour=SOFT)
        if untimed:
            drawing.text(
                right + _UNTIMED / 2, foot + 7, "not timed", anchor="middle", size=SMALL, colour=SOFT
            )
        _draw_key(drawing, left + 6, any(dots.cross for row in self.rows for dots in row.dots))
        for n, row in enumerate(self.rows):
            base = _TOP + n * _ROW + _ROW - 4
            drawing.text(0, base, fit(row.title, left - 6, SIZE))
            drawing.line(left, base + 2.6, right, base + 2.6, colour="#E6E6E6")
            edge = -1e9
            for dots in sorted(row.dots, key=lambda dots: (dots.seconds is None, dots.seconds or 0.0)):
                x = right + _UNTIMED / 2 if dots.seconds is None else scale.at(dots.seconds)
                edge = _draw_dots(drawing, dots, x, base, edge)
            if row.median_s is not None and row.median_s > 0:
                x = scale.at(row.median_s)
                drawing.line(x, base - 9, x, base + 4, width=1.2)
            drawing.text(drawing.width, base, fit(row.note, _NOTES - 6, SMALL), anchor="end", size=SMALL)
        return drawing.svg(foot + 10)


def _draw_key(drawing: Drawing, x: float, crosses: bool) -> None:
    drawing.dot(x + 1.5, 4.6, 1.4, CODES["framework"].colour, stroke=INK)
    drawing.text(x + 6, 7, "save", size=SMALL)
    x += 6 + text_width("save", SMALL) + 10
    drawing.line(x, 1, x, 8, width=1.2)
    drawing.text(x + 4, 7, "median", size=SMALL)
    if crosses:
        x += 4 + text_width("median", SMALL) + 10
        _draw_cross(drawing, x + 1.5, 4.6)
        drawing.text(x + 6, 7, "failed or never committed", size=SMALL)


def _draw_dots(drawing: Drawing, dots: Dots, x: float, base: float, edge: float) -> float:
    """Draw one dot per save, stacked; where there are more than fit, their number stands beside them.

    Returns:
        where the last number ends; a number that would begin before that is left to the tip.
    """
    if dots.cross:
        _draw_cross(drawing, x, base - 1, tip=dots.tip)
        return edge
    high = min(dots.count, _MOST_HIGH)
    for n in range(high):
        y = base - n * (_ROW - 8) / (_MOST_HIGH - 1)
        drawing.dot(x, y, 1.4, CODES["framework"].colour, stroke=INK, tip=dots.tip)
    if dots.count <= high or x + 3 < edge:
        return edge
    text = f"×{units.THIN}{dots.count:,}"
    drawing.text(x + 3, base - _ROW + 10, text, size=SMALL, halo=True)
    return x + 3 + text_width(text, SMALL) + 2


def _draw_cross(drawing: Drawing, x: float, y: float, tip: str = "") -> None:
    drawing.dot(x, y, 2, "#fff", tip=tip)
    drawing.line(x - 2, y - 2, x + 2, y + 2, width=0.9)
    drawing.line(x - 2, y + 2, x + 2, y - 2, width=0.9)


def describe(row: Strip) -> str:
    """Return what a row shows, for the text alternative."""
    median = "no stall timed" if row.median_s is None else f"median {units.duration(row.median_s)}"
    return f"{row.title} {median}, {row.note}"
