"""How many rows each part of a page prints: as many as fit on one sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipeline.report.heights import SHEETS, head_height, height_of
from pipeline.report.model import Block, Row, Table


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page.

    Attributes:
        build: gives its blocks with so many rows at most, and says in them what is left out.
        least: rows that it has where the sheet is full.
        most: rows that it never exceeds, however empty the sheet.
    """

    build: Callable[[int], Sequence[Block]]
    least: int
    most: int


def fit_parts(sentence: str, paper: str, parts: Sequence[Part]) -> tuple[Block, ...]:
    """Return the blocks of all parts, with as many rows as fit on one sheet.

    Each part has its least rows; then they take turns, and each gets one more row while there is room for it.
    """
    sheet = SHEETS.get(paper, SHEETS["letter"]) - head_height(sentence)
    counts = [part.least for part in parts]
    built = [tuple(part.build(part.least)) for part in parts]
    heights = [sum(map(height_of, blocks)) for blocks in built]
    growing = [n for n, part in enumerate(parts) if part.least < part.most]
    while growing:
        for n in tuple(growing):
            more = tuple(parts[n].build(counts[n] + 1))
            height = sum(map(height_of, more))
            fits = more != built[n] and sum(heights) - heights[n] + height <= sheet
            if fits:
                counts[n], built[n], heights[n] = counts[n] + 1, more, height
            if not fits or counts[n] == parts[n].most:
                growing.remove(n)
    return tuple(block for blocks in built for block in blocks)


def told_columns(table: Table) -> Table:
    """Return the table without columns in which no row says anything."""
    rows = (*table.rows, *table.more)
    told = [n for n in range(len(table.columns)) if n == 0 or any(row.cells[n] != "–" for row in rows)]
    if len(told) == len(table.columns):
        return table

    def kept(rows: Sequence[Row]) -> tuple[Row, ...]:
        return tuple(replace(row, cells=tuple(row.cells[n] for n in told)) for row in rows)

    columns = tuple(table.columns[n] for n in told)
    return replace(table, columns=columns, rows=kept(table.rows), more=kept(table.more))


def more_of(hidden: int, noun: str = "") -> str:
    """Return the sentence on what the sheet leaves out; nothing where it leaves out nothing."""
    return f" {hidden:,} more{noun and ' ' + noun} in review.html." if hidden > 0 else ""
