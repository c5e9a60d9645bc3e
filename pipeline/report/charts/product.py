"""Product strip: the factors of goodput on one scale, each with what its layer took, and their products."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.palette import GROUND, INK, RULE, SOFT
from pipeline.report.charts.scale import Linear
from pipeline.report.charts.svg import SMALL, Drawing

_BAR_X, _BAR_END = 150.0, 405.0
_ROW, _BAR = 18.0, 9.5
_KEPT = "#D9D9D9"


@dataclass(frozen=True, slots=True)
class Factor:
    """One bar.

    Attributes:
        title: name of the figure.
        definition: what it is, in about six words.
        layer: layer whose share the rest of the bar is; ``productive`` for a product.
        value: 0 to 1, None when it is not known.
        reason: why it is not known.
        target: value aimed at, or None.
        previous: value of the review before, or None.
    """

    title: str
    definition: str
    layer: str
    value: float | None
    reason: str = ""
    target: float | None = None
    previous: float | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """Factors from top to bottom; a factor of layer ``productive`` is the product of those above it."""

    factors: tuple[Factor, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the strip as SVG."""
        drawing = Drawing(name, alt)
        scale = Linear(0, 1, _BAR_X, _BAR_END)
        for n, factor in enumerate(self.factors):
            _draw_factor(drawing, scale, factor, 1 + n * _ROW)
        foot = 1 + len(self.factors) * _ROW
        for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
            x = scale.at(share)
            drawing.line(x, foot - 4, x, foot - 1, colour=SOFT)
            text = f"{share * 100:.0f}" + (f"{units.THIN}%" if share == 1 else "")
            drawing.text(x, foot + 6, text, anchor="middle", size=SMALL, colour=SOFT)
        return drawing.svg(foot + 9)


def _draw_factor(drawing: Drawing, scale: Linear, factor: Factor, y: float) -> None:
    product = factor.layer == "productive"
    drawing.text(0, y + 5.6, factor.title if not product else f"= {factor.title}", bold=True)
    drawing.text(0, y + 12.8, factor.definition, size=SMALL, colour=SOFT)
    value_x = _BAR_END + 9
    if factor.value is None:
        drawing.rect(_BAR_X, y, _BAR_END - _BAR_X, _BAR, "#fff", stroke=RULE)
        drawing.text(_BAR_X + 4, y + 7.3, factor.reason, size=SMALL)
        drawing.text(value_x, y + 7.6, "not known", size=SMALL)
        return
    end = scale.at(factor.value)
    kept, rest = (drawing.fill("productive"), GROUND) if product else (_KEPT, drawing.fill(factor.layer))
    tip = f"{factor.title}: {units.percent(factor.value)}"
    drawing.rect(_BAR_X, y, end - _BAR_X, _BAR, kept, tip=tip)
    drawing.rect(end, y, _BAR_END - end, _BAR, rest, tip=tip)
    drawing.text(value_x, y + 8, units.percent(factor.value), bold=product, size=8.5 if product else 7.5)
    notes = []
    if factor.previous is not None:
        x = scale.at(factor.previous)
        drawing.line(x, y - 1.5, x, y + _BAR + 1.5, colour=SOFT, width=0.8)
        notes.append(f"before {units.percent(factor.previous)}")
    if factor.target is not None:
        x = scale.at(factor.target)
        drawing.line(x, y - 2, x, y + _BAR + 2, colour=INK, width=1.6)
        notes.append(f"target {units.percent(factor.target)}")
    if notes:
        drawing.text(value_x, y + 14.4, ", ".join(notes), size=5.8)
