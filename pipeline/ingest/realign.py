"""Which field of a raw, delimited row belongs to which column, where the delimiter also stands in a value.

Columns with a known shape hold the row in place; columns of free text take what is over. Where the columns
that matter come out the same in every way to split the row, that is the row; else there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

#: More ways to split a row than this are as good as any number: the row says nothing.
MAX_WAYS = 32


class Realigner:
    """Splits rows of one table.

    Args:
        delimiter: text between two fields.
        columns: number of columns.
        trailing: whether the delimiter always stands behind the last field, too.
        shapes: place of a column to the regular expression that its whole text matches.
        free: places of the columns that may hold delimiters and line breaks.
    """

    def __init__(
        self, delimiter: str, columns: int, trailing: bool, shapes: Mapping[int, str], free: Set[int]
    ) -> None:
        self._delimiter = delimiter
        self._columns = columns
        self._trailing = trailing
        self._shapes = {at: re.compile(shape) for at, shape in shapes.items()}
        self._free = free

    def align(self, text: str) -> Sequence[str | None] | None:
        """Return one value per column, null where it is empty or not certain; None where nothing fits."""
        if text.count(self._delimiter) < self._columns - 1:
            return None
        parts = text.split(self._delimiter)
        ended = parts[-1].strip() == ""
        values = self._align(parts[:-1]) if ended else None
        return values or (None if self._trailing else self._align(parts))

    def count(self, text: str) -> int:
        """Return how often the delimiter stands in a text."""
        return text.count(self._delimiter)

    def may_join(self, delimiters: int) -> bool:
        """Tell whether lines with so many delimiters together can be one record."""
        return delimiters in (self._columns - 1, self._columns)

    def _align(self, parts: list[str]) -> Sequence[str | None] | None:
        """Return one value per column out of the fields of a row, or None."""
        if len(parts) != self._columns and any("\n" in part for part in parts):
            return None  # breaks and delimiters in the values of one row could as well be two torn rows
        ways = []
        for way in self._ways(parts, 0, 0, set()):
            ways.append(way)
            if len(ways) > MAX_WAYS:
                return None
        if not ways:
            return None
        values = [self._agreed({way[at] for way in ways}, at) for at in range(self._columns)]
        return None if "\0" in values else [value or None for value in values]

    def _agreed(self, values: set[str], at: int) -> str:
        """Return the value that every way gives; NUL where a column that matters is in doubt."""
        if len(values) == 1:
            return values.pop().strip()
        return "" if at in self._free else "\0"

    def _ways(
        self, parts: list[str], column: int, part: int, dead: set[tuple[int, int]]
    ) -> Iterator[tuple[str, ...]]:
        """Yield the values from ``column`` on, for every way to split the parts from ``part`` on."""
        spare = (len(parts) - part) - (self._columns - column)
        if column == self._columns:
            if spare == 0:
                yield ()
            return
        if spare < 0 or (column, part) in dead:
            return
        found = False
        for taken in range(1, spare + 2 if column in self._free else 2):
            value = self._delimiter.join(parts[part : part + taken])
            if "\n" in value.strip() and column not in self._free:
                continue
            shape = self._shapes.get(column)
            if shape is not None and not shape.fullmatch(value):
                continue
            for rest in self._ways(parts, column + 1, part + taken, dead):
                found = True
                yield (value, *rest)
        if not found:
            dead.add((column, part))
