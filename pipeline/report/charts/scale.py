"""Scales and their ticks: nice numbers, and round times from seconds to months."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pipeline.report import units


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear map from values to points.

    Attributes:
        low, high: values at the ends.
        start, end: points at the ends.
    """

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value, cut at the ends."""
        if self.high <= self.low:
            return self.start
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Log:
    """A logarithmic map from positive values to points.

    Attributes:
        low, high: values at the ends, both above zero.
        start, end: points at the ends.
    """

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value, cut at the ends; zero and less lie at the low end."""
        if value <= self.low or self.high <= self.low:
            return self.start
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + min(share, 1.0) * (self.end - self.start)


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Return round values between two positive ones: each digit where they are near, else powers of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in (range(1, 10), (1, 2, 5), (1, 3), (1,)):
        ticks = [f * 10.0**n for n in powers for f in factors]
        ticks = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
        if len(ticks) <= most:
            return ticks
    return ticks[:: -(-len(ticks) // most)]


def nice_ticks(high: float, most: int = 6) -> list[float]:
    """Return round ticks from zero to at most ``high``."""
    if high <= 0:
        return [0.0]
    rough = high / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough * (1 - 1e-9))
    return [step * n for n in range(math.floor(high / step * (1 + 1e-9)) + 1)]


def tick_texts(ticks: list[float]) -> list[str]:
    """Return the labels of ticks, with as many decimals as tell them apart exactly."""
    places = next((n for n in range(6) if all(abs(round(t, n) - t) < 1e-9 for t in ticks)), 6)
    return [units.number(tick, places) for tick in ticks]


_STEPS_S = (
    1, 2, 5, 10, 15, 30,
    60, 120, 300, 600, 900, 1800,
    3600, 7200, 10800, 21600, 43200,
    86400, 2 * 86400, 7 * 86400, 14 * 86400,
)  # fmt: skip

_MONTH_S = 30 * 86400
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)

#: A Monday, so that steps of weeks begin on Mondays.
_ORIGIN = datetime(2001, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of a time axis: its moment, its label, and a second line where the date changes."""

    moment: datetime
    label: str
    date: str = ""


def time_ticks(start: datetime, end: datetime, most: int) -> list[Tick]:
    """Return round times inside a period; the first tick of each day carries the date below its label."""
    length = (end - start).total_seconds()
    step = next((s for s in _STEPS_S if length / s <= most), None)
    if step is None:
        return _month_ticks(start, end, most)
    first = math.ceil((start - _ORIGIN).total_seconds() / step)
    last = math.floor((end - _ORIGIN).total_seconds() / step)
    ticks: list[Tick] = []
    seen = ""
    for n in range(first, last + 1):
        moment = _ORIGIN + timedelta(seconds=n * step)
        date = units.day(moment)
        if step >= 86400:
            ticks.append(Tick(moment, date if step == 86400 else units.month_day(moment)))
            continue
        ticks.append(Tick(moment, units.clock(moment, seconds=step < 60), date if date != seen else ""))
        seen = date
    return ticks


def _month_ticks(start: datetime, end: datetime, most: int) -> list[Tick]:
    """Return first days of months, each with its year."""
    months = (end - start).total_seconds() / _MONTH_S
    step = next((n for n in _MONTHS if months / n <= most), _MONTHS[-1])
    first = -(-(start.year * 12 + start.month - 1) // step) * step
    ticks = []
    for n in range(first, end.year * 12 + end.month, step):
        moment = datetime(n // 12, n % 12 + 1, 1, tzinfo=UTC)
        if start <= moment <= end:
            ticks.append(Tick(moment, units.month(moment)))
    return ticks
