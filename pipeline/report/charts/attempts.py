"""Attempts: one lane per run, what it did over time, and where it was interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.layout import draw_key, spread
from pipeline.report.charts.palette import RULE, SOFT
from pipeline.report.charts.scale import Linear, time_ticks
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_BAR = 11.0
_MARKS = 14.0

#: State of a lane to (layer whose code draws it, words of the key). Lost work counts for the framework
#: layer and has its colour; downtime has that of infrastructure, which is most of it.
_STATES = {
    "productive": ("productive", "progress that survived"),
    "lost": ("framework", "work later lost"),
    "downtime": ("infrastructure", "no progress"),
    "planned": ("planned", "planned"),
    "unknown": ("unknown", "unattributed"),
}


_MARKS_KEY = ((False, "disruption"), (True, "planned end"))


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of one state: productive, lost, downtime, planned or unknown."""

    state: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Mark:
    """An interruption.

    Attributes:
        label: its number in the table; empty where the table leaves it out.
        moment: when it happened.
        planned: whether somebody had planned it.
        anchor: name of its row in the table.
        tip: what a browser shows under the pointer.
    """

    label: str
    moment: datetime
    planned: bool
    anchor: str
    tip: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A run: its name, its stretches and its interruptions, in order of time."""

    title: str
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Attempts:
    """Lanes from top to bottom over one period."""

    start: datetime
    end: datetime
    lanes: tuple[Lane, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the lanes as SVG."""
        drawing = Drawing(name, alt)
        left = min(max(text_width(lane.title, SIZE) for lane in self.lanes) + 8, 120)
        right = drawing.width - 6
        scale = Linear(self.start.timestamp(), self.end.timestamp(), left, right)
        self._draw_key(drawing, left)
        top = 11.0
        step = _MARKS + _BAR + 3
        foot = top + len(self.lanes) * step
        draw_time_axis(drawing, self.start, self.end, scale, top, foot)
        for n, lane in enumerate(self.lanes):
            y = top + n * step + _MARKS
            drawing.text(0, y + 8, fit(lane.title, left - 6, SIZE))
            for bar in lane.bars:
                x, end = scale.at(bar.start.timestamp()), scale.at(bar.end.timestamp())
                layer, words = _STATES.get(bar.state, _STATES["unknown"])
                drawing.rect(x, y, end - x, _BAR, drawing.fill(layer), tip=f"{lane.title}: {words}")
            _draw_marks(drawing, lane.marks, scale, y, left, right)
        return drawing.svg(foot + 19)

    def _draw_key(self, drawing: Drawing, left: float) -> None:
        """Draw the key above the lanes; where it is too wide for that, from the left edge on."""
        seen = {bar.state for lane in self.lanes for bar in lane.bars}
        states = [entry for state, entry in _STATES.items() if state in seen]
        kinds = {mark.planned for lane in self.lanes for mark in lane.marks}
        marks = [(planned, words) for planned, words in _MARKS_KEY if planned in kinds]
        width = sum(text_width(words, SMALL) + 24 for _, words in (*states, *marks))
        x = draw_key(drawing, min(left, max(drawing.width - width, 0)), 7, states) + 14
        for planned, words in marks:
            _draw_triangle(drawing, x + 3, 1.8, planned)
            drawing.text(x + 8.5, 7, words, size=SMALL)
            x += 8.5 + text_width(words, SMALL) + 12


def draw_time_axis(
    drawing: Drawing, start: datetime, end: datetime, scale: Linear, top: float, foot: float
) -> None:
    """Draw hairlines at round times, with their labels below ``foot``."""
    room = scale.end - scale.start
    edge = -1e9
    for tick in time_ticks(start, end, most=max(2, int(room // 50))):
        x = scale.at(tick.moment.timestamp())
        drawing.line(x, top, x, foot + 2, colour="#E0E0E0")
        half = text_width(tick.label, SMALL) / 2
        drawing.text(
            min(x, drawing.width - half), foot + 9, tick.label, anchor="middle", size=SMALL, colour=SOFT
        )
        half = text_width(tick.date, SMALL) / 2
        if tick.date and x - half > edge:
            at = min(x, drawing.width - half)
            drawing.text(at, foot + 16.5, tick.date, anchor="middle", size=SMALL, colour=SOFT)
            edge = x + half + 4


def _draw_marks(
    drawing: Drawing, marks: Sequence[Mark], scale: Linear, y: float, left: float, right: float
) -> None:
    """Draw triangles at the moments and their numbers above them, moved apart where they would collide."""
    at = [scale.at(mark.moment.timestamp()) for mark in marks]
    widths = [text_width(mark.label, SMALL) + 3 if mark.label else 0.0 for mark in marks]
    crowded = sum(widths) > right - left
    for mark, x, label_x in zip(marks, at, spread(at, widths, left - 4, right + 4), strict=True):
        drawing.open_link(mark.anchor)
        _draw_triangle(drawing, x, y - 5.4, mark.planned, tip=mark.tip)
        if mark.label and not crowded:
            drawing.text(label_x, y - 7.2, mark.label, anchor="middle", size=SMALL)
            if abs(label_x - x) > 2.5:
                drawing.line(label_x, y - 6.8, x, y - 5.4, colour=RULE, width=0.4)
        drawing.close_link()


def _draw_triangle(drawing: Drawing, x: float, y: float, planned: bool, tip: str = "") -> None:
    corners = [(x - 2.6, y), (x + 2.6, y), (x, y + 4.8)]
    drawing.shape(corners, "#fff" if planned else "#000", stroke="#000", tip=tip)
