"""Lines of one layout: where a program prints a million lines alike, fields are cut out instead of searched.

Two lines have the same layout when they differ in digits only. An expression that does not tell one digit
from another matches both at the same places. So it is enough to search one line of each layout, and to cut
the others there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: Layouts that are tried in lines of one length, and lengths that are tried.
_MAX_LAYOUTS = 8
_MAX_LENGTHS = 6

#: Bytes that are compared at a time, few enough to stay near the processor.
_PART_BYTES = 1 << 18

_ZERO, _NINE = ord("0"), ord("9")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one layout.

    Attributes:
        example: one of them, with zeros for all digits.
        rows: where they are in the column that they were found in, ascending.
        content: their bytes: one row per line, one column per character, all of them ASCII.
    """

    example: str
    rows: pl.Series
    content: NDArray[np.uint8]

    def cut(self, start: int, end: int) -> pl.Series:
        """Return what stands between two places of each line; nulls where the start is negative."""
        height, width = len(self.rows), end - start
        if start < 0 or not width:
            return pl.Series([None if start < 0 else ""], dtype=pl.String).new_from_index(0, height)
        # A column of arrays of bytes becomes one of texts without a look at any of them.
        texts = pl.Series(np.ascontiguousarray(self.content[:, start:end]))
        return texts.arr.to_list().cast(pl.Binary).cast(pl.String)


def find_blocks(text: pl.Series, least: int) -> Iterator[Block]:
    """Yield the lines of the commonest layouts of a column, those that at least so many lines share."""
    lengths = text.str.len_bytes()
    for length, count in lengths.value_counts(sort=True).head(_MAX_LENGTHS).rows():
        if count < least or not length:
            return
        rows = (lengths == length).arg_true()
        joined = text[rows].str.join("").cast(pl.Binary)[0]
        if not joined.isascii():
            rows = rows.filter(text[rows].str.len_chars() == length)
            joined = text[rows].str.join("").cast(pl.Binary)[0]
        if len(rows):
            yield from _split(rows, np.frombuffer(joined, dtype=np.uint8).reshape(-1, length), least)


def _split(rows: pl.Series, content: NDArray[np.uint8], least: int) -> Iterator[Block]:
    """Yield the blocks of lines of one length."""
    for _ in range(_MAX_LAYOUTS):
        if len(rows) < least:
            return
        # Counters grow, and the line in the middle is like most.
        line = content[len(content) // 2]
        digits = (line >= _ZERO) & (line <= _NINE)
        lowest = np.where(digits, _ZERO, line).astype(np.uint8)
        beyond = np.where(digits, _NINE - _ZERO, 0).astype(np.uint8)
        same = _find_alike(content, lowest, beyond)
        example = lowest.tobytes().decode("ascii")
        if same.all():
            yield Block(example, rows, content)
            return
        alike = pl.Series(same)
        if np.count_nonzero(same) >= least:
            yield Block(example, rows.filter(alike), content[same])
        rows, content = rows.filter(~alike), content[~same]


def _find_alike(
    content: NDArray[np.uint8], lowest: NDArray[np.uint8], beyond: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Return which lines have at each place the lowest character, or one that is at most so far beyond it."""
    same = np.empty(len(content), dtype=np.bool_)
    lines = max(1, _PART_BYTES // content.shape[1])
    for at in range(0, len(content), lines):
        # Below the lowest the difference of bytes wraps around, and is large.
        np.all(content[at : at + lines] - lowest <= beyond, axis=1, out=same[at : at + lines])
    return same
