"""Coverage: one lane per source; when it had lines, when it was silent, when it was not there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.report.charts.attempts import draw_time_axis
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import MISSING, SOFT
from pipeline.report.charts.scale import Linear
from pipeline.report.charts.svg import SMALL, Drawing

_ROW, _BAR = 9.5, 6.5
_LINES, _SILENT = "#0072B2", "#FFFFFF"


@dataclass(frozen=True, slots=True)
class Known:
    """A stretch with lines, or a silent one."""

    silent: bool
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class SourceLane:
    """A source: its path, and its stretches in order of time."""

    path: str
    stretches: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Sources from top to bottom over one period."""

    start: datetime
    end: datetime
    lanes: tuple[SourceLane, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the lanes as SVG."""
        drawing = Drawing(name, alt)
        left = min(max((text_width(lane.path, SMALL) for lane in self.lanes), default=0.0) + 8, 170)
        scale = Linear(self.start.timestamp(), self.end.timestamp(), left, drawing.width - 6)
        _draw_key(drawing, left)
        top = 13.0
        foot = top + len(self.lanes) * _ROW
        for n, lane in enumerate(self.lanes):
            y = top + n * _ROW
            drawing.text(0, y + 5.6, fit(lane.path, left - 6, SMALL, keep_end=True), size=SMALL)
            drawing.rect(
                left,
                y,
                scale.end - left,
                _BAR,
                drawing.paint("missing", MISSING),
                tip=f"{lane.path}: not there",
            )
            for stretch in lane.stretches:
                x, end = scale.at(stretch.start.timestamp()), scale.at(stretch.end.timestamp())
                words = "silent" if stretch.silent else "lines"
                colour = _SILENT if stretch.silent else _LINES
                drawing.rect(
                    x, y, max(end - x, 0.6), _BAR, colour,
                    tip=f"{lane.path}: {words}", stroke=_LINES if stretch.silent else "",
                )  # fmt: skip
        draw_time_axis(drawing, self.start, self.end, scale, foot - 1, foot)
        return drawing.svg(foot + 19)


def _draw_key(drawing: Drawing, x: float) -> None:
    for paint, stroke, text in (
        (_LINES, "", "lines"),
        (_SILENT, _LINES, "silent for long"),
        (drawing.paint("missing", MISSING), "", "outside the file"),
    ):
        drawing.rect(x, 1.6, 9, 6, paint, stroke=stroke)
        drawing.text(x + 11.5, 7, text, size=SMALL, colour=SOFT)
        x += 11.5 + text_width(text, SMALL) + 12
