"""Small multiples: one tiny bridge of losses per run, all on the same scale."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.font import fit
from pipeline.report.charts.palette import RULE, SOFT, TITLES
from pipeline.report.charts.scale import Linear
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_ACROSS, _GAP = 3, 13.0
_ROW, _BAR, _HEAD, _FOOT = 9.5, 7.0, 20.0, 12.0
_LABELS, _VALUES = 50.0, 34.0


@dataclass(frozen=True, slots=True)
class Panel:
    """One run: its name, a line on its size, and GPU-seconds lost by layer."""

    title: str
    subtitle: str
    layers: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Multiples:
    """Runs from the largest loss down."""

    panels: tuple[Panel, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the grid as SVG."""
        drawing = Drawing(name, alt)
        width = (drawing.width - (_ACROSS - 1) * _GAP) / _ACROSS
        height = _HEAD + max(len(p.layers) for p in self.panels) * _ROW + _FOOT
        widest = max(sum(gpu_s for _, gpu_s in panel.layers) for panel in self.panels)
        decimals = units.gpu_hours_decimals([widest])
        for n, panel in enumerate(self.panels):
            x, y = (n % _ACROSS) * (width + _GAP), (n // _ACROSS) * height
            scale = Linear(0, widest, x + _LABELS, x + width - _VALUES)
            drawing.line(x, y + 0.5, x + width, y + 0.5, colour=RULE)
            drawing.text(x, y + 9, fit(panel.title, width, SIZE, bold=True), bold=True)
            drawing.text(x, y + 16.5, fit(panel.subtitle, width, SMALL), size=SMALL, colour=SOFT)
            _draw_panel(drawing, panel, scale, x, y + _HEAD, decimals)
        lines = (len(self.panels) + _ACROSS - 1) // _ACROSS
        return drawing.svg(lines * height - 4)


def _draw_panel(drawing: Drawing, panel: Panel, scale: Linear, x: float, top: float, decimals: int) -> None:
    at = 0.0
    for n, (layer, gpu_s) in enumerate(panel.layers):
        y = top + n * _ROW
        start, end = scale.at(at), scale.at(at + gpu_s)
        drawing.text(x, y + 5.8, TITLES[layer], size=SMALL)
        text = units.gpu_hours(gpu_s, decimals)
        tip = f"{panel.title}, {TITLES[layer].lower()}: {text}{units.THIN}GPU-h"
        if gpu_s > 0:
            drawing.rect(start, y, max(end - start, 0.5), _BAR, drawing.fill(layer), tip=tip)
        drawing.text(end + 3, y + 5.8, text, size=SMALL, halo=True)
        if n + 1 < len(panel.layers):
            drawing.line(end, y + _BAR if gpu_s > 0 else y, end, y + _ROW, colour=SOFT, width=0.4)
        at += gpu_s
