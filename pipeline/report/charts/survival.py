"""Survival of attempts: a falling curve with its band, ticks for censored attempts, numbers at risk below."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.palette import CODES, RULE, SOFT
from pipeline.report.charts.scale import Linear, nice_ticks, tick_texts
from pipeline.report.charts.svg import SMALL, Drawing

_LEFT, _TOP, _HEIGHT = 58.0, 12.0, 92.0
_BAND = "#D5E6F2"


@dataclass(frozen=True, slots=True)
class Step:
    """An age at which an attempt ended.

    Attributes:
        age_s: age in seconds.
        survival: share of attempts that outlive it.
        low, high: band of 95 %, None where it is not defined.
        censored: attempts that ended here by something other than failure.
        at_risk: attempts that had lived this long or longer.
    """

    age_s: float
    survival: float
    low: float | None
    high: float | None
    censored: int
    at_risk: int


@dataclass(frozen=True, slots=True)
class SurvivalCurve:
    """Steps in order of age."""

    steps: tuple[Step, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the curve as SVG."""
        drawing = Drawing(name, alt)
        last = self.steps[-1].age_s
        per, unit = (units.HOUR, "hours") if last >= 2 * units.HOUR else (60.0, "minutes")
        x = Linear(0, last, _LEFT, drawing.width - 12)
        y = Linear(0, 1, _TOP + _HEIGHT, _TOP)
        self._draw_axes(drawing, x, y, per, unit)
        self._draw_band(drawing, x, y)
        self._draw_curve(drawing, x, y)
        _draw_key(drawing)
        return drawing.svg(_TOP + _HEIGHT + 26)

    def _draw_axes(self, drawing: Drawing, x: Linear, y: Linear, per: float, unit: str) -> None:
        for n in range(5):
            level = y.at(n / 4)
            drawing.line(_LEFT, level, x.end, level, colour="#E6E6E6" if n else RULE)
            label = f"{25 * n}{units.THIN}%" if n == 4 else f"{25 * n}"
            drawing.text(_LEFT - 4, level + 2.3, label, anchor="end", size=SMALL, colour=SOFT)
        foot = _TOP + _HEIGHT
        drawing.text(0, foot + 10, f"age, {unit}", size=SMALL, colour=SOFT)
        drawing.text(0, foot + 23, "at risk", size=SMALL, colour=SOFT)
        ticks = nice_ticks(x.high / per, most=8)
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            at = x.at(tick * per)
            drawing.line(at, foot, at, foot + 2.5, colour=RULE)
            drawing.text(at, foot + 10, text, anchor="middle", size=SMALL, colour=SOFT)
            drawing.text(at, foot + 23, f"{self._at_risk(tick * per):,}", anchor="middle", size=SMALL)

    def _at_risk(self, age_s: float) -> int:
        """Return how many attempts had lived to an age or longer."""
        return next((step.at_risk for step in self.steps if step.age_s >= age_s), 0)

    def _draw_band(self, drawing: Drawing, x: Linear, y: Linear) -> None:
        """Draw one rectangle for each stretch between two steps over which the band is known."""
        ends = [*(step.age_s for step in self.steps[1:]), x.high]
        for step, end in zip(self.steps, ends, strict=True):
            if step.low is not None and step.high is not None and end > step.age_s:
                left, right = x.at(step.age_s), x.at(end)
                drawing.rect(left, y.at(step.high), right - left, y.at(step.low) - y.at(step.high), _BAND)

    def _draw_curve(self, drawing: Drawing, x: Linear, y: Linear) -> None:
        colour = CODES["productive"].colour
        at, level = x.start, 1.0
        for step in self.steps:
            here = x.at(step.age_s)
            drawing.line(at, y.at(level), here, y.at(level), colour=colour, width=1.2)
            if step.survival < level:
                drawing.line(here, y.at(level), here, y.at(step.survival), colour=colour, width=1.2)
            at, level = here, step.survival
            if step.censored:
                drawing.line(here, y.at(level) - 3, here, y.at(level) + 3, width=0.7)


def _draw_key(drawing: Drawing) -> None:
    colour = CODES["productive"].colour
    drawing.line(_LEFT, 4.8, _LEFT + 12, 4.8, colour=colour, width=1.2)
    drawing.text(_LEFT + 15, 7, "attempts that live on", size=SMALL)
    drawing.rect(_LEFT + 96, 1.6, 12, 6, _BAND)
    drawing.text(_LEFT + 111, 7, f"95{units.THIN}% band", size=SMALL)
    drawing.line(_LEFT + 166, 1.8, _LEFT + 166, 7.8, width=0.7)
    drawing.text(_LEFT + 170, 7, "ended by something else, or still running", size=SMALL)
