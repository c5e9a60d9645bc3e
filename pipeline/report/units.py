"""Numbers, units and times as a reader sees them: thousands with a comma, thin spaces, a true minus."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

#: Narrow no-break space: a number and its unit never part at a line end.
THIN = "\u202f"
MINUS = "\u2212"

#: No-break space, inside dates.
SPACE = "\u00a0"

HOUR = 3600.0

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def decimals_for(largest: float) -> int:
    """Return the decimals of a column of numbers whose largest magnitude is given: none from 100 on."""
    size = abs(largest)
    return 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3


def number(value: float, decimals: int | None = None) -> str:
    """Return a number with thousands separators; one that would round to zero says so with ``<``."""
    places = decimals_for(value) if decimals is None else decimals
    if value == 0:
        return "0"
    text = f"{abs(value):,.{places}f}"
    if float(text.replace(",", "")) == 0:
        return f"<{10.0**-places:.{places}f}"
    return f"{MINUS}{text}" if value < 0 else text


def gpu_hours(gpu_s: float, decimals: int | None = None) -> str:
    """Return GPU-seconds as GPU-hours, without the unit."""
    return number(gpu_s / HOUR, decimals)


def gpu_hours_decimals(values_gpu_s: Iterable[float]) -> int:
    """Return the decimals that a column of GPU-seconds needs when it is printed in GPU-hours."""
    return decimals_for(max((abs(v) for v in values_gpu_s), default=0.0) / HOUR)


def percent(share: float | None, *, unit: bool = True) -> str:
    """Return a share as per cent with one decimal; ``0.0`` and ``100.0`` only for exactly that."""
    if share is None:
        return "–"
    text = f"{abs(share) * 100:,.1f}"
    if share != 0 and text == "0.0":
        text = "<0.1"
    elif abs(share) < 1 and text == "100.0":
        text = ">99.9"
    elif share < 0:
        text = f"{MINUS}{text}"
    return f"{text}{THIN}%" if unit else text


def points(delta: float) -> str:
    """Return the size of a change between two shares, in percentage points, without a sign."""
    return f"{abs(delta) * 100:.1f}"


def signed_points(delta: float | None) -> str:
    """Return a change between two shares in percentage points with its sign; ``–`` when unknown."""
    if delta is None:
        return "–"
    size = points(delta)
    return size if size == "0.0" else f"{'+' if delta > 0 else MINUS}{size}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """Return a length of time in its two largest units, such as ``3 h 20 min``."""
    if seconds < 0:
        return f"{MINUS}{duration(-seconds)}"
    if seconds < 9.95:
        return f"{number(seconds, 1)}{THIN}s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole}{THIN}s"
    if whole < 2 * 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes}{THIN}min" + (f" {rest}{THIN}s" if rest and minutes < 10 else "")
    if whole < 2 * 86400:
        hours, rest = divmod(whole, 3600)
        return f"{hours}{THIN}h" + (f" {rest // 60}{THIN}min" if rest >= 60 else "")
    days, rest = divmod(whole, 86400)
    return f"{days}{THIN}d" + (f" {rest // 3600}{THIN}h" if rest >= 3600 else "")


def time_unit(largest_s: float) -> tuple[str, float]:
    """Return unit and seconds per unit for a column of durations: s, min or h."""
    if largest_s < 180:
        return "s", 1.0
    return ("min", 60.0) if largest_s < 100 * HOUR else ("h", HOUR)


def day(moment: date) -> str:
    """Return a date such as ``Mon 5 Oct``."""
    return f"{_DAYS[moment.weekday()]} {moment.day} {_MONTHS[moment.month - 1]}"


def clock(moment: datetime, *, seconds: bool = False) -> str:
    """Return a time of day such as ``14:02``."""
    return f"{moment:%H:%M:%S}" if seconds else f"{moment:%H:%M}"


def stamp(moment: datetime | None, *, seconds: bool = False, year: bool = False) -> str:
    """Return date and time such as ``5 Oct 14:02``; ``–`` when unknown."""
    if moment is None:
        return "–"
    date_part = f"{month_day(moment)} {moment.year}" if year else month_day(moment)
    return f"{date_part}{SPACE}{clock(moment, seconds=seconds)}"


def month_day(moment: date) -> str:
    """Return a date such as ``5 Oct``."""
    return f"{moment.day}{SPACE}{_MONTHS[moment.month - 1]}"


def month(moment: date) -> str:
    """Return a month such as ``Oct 2026``."""
    return f"{_MONTHS[moment.month - 1]}{SPACE}{moment.year}"


def period(start: datetime, end: datetime) -> str:
    """Return a half-open period; whole days are named by the last day inside it."""
    midnight = (0, 0, 0)
    if (start.hour, start.minute, start.second) == midnight == (end.hour, end.minute, end.second):
        last = end - timedelta(days=1)
        if last.date() == start.date():
            return f"{day(start)} {start.year}"
        year = "" if start.year == last.year else f" {start.year}"
        return f"{day(start)}{year} – {day(last)} {last.year}"
    seconds = (end - start) < timedelta(hours=2)
    head = f"{day(start)} {start.year}, {clock(start, seconds=seconds)}"
    if start.date() == end.date():
        return f"{head} – {clock(end, seconds=seconds)}"
    year = "" if start.year == end.year else f" {end.year}"
    return f"{head} – {day(end)}{year}, {clock(end, seconds=seconds)}"


def short_time(seconds: float) -> str:
    """Return a round time in its largest unit, such as ``30 s`` or ``4 h``; below a second in decimals."""
    for size, name in ((86400.0, "d"), (HOUR, "h"), (60.0, "min")):
        if seconds >= size * (1 - 1e-9):
            value = seconds / size
            return (
                f"{value:.0f}{THIN}{name}" if abs(value - round(value)) < 1e-9 else f"{value:.1f}{THIN}{name}"
            )
    return f"{seconds:g}{THIN}s"
