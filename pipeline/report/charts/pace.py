"""Small multiples of pace: the median of each hour with its 10–90 % band, restarts as ticks at the foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from pipeline.report import units
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import INK, RULE, SOFT
from pipeline.report.charts.scale import Linear, nice_ticks, tick_texts, time_ticks
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_ACROSS, _GAP = 5, 15.0
_HEAD, _PLOT, _FOOT = 20.0, 46.0, 21.0
_AXIS = 20.0
_BAND = "#B3D3E8"
_LINE = "#0072B2"

#: Hours whose lines lie further apart than this are not joined, in seconds.
_JOINED_S = 600.0


@dataclass(frozen=True, slots=True)
class HourOf:
    """What the steps of an hour took, or their MFU in per cent: a tenth, half and nine tenths lie below."""

    start: datetime
    end: datetime
    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class PacePanel:
    """A run.

    Attributes:
        title, subtitle: its name, and a line on what is drawn.
        scale: panels of one scale share their vertical axis.
        unit: of the axis.
        hours: in order of time.
        restarts: hours in which it began again, and how often.
        reference: what it does where nothing disturbs it; None where that is not known.
    """

    title: str
    subtitle: str
    scale: str
    unit: str
    hours: tuple[HourOf, ...]
    restarts: tuple[tuple[datetime, int], ...]
    reference: float | None


@dataclass(frozen=True, slots=True)
class Paces:
    """Runs side by side over one period."""

    start: datetime
    end: datetime
    panels: tuple[PacePanel, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the grid as SVG."""
        drawing = Drawing(name, alt)
        across = ceil(len(self.panels) / ceil(len(self.panels) / _ACROSS))
        width = (drawing.width - (across - 1) * _GAP) / across
        height = _HEAD + _PLOT + _FOOT
        tops = {panel.scale: _top(self.panels, panel.scale) for panel in self.panels}
        for n, panel in enumerate(self.panels):
            x, y = (n % across) * (width + _GAP), (n // across) * height
            drawing.line(x, y + 0.5, x + width, y + 0.5, colour=RULE)
            drawing.text(x, y + 9, fit(panel.title, width, SIZE, bold=True), bold=True)
            drawing.text(x, y + 16.5, fit(panel.subtitle, width, SMALL), size=SMALL, colour=SOFT)
            time = Linear(0, (self.end - self.start).total_seconds(), x + _AXIS, x + width - 1)
            value = Linear(0, tops[panel.scale], y + _HEAD + _PLOT, y + _HEAD + 3)
            self._draw_axes(drawing, panel, time, value)
            self._draw_hours(drawing, panel, time, value)
        lines = (len(self.panels) + across - 1) // across
        return drawing.svg(lines * height - 3)

    def _at(self, scale: Linear, moment: datetime) -> float:
        return scale.at((moment - self.start).total_seconds())

    def _draw_axes(self, drawing: Drawing, panel: PacePanel, time: Linear, value: Linear) -> None:
        foot = value.start
        ticks = nice_ticks(value.high, 3)
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            y = value.at(tick)
            drawing.line(time.start, y, time.end, y, colour="#E6E6E6" if tick else RULE)
            label = f"{text}{units.THIN}{panel.unit}" if tick == ticks[-1] else text
            drawing.text(time.start - 2.5, y + 2.2, label, anchor="end", size=SMALL, colour=SOFT)
        edge = -1e9
        for mark in time_ticks(self.start, self.end, round((time.end - time.start) / 35)):
            x = self._at(time, mark.moment)
            wide = max(text_width(mark.label, SMALL), text_width(mark.date, SMALL)) / 2
            drawing.line(x, foot, x, foot + 2, colour=RULE)
            if x - wide < edge or x + wide > time.end + 6:
                continue
            edge = x + wide + 3
            drawing.text(x, foot + 8.4, mark.label, anchor="middle", size=SMALL, colour=SOFT)
            drawing.text(x, foot + 15, mark.date, anchor="middle", size=SMALL, colour=SOFT)

    def _draw_hours(self, drawing: Drawing, panel: PacePanel, time: Linear, value: Linear) -> None:
        for hour in panel.hours:
            x, end = self._at(time, hour.start), self._at(time, hour.end)
            top, foot = value.at(hour.high), value.at(hour.low)
            tip = f"{panel.title}, {units.stamp(hour.start)}: {told(hour)}{units.THIN}{panel.unit}"
            drawing.rect(x, top, max(end - x, 0.5), max(foot - top, 0.3), _BAND, tip=tip)
        for joined in _joined(panel.hours):
            points = [
                (self._at(time, moment), value.at(hour.middle))
                for hour in joined
                for moment in (hour.start, hour.end)
            ]
            drawing.path(points, colour=_LINE, width=1.1)
        if panel.reference is not None:
            y = value.at(panel.reference)
            for n in range(int((time.end - time.start) / 5)):
                drawing.line(time.start + 5 * n, y, time.start + 5 * n + 2.5, y, colour=INK, width=0.5)
        for moment, count in panel.restarts:
            x = min(max(self._at(time, moment), time.start), time.end)
            drawing.line(x, value.start - 4.5, x, value.start + 1, width=1.1 if count == 1 else 1.8)


def told(hour: HourOf) -> str:
    """Return the median of an hour with its band."""
    decimals = units.decimals_for(hour.high)
    middle, low, high = (units.number(value, decimals) for value in (hour.middle, hour.low, hour.high))
    return f"{middle} ({low} to {high})"


def _top(panels: Sequence[PacePanel], scale: str) -> float:
    """Return the end of the vertical axis that panels of one scale share."""
    values = [h.high for p in panels if p.scale == scale for h in p.hours]
    values += [p.reference for p in panels if p.scale == scale and p.reference is not None]
    return max(values, default=1.0) * 1.08 or 1.0


def _joined(hours: Sequence[HourOf]) -> list[list[HourOf]]:
    """Return hours in groups that follow one another without a gap."""
    groups: list[list[HourOf]] = []
    for hour in hours:
        if groups and (hour.start - groups[-1][-1].end).total_seconds() <= _JOINED_S:
            groups[-1].append(hour)
        else:
            groups.append([hour])
    return groups
