"""Bridge in two panels: all of the capacity as one strip, and below it the losses alone, enlarged."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.layout import spread
from pipeline.report.charts.palette import RULE, SOFT
from pipeline.report.charts.scale import Linear, nice_ticks, tick_texts
from pipeline.report.charts.svg import SIZE, SMALL, WIDTH, Drawing

_LABELS, _AXIS_END = 134.0, 412.0
_ROW, _BAR = 10.4, 7.8
_STRIP_Y, _STRIP = 28.0, 13.0


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of the strip or a row of the lower panel.

    Attributes:
        title: what it is.
        layer: layer, for colour and hatch.
        gpu_s: GPU-seconds.
        label: the share in words; for the total, all that is printed.
    """

    title: str
    layer: str
    gpu_s: float
    label: str


@dataclass(frozen=True, slots=True)
class Bridge:
    """The strip's segments from left to right, and the rows of the losses from top to bottom."""

    strip: tuple[Part, ...]
    rows: tuple[Part, ...]
    total: Part

    def draw(self, name: str, alt: str) -> str:
        """Return the bridge as SVG."""
        drawing = Drawing(name, alt)
        whole = sum(part.gpu_s for part in self.strip)
        lost_x = self._draw_strip(drawing, whole)
        top = _STRIP_Y + _STRIP + 18
        _draw_funnel(drawing, lost_x, _STRIP_Y + _STRIP + 1.5, top - 4)
        foot = self._draw_rows(drawing, top)
        return drawing.svg(foot)

    def _draw_strip(self, drawing: Drawing, whole: float) -> float:
        """Draw the strip and its labels; return where the losses begin."""
        scale = Linear(0, whole, 0, WIDTH)
        decimals = units.gpu_hours_decimals([whole])
        at, lost_x = 0.0, WIDTH
        centres, texts = [], []
        for part in self.strip:
            x, end = scale.at(at), scale.at(at + part.gpu_s)
            value = units.gpu_hours(part.gpu_s, decimals)
            texts.append((part.title, f"{value} · {part.label}"))
            if end > x:
                drawing.rect(x, _STRIP_Y, end - x, _STRIP, drawing.fill(part.layer), tip=" ".join(texts[-1]))
            if part.layer == "productive":
                lost_x = end
            elif end - x > 1:
                drawing.line(x, _STRIP_Y, x, _STRIP_Y + _STRIP, colour="#fff", width=0.6)
            centres.append((x + end) / 2)
            at += part.gpu_s
        widths = [max(text_width(a, SIZE, bold=True), text_width(b, SMALL)) + 9 for a, b in texts]
        places = spread(centres, widths, -4.5, WIDTH + 4.5)
        for part, want, centre, (title, value) in zip(self.strip, centres, places, texts, strict=True):
            drawing.text(centre, 6, title, anchor="middle", bold=True)
            drawing.text(centre, 13.4, value, anchor="middle", size=SMALL)
            if part.gpu_s <= 0:
                continue
            drawing.line(centre, 15.6, centre, 17.5, colour=SOFT, width=0.4)
            drawing.line(centre, 17.5, want, _STRIP_Y - 3, colour=SOFT, width=0.4)
            drawing.line(want, _STRIP_Y - 3, want, _STRIP_Y - 0.6, colour=SOFT, width=0.4)
        return lost_x

    def _draw_rows(self, drawing: Drawing, top: float) -> float:
        """Draw one row per loss, stepping rightwards, and their sum; return the foot."""
        scale = Linear(0, self.total.gpu_s, _LABELS, _AXIS_END)
        decimals = units.gpu_hours_decimals([self.total.gpu_s])
        foot = top + (len(self.rows) + 1) * _ROW + 2
        ticks = nice_ticks(self.total.gpu_s / units.HOUR)
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            x = scale.at(tick * units.HOUR)
            drawing.line(x, top - 2, x, foot, colour="#E6E6E6")
            drawing.text(x, foot + 7, text, anchor="middle", size=SMALL, colour=SOFT)
        drawing.text(0, foot + 7, "GPU-hours, enlarged", size=SMALL, colour=SOFT)
        at = 0.0
        for n, row in enumerate(self.rows):
            y = top + n * _ROW
            x, end = scale.at(at), scale.at(at + row.gpu_s)
            drawing.text(0, y + 6.6, fit(row.title, _LABELS - 6, SIZE))
            text = f"{units.gpu_hours(row.gpu_s, decimals)}{units.THIN}GPU-h · {row.label}"
            drawing.rect(x, y, max(end - x, 0.5), _BAR, drawing.fill(row.layer), tip=f"{row.title}: {text}")
            drawing.line(end, y + _BAR, end, y + _ROW, colour=SOFT, width=0.4)
            fits = end + 4 + text_width(text, SMALL) <= WIDTH
            place, anchor = (end + 4, "start") if fits else (x - 4, "end")
            drawing.text(place, y + 6.4, text, anchor=anchor, size=SMALL, halo=True)
            at += row.gpu_s
        y = top + len(self.rows) * _ROW
        drawing.text(0, y + 6.6, self.total.title, bold=True)
        drawing.rect(_LABELS, y, scale.at(self.total.gpu_s) - _LABELS, _BAR, "#fff", stroke="#000")
        drawing.text(_LABELS + 4, y + 6.3, self.total.label, size=SMALL, bold=True)
        return foot + 10


def _draw_funnel(drawing: Drawing, lost_x: float, top: float, foot: float) -> None:
    """Draw the lines that say: the lower panel enlarges this part of the strip."""
    middle = top + 4
    for x, end in ((lost_x, _LABELS), (WIDTH - 0.3, _AXIS_END)):
        drawing.line(x, top, x, middle, colour=RULE)
        drawing.line(x, middle, end, foot - 3, colour=RULE)
        drawing.line(end, foot - 3, end, foot, colour=RULE)
