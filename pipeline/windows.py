"""Windows of a report: lengths, bounds, ISO weeks. Everything comes from arguments, nothing from a clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from pipeline.errors import GoodputError

#: Seconds of each unit that a length may use.
UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}

DEFAULT_WINDOW = timedelta(hours=24)

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_WEEK = re.compile(r"(\d{4})-?[Ww](\d{2})")


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """What a user asked for: the length of a window, and the period that windows are laid over.

    Attributes:
        window: length of a window; windows start at midnight UTC.
        start: start of the period, or None for the start of the records.
        end: end of the period (itself outside), or None for the end of the records.
        week: ISO week such as ``2026-W47``, or None; it gives the period where ``start`` and ``end`` do not.
    """

    window: timedelta = DEFAULT_WINDOW
    start: datetime | None = None
    end: datetime | None = None
    week: str | None = None

    def __post_init__(self) -> None:
        """Refuse a period that is empty or stated twice."""
        if self.week is not None and (self.start is not None or self.end is not None):
            raise GoodputError(
                "a week and a start or end were both given",
                why="a week has its own start and end",
                now="give `--week`, or `--from` and `--to`",
            )
        start, end = self.bounds()
        if start is not None and end is not None and start >= end:
            raise GoodputError(
                f"the period from {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} is empty",
                why="the end must lie after the start; the end itself is outside the period",
                now="swap or widen `--from` and `--to`",
            )

    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """Return start and end of the period in UTC; None where the records decide."""
        return week_bounds(self.week) if self.week is not None else (self.start, self.end)


def parse_duration(text: str) -> timedelta:
    """Return the length written as ``24h``, ``90m``, ``7d``, ``1w`` or ``1d12h``; it must be positive."""
    compact = text.strip().lower()
    parts = _PART.findall(compact)
    spelled = "".join(number + unit for number, unit in parts)
    if not parts or spelled != re.sub(r"\s", "", compact) or any(unit not in UNITS for _, unit in parts):
        raise GoodputError(
            f"`{text}` is not a length of time",
            why=f"a length is a number and a unit; units are {', '.join(UNITS)}",
            now="write for example `24h`, `90m`, `7d` or `1d12h`",
        )
    micros = round(sum(float(number) * UNITS[unit] for number, unit in parts) * 1_000_000)
    if micros <= 0:
        raise GoodputError(f"`{text}` is no time at all", now="give a positive length such as `24h`")
    try:
        return timedelta(microseconds=micros)
    except OverflowError:
        raise GoodputError(f"`{text}` is too long", now="give a length such as `24h` or `1w`") from None


def week_bounds(week: str) -> tuple[datetime, datetime]:
    """Return Monday 00:00 UTC of an ISO week such as ``2026-W47``, and the Monday after it."""
    found = _WEEK.fullmatch(week.strip())
    if found is None:
        raise GoodputError(f"`{week}` is not an ISO week", now="write the year and the week: `2026-W47`")
    try:
        monday = datetime.combine(date.fromisocalendar(int(found[1]), int(found[2]), 1), time(), UTC)
        return monday, monday + timedelta(days=7)
    except (ValueError, OverflowError):
        raise GoodputError(
            f"there is no week `{week}`",
            why="an ISO year has 52 or 53 weeks",
            now="write for example `2026-W47`",
        ) from None


def parse_time(text: str) -> datetime:
    """Return the time written as ``2026-10-05`` or ``2026-10-05T03:00``, with an offset or else in UTC."""
    try:
        value = datetime.fromisoformat(text.strip())
    except ValueError:
        raise GoodputError(
            f"`{text}` is not a time",
            why="times are written year first; UTC is meant where no offset is given",
            now="write for example `2026-10-05`, `2026-10-05T03:00` or `2026-10-05T03:00+02:00`",
        ) from None
    return as_utc(value)


def as_utc(value: datetime) -> datetime:
    """Return the moment in UTC; a time without zone is read as UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
