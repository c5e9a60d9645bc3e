"""Hosts that came back: one row per host, one mark per event on a time axis, its shape by cause."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.report.charts.attempts import draw_time_axis
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.intervals import dot
from pipeline.report.charts.palette import SOFT
from pipeline.report.charts.scale import Linear
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_LEFT, _RIGHT, _ROW, _KEY_ROW = 104.0, 374.0, 12.0, 9.5

#: Shapes that a grey print tells apart; what comes after the last one shares it.
SHAPES = 6


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a host: when, number of its shape, the row it links to or none, words for the pointer."""

    moment: datetime
    shape: int
    anchor: str
    tip: str


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host with its events in order of time, and words behind them."""

    title: str
    events: tuple[Event, ...]
    note: str
    strong: bool


@dataclass(frozen=True, slots=True)
class HostEvents:
    """Hosts from top to bottom over one period; ``causes`` names the shapes by their number."""

    start: datetime
    end: datetime
    rows: tuple[HostRow, ...]
    causes: tuple[str, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the marks as SVG."""
        drawing = Drawing(name, alt)
        top = self._draw_key(drawing) + 6
        scale = Linear(self.start.timestamp(), self.end.timestamp(), _LEFT, _RIGHT)
        foot = top + len(self.rows) * _ROW
        draw_time_axis(drawing, self.start, self.end, scale, top, foot)
        for n, row in enumerate(self.rows):
            y = top + n * _ROW + 6
            drawing.text(0, y + 2.4, fit(row.title, _LEFT - 8, SIZE, bold=row.strong), bold=row.strong)
            drawing.line(_LEFT, y, _RIGHT, y, colour="#E0E0E0")
            for event in row.events:
                if event.anchor:
                    drawing.open_link(event.anchor)
                _draw_shape(drawing, scale.at(event.moment.timestamp()), y, event.shape, event.tip)
                if event.anchor:
                    drawing.close_link()
            note = fit(row.note, drawing.width - _RIGHT - 8, SMALL, bold=row.strong)
            drawing.text(_RIGHT + 8, y + 2.4, note, size=SMALL, bold=row.strong)
        return drawing.svg(foot + 19)

    def _draw_key(self, drawing: Drawing) -> float:
        """Draw shapes with their causes, in as many lines as they need; return the foot."""
        x, y = 0.0, 7.0
        for shape, cause in enumerate(self.causes):
            width = 8 + text_width(cause, SMALL) + 12
            if x + width > drawing.width and x > 0:
                x, y = 0.0, y + _KEY_ROW
            _draw_shape(drawing, x + 3, y - 2.3, shape)
            drawing.text(x + 8, y, cause, size=SMALL, colour=SOFT)
            x += width
        return y


def _draw_shape(drawing: Drawing, x: float, y: float, shape: int, tip: str = "") -> None:
    """Draw one of the shapes: filled and hollow, round and with corners."""
    r = 2.7
    square = [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]
    triangle = [(x - r, y + r), (x + r, y + r), (x, y - r)]
    diamond = [(x - r - 0.6, y), (x, y - r - 0.6), (x + r + 0.6, y), (x, y + r + 0.6)]
    shapes = (
        (dot(x, y, r), "#000"), (square, "#fff"), (triangle, "#000"),
        (diamond, "#fff"), (square, "#000"), (dot(x, y, r), "#fff"),
    )  # fmt: skip
    corners, fill = shapes[min(shape, SHAPES - 1)]
    drawing.shape(corners, fill, stroke="#000", tip=tip)
