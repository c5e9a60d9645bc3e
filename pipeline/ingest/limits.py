"""What a number of a log can mean. Beyond that a line is damaged, and its number says nothing.

The ledger counts microseconds and GPUs in whole numbers, and one torn digit must not cost all of it.
"""

from __future__ import annotations

from functools import cache

import polars as pl

MAX_STEP = 10**12
MAX_SECONDS = 10**9
MAX_COUNT = 10**15
MAX_GPUS = 10**9

_STEPS = frozenset({"step", "step_last", "step_target", "steps"})
_GPUS = frozenset({"gpus", "n_nodes", "world_size"})


@cache
def limits_of(column: str, dtype: pl.DataType) -> tuple[int, int] | None:
    """Return the smallest and largest number that a column can hold, or None where any number is one."""
    if column in _STEPS:
        return 0, MAX_STEP
    if column in _GPUS:
        return 0, MAX_GPUS
    if column.endswith("_s") and not column.endswith("_per_s"):
        return 0, MAX_SECONDS
    return (-MAX_COUNT, MAX_COUNT) if dtype == pl.Int64 else None


def bound_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return event rows with null where a number cannot be one of its column."""
    return rows.with_columns(within_limits(name, rows[name]) for name in rows.columns)


def within_limits(column: str, numbers: pl.Series) -> pl.Series:
    """Return a column with null where its number cannot be one; of seconds NaN and infinity are none."""
    limits = limits_of(column, numbers.dtype) if numbers.dtype.is_numeric() else None
    if limits is None or numbers.null_count() == len(numbers):
        return numbers
    fits = numbers.is_between(*limits)
    if numbers.dtype.is_float():
        fits &= numbers.is_finite()
    return numbers if fits.all() else numbers.set(~fits, None)
