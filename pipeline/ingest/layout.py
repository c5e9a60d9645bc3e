"""Lines of one layout: where a program prints a million lines alike, fields are cut out instead of searched.

Two lines have the same layout when they differ in digits only. An expression that does not tell one digit
from another matches both at the same places. So it is enough to search one line of each layout, and to cut
the others there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline.ingest.clock import TS, YEARS

#: Layouts that are tried in lines of one length, and lengths that are tried.
_MAX_LAYOUTS = 8
_MAX_LENGTHS = 6

#: Bytes that are compared at a time, few enough to stay near the processor.
_PART_BYTES = 1 << 18

_ZERO, _NINE = ord("0"), ord("9")

#: A number of a layout, with zeros for all digits.
_NUMBER = re.compile(
    r"(?P<sign>-?)(?P<whole>0+)(?:\.(?P<rest>0*))?(?:[eE](?:(?P<down>-)|\+?)(?P<exponent>00?))?"
)

#: An ISO stamp of a layout.
_STAMP = re.compile(
    r"(?P<year>0{4})-(?P<month>00)-(?P<day>00)[T ]"
    r"(?P<hour>00):(?P<minute>00):(?P<second>00)(?:[.,](?P<rest>0+))?"
)

#: Digits and powers of ten that a double holds exactly.
_EXACT_DIGITS, _EXACT_POWER = 15, 22
_TENS = np.array([float(10**power) for power in range(_EXACT_POWER + 1)])


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

    def numbers(self, start: int, end: int) -> pl.Series | None:
        """Return the numbers between two places of each line, or None where these have to be read as texts.

        They are those that reading the texts gives: a whole number of up to 15 digits is exact, and so is a
        power of ten of up to 22, hence their product or quotient is rounded once.
        """
        found = _NUMBER.fullmatch(self.example, start, end) if start >= 0 else None
        if found is None or len(found["whole"] + (found["rest"] or "")) > _EXACT_DIGITS:
            return None
        rest = found["rest"] or ""
        digits = self._digits(*found.span("whole"))
        if rest:
            # The point between the digits is taken out.
            digits = np.hstack([digits, self._digits(*found.span("rest"))])
        values = digits @ _powers(len(found["whole"] + rest))
        if found["sign"]:
            values = -values
        if found["rest"] is None and found["exponent"] is None:
            return pl.Series(values.astype(np.int64))
        power = np.full(len(values), -len(rest), dtype=np.int64)
        if found["exponent"]:
            exponent = self._digits(*found.span("exponent")) @ _powers(len(found["exponent"]))
            power += (-exponent if found["down"] else exponent).astype(np.int64)
        if np.abs(power).max(initial=0) > _EXACT_POWER:
            return None
        return pl.Series(values * _TENS[np.maximum(power, 0)] / _TENS[np.maximum(-power, 0)])

    def stamps(self, start: int, end: int) -> pl.Series | None:
        """Return the times of ISO stamps without an offset between two places of each line, or None.

        None where they have another shape, or where one is no time: texts are read then, and tell which.
        """
        found = _STAMP.fullmatch(self.example, start, end) if start >= 0 else None
        if found is None:
            return None
        year, month, day, hour, minute, second = (
            (self._digits(*found.span(part)) @ _powers(len(found[part]))).astype(np.int64)
            for part in ("year", "month", "day", "hour", "minute", "second")
        )
        first = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
        days, beyond = (months.astype("datetime64[D]").astype(np.int64) for months in (first, first + 1))
        valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= beyond - days)
        valid &= (hour < 24) & (minute < 60) & (second < 60) & (year >= YEARS[0]) & (year < YEARS[1])
        if not valid.all():
            return None
        micros = (((days + day - 1) * 24 + hour) * 60 + minute) * 60 + second
        micros *= 1_000_000
        if found["rest"]:
            digits = min(len(found["rest"]), 6)
            rest = self._digits(found.start("rest"), found.start("rest") + digits) @ _powers(digits)
            micros += rest.astype(np.int64) * 10 ** (6 - digits)
        return pl.Series(micros).cast(TS)

    def _digits(self, start: int, end: int) -> NDArray[np.float64]:
        """Return the digits between two places of each line, as numbers."""
        return (self.content[:, start:end] - np.uint8(_ZERO)).astype(np.float64)


@cache
def _powers(count: int) -> NDArray[np.float64]:
    """Return what so many digits stand for, the highest first."""
    return _TENS[:count][::-1].copy()


def blocks_of(text: pl.Series, shapes: pl.Series, least: int) -> Iterator[Block]:
    """Yield the lines of a column that have one shape, of those shapes that at least so many lines share.

    ``shapes`` are the numbers of the shapes of the lines.
    """
    for shape, count in shapes.value_counts(sort=True).rows():
        if count < least:
            return
        rows = (shapes == shape).arg_true()
        joined = text[rows].str.join("").cast(pl.Binary)[0]
        if joined and joined.isascii():
            example = re.sub(rb"\d", b"0", joined[: len(joined) // count])
            content = np.frombuffer(joined, dtype=np.uint8).reshape(count, -1)
            yield Block(example.decode("ascii"), rows, content)


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
