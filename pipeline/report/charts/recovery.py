"""Anatomy of recovery: one row per disruption, its phases one behind the other on a shared time axis."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import CODES, SOFT, Code
from pipeline.report.charts.scale import Linear, nice_ticks, tick_texts
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_LEFT, _ROW, _BAR = 104.0, 11.0, 8.5
_KEY_ROW = 9.5

#: How each phase looks, in their order: the colour of its layer, hatched and plain by turns, so that
#: neighbours differ without colour; catching up is progress made again.
_LOOKS = (
    CODES["infrastructure"],
    Code("#D55E00"),
    Code("#D55E00", 3, '<path d="M0 1.5H3" stroke="#fff" stroke-width=".7"/>'),
    Code("#A94B00"),
    CODES["framework"],
    Code("#E69F00", 3, '<path d="M0 1.5H3" stroke="#fff" stroke-width=".7"/>'),
    CODES["productive"],
)


@dataclass(frozen=True, slots=True)
class RecoveryRow:
    """A disruption, or what is usual over many.

    Attributes:
        title: name of the row.
        phases: number of a phase, from 1 on, and its seconds, in order.
        anchor: row of a table that it links to; empty for none.
        note: words after the bar.
    """

    title: str
    phases: tuple[tuple[int, float], ...]
    anchor: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Rows from top to bottom; ``titles`` names the phases by their number less one."""

    rows: tuple[RecoveryRow, ...]
    titles: tuple[str, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the segments as SVG."""
        drawing = Drawing(name, alt)
        top = self._draw_key(drawing) + 5
        high = max(sum(seconds for _, seconds in row.phases) for row in self.rows) or 1.0
        unit, per = units.time_unit(high)
        room = max(text_width(_words(row), SMALL) for row in self.rows) + 5
        scale = Linear(0, high, _LEFT, drawing.width - room)
        foot = top + len(self.rows) * _ROW
        ticks = nice_ticks(high / per, most=8)
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            x = scale.at(tick * per)
            drawing.line(x, top - 2, x, foot, colour="#E6E6E6")
            drawing.text(x, foot + 7, text, anchor="middle", size=SMALL, colour=SOFT)
        drawing.text(0, foot + 7, f"since the fault, {unit}", size=SMALL, colour=SOFT)
        for n, row in enumerate(self.rows):
            self._draw_row(drawing, row, scale, top + n * _ROW)
        return drawing.svg(foot + 10)

    def _draw_row(self, drawing: Drawing, row: RecoveryRow, scale: Linear, y: float) -> None:
        if row.anchor:
            drawing.open_link(row.anchor)
        drawing.text(0, y + 6.8, fit(row.title, _LEFT - 6, SIZE))
        if row.anchor:
            drawing.close_link()
        at = 0.0
        for number, seconds in row.phases:
            x, end = scale.at(at), scale.at(at + seconds)
            if seconds > 0:
                tip = f"{row.title}, {self.titles[number - 1]}: {units.duration(seconds)}"
                width = max(end - x, 0.4)
                drawing.rect(x, y, width, _BAR, drawing.paint(f"p{number}", _LOOKS[number - 1]), tip=tip)
                if width > 7:
                    drawing.text((x + end) / 2, y + 6.8, str(number), anchor="middle", size=SMALL, halo=True)
            at += seconds
        drawing.text(scale.at(at) + 3, y + 6.8, _words(row), size=SMALL, halo=True)

    def _draw_key(self, drawing: Drawing) -> float:
        """Draw the numbers of the phases with their names, in as many lines as they need; return the foot."""
        seen = {number for row in self.rows for number, seconds in row.phases if seconds > 0}
        x, y = 0.0, 7.0
        for number, title in enumerate(self.titles, 1):
            if number not in seen:
                continue
            text = f"{number} {title}"
            width = 11.5 + text_width(text, SMALL) + 12
            if x + width > drawing.width and x > 0:
                x, y = 0.0, y + _KEY_ROW
            drawing.rect(x, y - 5.4, 9, 6, drawing.paint(f"p{number}", _LOOKS[number - 1]))
            drawing.text(x + 11.5, y, text, size=SMALL)
            x += width
        return y


def _words(row: RecoveryRow) -> str:
    """Return the words behind a bar: how long it is, and the note."""
    length = units.duration(sum(seconds for _, seconds in row.phases))
    return f"{length}, {row.note}" if row.note else length
