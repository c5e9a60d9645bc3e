"""Split bars: how a step of each run divides, all on one scale from nothing to the whole step."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import units
from pipeline.report.charts.font import fit, text_width
from pipeline.report.charts.palette import PARTS, RULE, SOFT
from pipeline.report.charts.scale import Linear
from pipeline.report.charts.svg import SIZE, SMALL, Drawing

_ROW, _BAR, _TOP = 14.0, 9.5, 14.0
_NOTES = 112.0

#: What each part of a step is called.
PART_TITLES = {
    "compute": "computing",
    "exposed_comm": "exposed communication",
    "data_wait": "waiting for data",
    "bubble": "pipeline bubble",
    "memory_copy": "exposed copies",
    "other": "other, or not told apart",
}


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A run: its name, the shares of its step in the order of `PART_TITLES`, and a note at the right.

    Attributes:
        shares: part and share, those that are told; none where nothing tells them.
        reason: why nothing does.
    """

    title: str
    shares: tuple[tuple[str, float], ...]
    note: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Splits:
    """Runs from top to bottom."""

    rows: tuple[SplitRow, ...]

    def draw(self, name: str, alt: str) -> str:
        """Return the bars as SVG."""
        drawing = Drawing(name, alt)
        left = min(max(text_width(row.title, SIZE) for row in self.rows) + 8, 120)
        right = drawing.width - _NOTES
        parts = {part for row in self.rows for part, share in row.shares if share > 0}
        _draw_key(drawing, [part for part in PART_TITLES if part in parts])
        foot = _TOP + len(self.rows) * _ROW
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            x = Linear(0, 1, left, right).at(tick)
            drawing.line(x, _TOP - 2, x, foot, colour="#E6E6E6")
            label = units.percent(tick).replace(".0", "")
            drawing.text(x, foot + 7, label, anchor="middle", size=SMALL, colour=SOFT)
        for n, row in enumerate(self.rows):
            y = _TOP + n * _ROW
            drawing.text(0, y + 7.4, fit(row.title, left - 6, SIZE))
            if row.shares:
                _draw_bar(drawing, row, left, right, y)
            else:
                drawing.rect(left, y, right - left, _BAR, "#fff", stroke=RULE)
                told = fit(row.reason, right - left - 8, SMALL)
                drawing.text(left + 4, y + 6.9, told, size=SMALL, colour=SOFT)
            note = fit(row.note, _NOTES - 8, SMALL)
            drawing.text(drawing.width, y + 7.2, note, anchor="end", size=SMALL)
        return drawing.svg(foot + 10)


def _draw_key(drawing: Drawing, parts: list[str]) -> None:
    x = 0.0
    for part in parts:
        drawing.rect(x, 1.2, 9, 6, drawing.paint(part, PARTS[part]))
        drawing.text(x + 11.5, 6.6, PART_TITLES[part], size=SMALL)
        x += 11.5 + text_width(PART_TITLES[part], SMALL) + 11


def _draw_bar(drawing: Drawing, row: SplitRow, left: float, right: float, y: float) -> None:
    """Draw the parts of one step from left to right, each with its share where there is room for it."""
    whole = max(sum(share for _, share in row.shares), 1e-12)
    scale = Linear(0, whole, left, right)
    at = 0.0
    for part, share in row.shares:
        x, end = scale.at(at), scale.at(at + share)
        at += share
        if share <= 0:
            continue
        text = units.percent(share)
        tip = f"{row.title}, {PART_TITLES[part]}: {text}"
        drawing.rect(x, y, max(end - x, 0.4), _BAR, drawing.paint(part, PARTS[part]), tip=tip)
        drawing.line(x, y, x, y + _BAR, colour="#fff", width=0.5)
        if end - x > text_width(text, SMALL) + 6:
            wide = text_width(text, SMALL) + 3
            drawing.rect((x + end - wide) / 2, y + 1.3, wide, _BAR - 2.6, "#fff")
            drawing.text((x + end) / 2, y + 7.1, text, anchor="middle", size=SMALL)


def describe(row: SplitRow) -> str:
    """Return what a row shows, for the text alternative."""
    if not row.shares:
        return f"{row.title} {row.reason}"
    told = ", ".join(f"{PART_TITLES[part]} {units.percent(share)}" for part, share in row.shares if share > 0)
    return f"{row.title} {told}; {row.note}" if row.note else f"{row.title} {told}"
