"""Bounds and ticks of logarithmic scales of durations: the ticks are round times."""

from __future__ import annotations

import math

from pipeline.report import units

_TIMES_S = (
    0.001, 0.01, 0.1, 1, 10, 30, 60, 300, 600, 1800, 3600, 4 * 3600, 12 * 3600, 86400, 4 * 86400, 30 * 86400,
)  # fmt: skip


def duration_bounds(values_s: list[float]) -> tuple[float, float]:
    """Return ends of a scale that holds all values, with some room and at least a factor of ten."""
    low, high = min(values_s) / 1.3, max(values_s) * 1.3
    if high / low < 10:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(10), middle * math.sqrt(10)
    return low, high


def duration_ticks(low: float, high: float, most: int = 8) -> list[tuple[float, str]]:
    """Return round times inside a scale with their labels; of too many, every second one."""
    inside = [t for t in _TIMES_S if low <= t <= high]
    while len(inside) > most:
        inside = inside[::2]
    return [(t, units.short_time(t)) for t in inside]
