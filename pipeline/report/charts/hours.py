"""Heat-map: hour of the day by day, the share of capacity that was lost, in five steps of one hue."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.palette import RULE, SOFT
from pipeline.report.charts.svg import SMALL, Drawing

_LEFT, _CELL = 61.0, 18.0
_HUE = ("#FFFFFF", "#FBE6D8", "#F4BE99", "#E98E50", "#D55E00")
_EDGES = (0.05, 0.10, 0.20, 0.50)
_NAMES = ("under 5", "5–10", "10–20", "20–50", "over 50")


@dataclass(frozen=True, slots=True)
class HourRow:
    """A day and the loss share of its 24 hours; None where nothing was due."""

    label: str
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Hours:
    """Days from top to bottom."""

    rows: tuple[HourRow, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the heat-map as SVG."""
        drawing = Drawing(name, alt)
        self._draw_key(drawing)
        top = 22.0
        for hour in range(24):
            drawing.text(
                _LEFT + (hour + 0.5) * _CELL, top - 3, f"{hour:02d}", anchor="middle", size=SMALL, colour=SOFT
            )
        step = 12.0 if len(self.rows) <= 16 else 9.0
        for n, row in enumerate(self.rows):
            y = top + n * step
            drawing.text(0, y + step / 2 + 2.5, row.label)
            for hour, share in enumerate(row.shares):
                _draw_cell(drawing, _LEFT + hour * _CELL, y, step, row.label, hour, share)
        return drawing.svg(top + len(self.rows) * step + 1)

    def _draw_key(self, drawing: Drawing) -> None:
        drawing.text(_LEFT, 7, "share lost, %:", size=SMALL, colour=SOFT)
        x = _LEFT + 50
        for colour, text in zip(_HUE, _NAMES, strict=True):
            drawing.rect(x, 1.6, 9, 6, colour, stroke=RULE)
            drawing.text(x + 12, 7, text, size=SMALL)
            x += 48
        drawing.text(x + 4, 7, "· nothing due", size=SMALL)


def _draw_cell(
    drawing: Drawing, x: float, y: float, step: float, label: str, hour: int, share: float | None
) -> None:
    if share is None:
        drawing.text(x + _CELL / 2, y + step / 2 + 2, "·", anchor="middle", colour=SOFT)
        return
    colour = _HUE[sum(share >= edge for edge in _EDGES)]
    tip = f"{label} {hour:02d}:00: {units.percent(share)} lost"
    drawing.rect(x + 0.4, y + 0.4, _CELL - 0.8, step - 0.8, colour, tip=tip, stroke="#E6E6E6")
    if share > 0.2:
        text = f"{share * 100:.0f}"
        drawing.text(x + _CELL / 2, y + step / 2 + 2.3, text, anchor="middle", size=SMALL)
