"""How high blocks of the review are on paper, estimated from the template's sizes: within some points."""

from __future__ import annotations

import re
from math import ceil

from pipeline.report.charts.font import text_width
from pipeline.report.model import Beside, Block, Figure, Item, Listing, Row, Table, Text

#: Height between the margins of a sheet, in points: 262 mm of A4 and 244.4 mm of Letter.
SHEETS = {"a4": 742.0, "letter": 692.0}

#: Width between the margins: 174 mm.
_WIDTH = 493.0

#: From the top of a capital to the foot of the line, and free room between lines; in em.
_CAPITAL, _LEADING, _TIGHT = 0.73, 0.55, 0.42

#: Above a block; below its caption; above and below the text of a cell.
_ABOVE, _BELOW_CAPTION, _INSET = 11.0, 6.0, 2.3

#: What is lost at the ends of lines, since words are not cut.
_RAGGED = 1.05

_VIEW_BOX = re.compile(r'viewBox="0 0 \S+ ([\d.]+)"')


def _lines(text: str, width: float, size: float) -> int:
    """Return in how many lines a text is set; words are seldom wider than a line."""
    wide = text_width(text, size)
    return 1 if wide <= width else ceil(wide * _RAGGED / max(width, 1.0))


def _paragraph(text: str, size: float, leading: float = _LEADING, width: float = _WIDTH) -> float:
    lines = _lines(text, width, size)
    return size * (lines * _CAPITAL + (lines - 1) * leading)


def head_height(sentence: str) -> float:
    """Return the height of what stands above the blocks of a page, in points."""
    return 17.6 + _paragraph(sentence, 11.5, width=_WIDTH * 0.94)


def height_of(block: Block, width: float = _WIDTH) -> float:
    """Return the height of a block with the room above it, in points."""
    if isinstance(block, Beside):
        inner = width - 14.0
        left = inner * block.share / 100
        return max(height_of(block.left, left), height_of(block.right, inner - left))
    if isinstance(block, Figure):
        found = _VIEW_BOX.search(block.chart.draw("height", ""))
        drawn = float(found[1]) if found else 0.0
        return _ABOVE + _paragraph(block.caption, 7.0, width=width) + _BELOW_CAPTION + drawn
    if isinstance(block, Table):
        return _table(block, width)
    if isinstance(block, Listing):
        items = sum(5.3 + _item(item, width) for item in block.items)
        note = 6.0 + _paragraph(block.note, 6.5) if block.note else 0.0
        return _ABOVE + 5.5 + items + note
    if isinstance(block, Text):
        return 6.0 + _paragraph(block.text, 7.0, width=width)
    return 12.0 * (len(block.rows) + 2)


def _item(item: Item, width: float) -> float:
    wide = text_width(item.lead, 7.0, bold=True) + 6.0 + text_width(item.text, 7.0)
    lines = 1 if wide <= width else ceil(wide * _RAGGED / width)
    return 7.0 * (lines * _CAPITAL + (lines - 1) * _LEADING)


def _table(table: Table, width: float) -> float:
    widths = _column_widths(table, width)
    head = max(
        _paragraph(column.title, 6.3, _TIGHT, wide)
        for column, wide in zip(table.columns, widths, strict=True)
    )
    # it is moved up towards the table
    after = _paragraph(table.after, 6.5, width=width) - 1.5 if table.after else 0.0
    caption = _paragraph(table.caption, 7.0, _TIGHT, width) + _BELOW_CAPTION
    rows = sum(_row(row, widths, width) for row in table.rows)
    return _ABOVE + caption + head + 2 * _INSET + rows + after


def _row(row: Row, widths: list[float], width: float) -> float:
    cells = max(_paragraph(cell, 6.8, _TIGHT, wide) for cell, wide in zip(row.cells, widths, strict=True))
    detail = 3.6 + _paragraph(row.detail, 6.2, _TIGHT, width * 0.85) if row.detail else 0.0
    return cells + 2 * _INSET + 0.4 + detail


def _column_widths(table: Table, width: float) -> list[float]:
    """Return the free width of each column: of its content, or its share of what the others leave."""
    inset = 2 * 2.6

    def content(n: int) -> float:
        cells = (row.cells[n] for row in table.rows)
        head = text_width(table.columns[n].title, 6.3)
        return max([head, *(text_width(cell, 6.8) for cell in cells)]) * _RAGGED

    fixed = {n: content(n) for n, column in enumerate(table.columns) if not column.share}
    left = width - inset * len(table.columns) - sum(fixed.values())
    shares = sum(column.share for column in table.columns) or 1
    return [fixed.get(n, left * column.share / shares) for n, column in enumerate(table.columns)]
