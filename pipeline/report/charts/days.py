"""Windows as rows of one hundred per cent, layers in their fixed order, capacity in the margin."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.layout import draw_key, layer_key
from pipeline.report.charts.palette import ORDER, SOFT
from pipeline.report.charts.scale import Linear
from pipeline.report.charts.svg import SMALL, Drawing

_BAR_X, _BAR_END = 118.0, 420.0


@dataclass(frozen=True, slots=True)
class Day:
    """One row.

    Attributes:
        label: name of the window.
        capacity_gpu_s: GPU-seconds of capacity: what one hundred per cent are.
        goodput: training-time goodput, or None.
        layers: layer and GPU-seconds, in the fixed order.
    """

    label: str
    capacity_gpu_s: float
    goodput: float | None
    layers: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Days:
    """Windows in order of time."""

    rows: tuple[Day, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the rows as SVG."""
        drawing = Drawing(name, alt)
        used = [
            layer
            for layer in ORDER
            if any(gpu_s for row in self.rows for key, gpu_s in row.layers if key == layer)
        ]
        draw_key(drawing, _BAR_X, 7, layer_key(used))
        drawing.text(_BAR_X - 8, 7, "goodput", anchor="end", size=SMALL, colour=SOFT)
        drawing.text(drawing.width, 7, "GPU-h of capacity", anchor="end", size=SMALL, colour=SOFT)
        step = 12.0 if len(self.rows) <= 16 else 9.0
        bar = step - 2.5
        decimals = units.gpu_hours_decimals(row.capacity_gpu_s for row in self.rows)
        for n, row in enumerate(self.rows):
            y = 12 + n * step
            base = y + bar / 2 + 2.5
            drawing.text(0, base, row.label)
            drawing.text(_BAR_X - 8, base, units.percent(row.goodput), anchor="end")
            drawing.text(drawing.width, base, units.gpu_hours(row.capacity_gpu_s, decimals), anchor="end")
            _draw_bar(drawing, row, y, bar)
        foot = 12 + len(self.rows) * step
        scale = Linear(0, 1, _BAR_X, _BAR_END)
        for share in (0, 0.25, 0.5, 0.75, 1):
            text = f"{share * 100:.0f}" + (f"{units.THIN}%" if share == 1 else "")
            x = scale.at(share)
            drawing.line(x, foot - 2, x, foot + 1, colour=SOFT)
            drawing.text(x, foot + 8, text, anchor="middle", size=SMALL, colour=SOFT)
        return drawing.svg(foot + 10)


def _draw_bar(drawing: Drawing, row: Day, y: float, height: float) -> None:
    scale = Linear(0, row.capacity_gpu_s, _BAR_X, _BAR_END)
    at = 0.0
    for layer, gpu_s in row.layers:
        if gpu_s <= 0:
            continue
        x, end = scale.at(at), scale.at(at + gpu_s)
        tip = f"{row.label}, {layer}: {units.gpu_hours(gpu_s)}{units.THIN}GPU-h"
        drawing.rect(x, y, end - x, height, drawing.fill(layer), tip=tip)
        if at > 0 and end - x > 1:
            drawing.line(x, y, x, y + height, colour="#fff", width=0.6)
        at += gpu_s
