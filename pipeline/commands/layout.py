"""Tables of text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.plain import visible


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> str:
    """Return rows as columns of text; the columns named in ``right`` are numbers and end at the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[n]) for row in [list(header), *cells]) for n in range(len(header))]
    lines = []
    for row in [list(header), *cells]:
        padded = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, row, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """Return ``1 file`` or ``2,000 files``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _cell(value: object) -> str:
    """Return a value as one line of text: thousands with a comma, a dash for nothing."""
    if value is None or value == "":
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return visible(" ".join(str(value).split()))
