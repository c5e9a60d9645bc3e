"""Work lost by each interruption, as dots in multiples of the interval between saves."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import CODES, INK, SOFT
from pipeline.report.charts.scale import Linear, nice_ticks, tick_texts
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_ROW, _TOP, _NOTES = 14.0, 12.0, 150.0


@dataclass(frozen=True, slots=True)
class LostDot:
    """An interruption: work lost over the interval, number, anchor of its row, and a tip."""

    multiple: float
    label: str
    anchor: str
    tip: str


@dataclass(frozen=True, slots=True)
class LostRow:
    """A run: its name, its interruptions, and a note at the right."""

    title: str
    dots: tuple[LostDot, ...]
    note: str


@dataclass(frozen=True, slots=True)
class LostWork:
    """Runs from top to bottom, on one scale of intervals."""

    rows: tuple[LostRow, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the rows as SVG."""
        drawing = Drawing(name, alt)
        left = min(max(*(text_width(row.title, SIZE) for row in self.rows), 52.0) + 8, 120)
        right = drawing.width - _NOTES
        foot = _TOP + len(self.rows) * _ROW
        most = max((dot.multiple for row in self.rows for dot in row.dots), default=0.0)
        scale = Linear(0, max(most, 1.0) * 1.05, left + 6, right - 6)
        ticks = nice_ticks(max(most, 1.0))
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            drawing.line(scale.at(tick), _TOP - 2, scale.at(tick), foot, colour="#E6E6E6")
            drawing.text(scale.at(tick), foot + 7, text, anchor="middle", size=SMALL, colour=SOFT)
        drawing.text(0, foot + 7, "intervals lost", size=SMALL, colour=SOFT)
        half = scale.at(0.5)
        drawing.line(half, _TOP - 3, half, foot, width=1.0)
        words = "half an interval: the mean when failures fall evenly"
        drawing.text(half + 3, 7, words, size=SMALL, halo=True)
        for n, row in enumerate(self.rows):
            base = _TOP + n * _ROW + _ROW - 4
            drawing.text(0, base, fit(row.title, left - 6, SIZE))
            drawing.line(left, base - 2.4, right, base - 2.4, colour="#E6E6E6")
            for dot in row.dots:
                drawing.open_link(dot.anchor)
                drawing.dot(
                    scale.at(dot.multiple), base - 2.4, 2, CODES["framework"].colour, stroke=INK, tip=dot.tip
                )
                drawing.close_link()
            drawing.text(drawing.width, base, fit(row.note, _NOTES - 6, SMALL), anchor="end", size=SMALL)
        return drawing.svg(foot + 10)
