"""Overhead against the interval between saves: the modelled curve, its least, and what is used."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.durations import duration_ticks
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import GROUND, INK, RULE, SOFT
from pipeline.report.charts.scale import Linear, Log, nice_ticks
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_ACROSS, _GAP = 3, 14.0
_HEAD, _PLOT, _FOOT, _AXIS = 12.0, 84.0, 14.0, 26.0


@dataclass(frozen=True, slots=True)
class OverheadPanel:
    """One run.

    Attributes:
        title: its name.
        curve: interval in seconds; share of progress lost to stalls, and to stalls and lost work together.
        flat: first and last interval within 5 % of the least.
        least: the interval that costs least, and its overhead.
        used: the interval used, and its overhead by the model; None where it is not known.
        measured: overhead that the ledger found, or None.
    """

    title: str
    curve: tuple[tuple[float, float, float], ...]
    flat: tuple[float, float]
    least: tuple[float, float]
    used: tuple[float, float] | None
    measured: float | None


@dataclass(frozen=True, slots=True)
class Overheads:
    """Runs, the one that would gain most first; each on a scale of its own."""

    panels: tuple[OverheadPanel, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the panels as SVG."""
        drawing = Drawing(name, alt)
        across = min(_ACROSS, len(self.panels))
        width = (drawing.width - (across - 1) * _GAP) / across
        height = _HEAD + _PLOT + _FOOT + 8
        for n, panel in enumerate(self.panels):
            _draw_panel(drawing, panel, (n % across) * (width + _GAP), (n // across) * height, width)
        return drawing.svg(-(-len(self.panels) // across) * height - 4)


def _draw_panel(drawing: Drawing, panel: OverheadPanel, left: float, head: float, width: float) -> None:
    top, foot, right = head + _HEAD, head + _HEAD + _PLOT, left + width
    drawing.text(left, head + 7, fit(panel.title, width, SIZE, bold=True), bold=True)
    x = Log(panel.curve[0][0], panel.curve[-1][0], left + _AXIS, right)
    points = [panel.least[1], *([panel.used[1]] if panel.used else [])]
    if panel.measured is not None:
        points.append(panel.measured)
    # What costs far more than anything used or suggested needs no room.
    high = max(max(points) * 1.35, panel.least[1] * 2.5)
    y = Linear(0, high, foot, top)
    start, end = x.at(panel.flat[0]), x.at(panel.flat[1])
    drawing.rect(start, top, end - start, _PLOT, GROUND, tip="within 5 % of the least")
    for tick in nice_ticks(high, 4):
        drawing.line(left + _AXIS, y.at(tick), right, y.at(tick), colour="#E6E6E6")
        drawing.text(
            left + _AXIS - 3, y.at(tick) + 2.2, units.percent(tick), anchor="end", size=SMALL, colour=SOFT
        )
    edge = -1e9
    for seconds, text in duration_ticks(panel.curve[0][0], panel.curve[-1][0], most=max(3, int(width // 40))):
        half = text_width(text, SMALL) / 2
        at = min(x.at(seconds), right - half)
        drawing.line(x.at(seconds), foot, x.at(seconds), foot + 2, colour=RULE)
        if at - half > edge:
            drawing.text(at, foot + 9, text, anchor="middle", size=SMALL, colour=SOFT)
            edge = at + half + 4
    stalls = [(x.at(i), y.at(stall)) for i, stall, _ in panel.curve if stall <= high]
    both = [(x.at(i), y.at(overhead)) for i, _, overhead in panel.curve if overhead <= high]
    drawing.path(stalls, colour=RULE, width=0.8)
    drawing.path(both, colour=INK, width=1.2)
    drawing.text(start + 2, top + 6.5, "within 5 % of the least", size=SMALL, colour=SOFT, halo=True)
    _draw_least(drawing, panel, x, y, foot)
    _draw_used(drawing, panel, x, y, right)


def _draw_least(drawing: Drawing, panel: OverheadPanel, x: Log, y: Linear, foot: float) -> None:
    at, height = x.at(panel.least[0]), y.at(panel.least[1])
    drawing.line(at, height, at, foot, colour=INK, width=0.6)
    text = f"least: {units.duration(panel.least[0])}, {units.percent(panel.least[1])}"
    drawing.text(at, foot - 4, text, anchor="middle", size=SMALL, halo=True)


def _draw_used(drawing: Drawing, panel: OverheadPanel, x: Log, y: Linear, right: float) -> None:
    if panel.used is None:
        return
    at = x.at(panel.used[0])
    marks = [(panel.used[1], f"used: {units.duration(panel.used[0])}, {units.percent(panel.used[1])}", INK)]
    if panel.measured is not None:
        marks.append((panel.measured, f"measured: {units.percent(panel.measured)}", "#fff"))
    places = _apart([y.at(value) for value, _, _ in marks])
    for (value, text, fill), place in zip(marks, places, strict=True):
        drawing.dot(at, y.at(value), 2.2, fill, stroke=INK, tip=text)
        fits = at + 6 + text_width(text, SMALL) < right
        anchor, shift = ("start", 5) if fits else ("end", -5)
        drawing.text(at + shift, place + 2.2, text, anchor=anchor, size=SMALL, halo=True)


def _apart(places: list[float], gap: float = 8.0) -> list[float]:
    """Return places of two labels moved apart where they would lie on each other."""
    if len(places) < 2 or abs(places[0] - places[1]) >= gap:
        return places
    push = (gap - abs(places[0] - places[1])) / 2
    sign = 1 if places[0] >= places[1] else -1
    return [places[0] + sign * push, places[1] - sign * push]
