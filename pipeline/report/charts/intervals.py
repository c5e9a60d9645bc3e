"""Figures with their limits: one row each, a dot and a line on a logarithmic axis, numbers beside them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.font import fit
from pipeline.report.charts.palette import RULE, SOFT
from pipeline.report.charts.scale import Log, log_ticks
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_LEFT, _RIGHT = 120.0, 330.0
_ROW, _TOP = 12.0, 14.0


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A figure with limits.

    Attributes:
        title: what it is of.
        value: the figure, None where it is not known.
        low, high: its limits; a missing one is open.
        texts: one text for each column beside the axis.
        group: whether a hairline sets it apart from the row above.
    """

    title: str
    value: float | None
    low: float | None
    high: float | None
    texts: tuple[str, ...]
    group: bool = False


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rows from top to bottom.

    Attributes:
        rows: figures; at least one has a limit above zero.
        unit: words below the axis.
        columns: title and right edge, in points, of each column beside the axis.
    """

    rows: tuple[IntervalRow, ...]
    unit: str
    columns: tuple[tuple[str, float], ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the dots as SVG."""
        drawing = Drawing(name, alt)
        known = [v for row in self.rows for v in (row.value, row.low, row.high) if v is not None and v > 0]
        low, high = min(known), max(known)
        scale = Log(low / 1.25, high * 1.25, _LEFT, _RIGHT)
        foot = _TOP + len(self.rows) * _ROW
        for tick in log_ticks(scale.low, scale.high, most=7):
            x = scale.at(tick)
            drawing.line(x, _TOP - 2, x, foot, colour="#E6E6E6")
            drawing.text(
                x, foot + 7, units.number(tick, _places(tick)), anchor="middle", size=SMALL, colour=SOFT
            )
        drawing.text(0, foot + 7, self.unit, size=SMALL, colour=SOFT)
        for title, edge in self.columns:
            drawing.text(edge, 7, title, anchor="end", size=SMALL, colour=SOFT)
        for n, row in enumerate(self.rows):
            self._draw_row(drawing, row, scale, _TOP + n * _ROW)
        return drawing.svg(foot + 10)

    def _draw_row(self, drawing: Drawing, row: IntervalRow, scale: Log, y: float) -> None:
        if row.group:
            drawing.line(0, y - 1, drawing.width, y - 1, colour=RULE)
        drawing.text(0, y + 7.6, fit(row.title, _LEFT - 8, SIZE))
        middle = y + 5.2
        if row.low is not None or row.high is not None:
            left = scale.start if row.low is None else scale.at(row.low)
            right = scale.end if row.high is None else scale.at(row.high)
            drawing.line(left, middle, right, middle, width=1)
            for at, limit in ((left, row.low), (right, row.high)):
                if limit is None:  # open: an arrow instead of a stop
                    tip = 4 if at == scale.end else -4
                    drawing.shape([(at, middle - 2.2), (at, middle + 2.2), (at + tip, middle)], "#000")
                else:
                    drawing.line(at, middle - 2.2, at, middle + 2.2, width=1)
        if row.value is not None:
            drawing.shape(dot(scale.at(row.value), middle, 2.5), "#000", tip=f"{row.title}: {row.texts[0]}")
        for (_, edge), text in zip(self.columns, row.texts, strict=True):
            drawing.text(edge, y + 7.6, text, anchor="end", size=SMALL)


def dot(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    """Return the corners of an octagon, which at this size is a dot."""
    c = radius * 0.4142
    return [
        (x - c, y - radius), (x + c, y - radius), (x + radius, y - c), (x + radius, y + c),
        (x + c, y + radius), (x - c, y + radius), (x - radius, y + c), (x - radius, y - c),
    ]  # fmt: skip


def _places(tick: float) -> int:
    """Return the decimals of a tick of a logarithmic axis."""
    return 0 if tick >= 1 else 1 if tick >= 0.1 else 2 if tick >= 0.01 else 4
