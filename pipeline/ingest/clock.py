"""Stamps of every kind, read column-wise: text → UTC microseconds as printed, and how the time is known.

A stamp without a zone is read as if it were UTC, one without a year as of the placeholder year; the quality
says so, and staging corrects it. Nothing here reads a clock or guesses.
"""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl

from pipeline.formats.format import Stamp
from pipeline.tables import PLACEHOLDER_YEAR

TS = pl.Datetime("us", "UTC")

_MONTHS = {
    name: f"{number:02d}"
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"

#: One time of day with an optional fraction; a comma is as good as a point.
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
ISO = rf"\d{{4}}-\d\d-\d\d[T _]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?"
GLOG = rf"\d{{3,4}} {_CLOCK}"
SYSLOG = rf"{_MONTH} [ \d]\d {_CLOCK}"
CTIME = rf"(?:{_DAY} )?{_MONTH} [ \d]\d \d\d:\d\d:\d\d (?:[A-Z]{{2,5}} |[+-]\d{{2,4}} )?\d{{4}}"
_DATED = rf"{_MONTH} [ \d]\d \d{{4}} \d\d:\d\d:\d\d"

#: Parts of a stamp, by kind. Every kind ends up with the same nine texts, so that one reader serves all.
_PARTS: dict[str, str] = {
    "iso": (
        r"^\s*(?P<year>\d{4})[-/]?(?P<month>\d\d)[-/]?(?P<day>\d\d)[T _](?P<clock>\d\d:\d\d:\d\d)"
        r"(?:[.,](?P<frac>\d+))? ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?\s*$"
    ),
    "glog": r"^\s*[A-Z]?(?P<month>\d{1,2}?)-?(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<frac>\d+))?",
    "syslog": (
        r"^\s*(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<frac>\d+))?\s*$"
    ),
    "ctime": (
        r"^\s*(?:[A-Z][a-z]{2},? )?(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)"
        r"(?: (?P<half>[AP]M))? (?:(?P<zone>[A-Z]{2,5}|[+-]\d{2,4}) )?(?P<year>\d{4})\s*$"
    ),
    "day": (
        r"^\s*(?:[A-Z][a-z]{2} )?(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)"
        r"(?: (?P<year>\d{4}))?\s*$"
    ),
    "us": (
        r"^\s*(?P<month>\d\d)/(?P<day>\d\d)(?:/(?P<year>\d{4}))? (?P<clock>\d\d:\d\d:\d\d)"
        r"(?:[.,](?P<frac>\d+))?\s*$"
    ),
    "dated": r"^\s*(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) (?P<year>\d{4}) (?P<clock>\d\d:\d\d:\d\d)\s*$",
}

#: `date` where the day stands before the month, and its parts in the order of the others.
_DAY_FIRST = (
    r"^\s*[A-Z][a-z]{2} (\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d)"
    r"((?: [AP]M)?(?: [A-Z]{3,5})?)\s*$"
)

#: Kinds whose stamps say the year, and kinds of which some do.
_YEARLY = frozenset({"iso", "ctime", "dated"})
_MAYBE_YEARLY = frozenset({"us", "day"})

#: The commonest stamp of all, which has a parser of its own.
_PLAIN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?$"

#: First year, and first year after, of stamps that are believed. A node that has not met a time server yet
#: begins in 1970, and a damaged line may name any year; one such stamp would stretch a run over decades.
YEARS = (2000, 2100)

#: Microseconds in one unit of a plain number.
_UNITS = {"epoch_s": 1_000_000, "epoch_ms": 1_000, "epoch_us": 1, "uptime_s": 1_000_000, "uptime_us": 1}

#: Shapes of the stamp at the head of a line, strongest first; the group is the stamp.
HEADS: tuple[tuple[str, str], ...] = (
    ("iso", rf"^\s*(?:\w+\s*:\w+\s*:\s*|<\d+>(?:\d )?|{_DAY} )?(?:\[?titan\] )?[\[(]?({ISO})"),
    ("glog", rf"^\s*\[?[A-Z]({GLOG})"),
    ("glog", rf"^\s*(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d-\d\d {_CLOCK}) "),
    ("ctime", rf"^\s*(?:\w+\s*:\w+\s*:\s*)?\[?({CTIME})"),
    ("syslog", rf"^\s*(?:<\d+>)?({SYSLOG}) "),
    ("syslog", rf"^\s*\[({SYSLOG})\]"),
    ("dated", rf"^\s*\[({_DATED})\]"),
    # Without a year only before the level: a day and a time stand in many texts.
    ("us", rf"^\s*\[?(\d\d/\d\d/\d{{4}} {_CLOCK})"),
    ("us", rf"^\s*(\d\d/\d\d {_CLOCK}) \[[A-Z]+[\]|]"),
    # The labelled syslog of supercomputers, and `journalctl -o short-unix`.
    ("epoch_s", r"^(?:-|[A-Z][A-Z_]*) (\d{10}) \d{4}\.\d\d\.\d\d "),
    ("epoch_s", r"^(\d{10}\.\d{6}) [A-Za-z][\w.-]* \S+: "),
    ("uptime_s", r"^\s*(?:<\d+>)?\[ *(\d+\.\d{6})(?: <[ \d.]+>)?\]"),
    ("uptime_us", r"^\d+,\d+,(\d+),[-c+]"),
)

#: A time as a journal or a syslog prints it before a host.
_STAMP = rf"(?:(?:<\d+>)?(?:{SYSLOG}|{ISO})|{_DAY} {ISO}(?: [A-Z]{{2,5}})?|\d{{10}}\.\d{{6}})"

#: Host of a syslog line: the word after the stamp, where program and colon follow, or the fields of RFC 5424.
#: The labelled syslog of supercomputers names the host before the stamp that the host wrote. Behind seconds
#: since boot a kernel message may begin with two words as well: there only a number of a process tells.
_HOST_AFTER_STAMP = (
    rf"^\s*{_STAMP} ([A-Za-z][\w.-]*) [\w./-]+(?:\(\w+\))?(?:\[\d+\])?: "
    r"|^\s*\[ *\d+\.\d{6}(?: <[ \d.]+>)?\] ([A-Za-z][\w.-]*) (?:kernel|[\w./-]+\[\d+\]): "
    rf"|^<\d+>\d {ISO} ([A-Za-z][\w.-]*) \S+ \S+ \S+ [-\[]"
    r"|^(?:-|[A-Z][A-Z_]*) \d{10} \d{4}\.\d\d\.\d\d ([A-Za-z][\w.-]*) "
)


def read_stamps(text: pl.Series, stamp: Stamp | str) -> tuple[pl.Series, pl.Series]:
    """Return time and quality of texts that hold one stamp each; null and ``none`` where it is not one.

    Kind ``iso`` also takes a plain number of epoch seconds, since the same field is exported both ways.
    """
    if stamp == "epoch_ns":
        # The last three digits are no microseconds.
        return read_stamps(text.str.replace(r"^(\s*\d+)\d{3}\s*$", "$1"), "epoch_us")
    if stamp in _UNITS:
        ts = _read_number(text, _UNITS[stamp])
        if not stamp.startswith("uptime"):
            ts = _believed(ts)
        return ts, _qualities(ts, pl.lit("uptime" if stamp.startswith("uptime") else "logged"))
    if stamp == "iso" and text.str.contains(_PLAIN).all():
        return _read_plain(text)
    if stamp == "ctime":
        text = text.str.replace(_DAY_FIRST, "$2 $1 $4$5 $3")
    parts = text.str.extract_groups(_PARTS[stamp]).struct.unnest()
    if "year" not in parts.columns:
        parts = parts.with_columns(year=pl.lit(str(PLACEHOLDER_YEAR)))
        known_zone = pl.lit("year_assumed")
    elif stamp in _MAYBE_YEARLY:
        dated = pl.col("year").is_not_null()
        known_zone = pl.when(dated).then(pl.lit("zone_assumed")).otherwise(pl.lit("year_assumed"))
    else:
        known_zone = pl.lit("zone_assumed")
    zone = pl.lit(None, pl.String) if "zone" not in parts.columns else pl.col("zone")
    years = parts["year"]
    parts = parts.with_columns(years.fill_null(str(PLACEHOLDER_YEAR)))
    read = parts.select(us=_micros(parts.columns) - _offset_s(zone) * 1_000_000, zone=zone, year=years)
    ts = read["us"].cast(TS)
    if stamp in _YEARLY:
        ts = _believed(ts)
    elif stamp in _MAYBE_YEARLY:
        ts = _believed(ts).zip_with(years.is_not_null(), ts)
    if read["zone"].null_count() < len(ts):
        told = pl.col("zone").is_in(["Z", "UTC", "GMT"]) | pl.col("zone").str.contains(r"^[+-]")
        known_zone = pl.when(told.fill_null(False)).then(pl.lit("logged")).otherwise(known_zone)
    quality = _qualities(ts, known_zone, read)
    if stamp == "iso" and ts.null_count() > text.null_count():
        epoch, epoch_quality = read_stamps(text, "epoch_s")
        return _first(ts, epoch), quality.zip_with(ts.is_not_null() | epoch.is_null(), epoch_quality)
    return ts, quality


def read_head_stamps(lines: pl.Series) -> pl.DataFrame:
    """Return ``ts_raw, ts, ts_quality`` of the stamp at the head of each peeled line, where there is one."""
    raw = pl.Series("ts_raw", [None], dtype=pl.String).new_from_index(0, len(lines))
    ts = pl.Series("ts", [None], dtype=TS).new_from_index(0, len(lines))
    quality = pl.Series("ts_quality", ["none"], dtype=pl.String).new_from_index(0, len(lines))
    for kind, regex in HEADS:
        todo = ts.is_null()
        if not todo.any():
            break
        found = lines.str.extract(regex)
        todo &= found.is_not_null()
        if not todo.any():
            continue
        read, how = read_stamps(found, kind)
        todo &= read.is_not_null()
        raw, ts, quality = found.zip_with(todo, raw), read.zip_with(todo, ts), how.zip_with(todo, quality)
    return pl.DataFrame([raw.alias("ts_raw"), ts.alias("ts"), quality.alias("ts_quality")])


def read_head_hosts(lines: pl.Series) -> pl.Series:
    """Return the host that a syslog line names after its stamp, or null."""
    found = lines.str.extract_groups(_HOST_AFTER_STAMP).struct.unnest()
    return found.select(host=pl.coalesce(pl.all()))["host"]


def _read_plain(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return time and quality of ISO stamps without an offset; null where there is no such day or time."""
    clock = text.str.head(19)
    if (text.str.slice(10, 1) == "T").any():
        clock = clock.str.replace("T", " ", literal=True)
    ts = clock.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False).dt.replace_time_zone("UTC")
    frac = text.str.slice(20, 6)
    if (frac != "").any():
        ts = ts + frac.str.pad_end(6, "0").cast(pl.Int64).cast(pl.Duration("us"))
    ts = _believed(ts)
    return ts, _qualities(ts, pl.lit("zone_assumed"))


def _believed(ts: pl.Series) -> pl.Series:
    """Return times with null where the year cannot be one of a log."""
    first, after = (datetime(year, 1, 1, tzinfo=UTC) for year in YEARS)
    fits = ts.is_between(first, after, closed="left")
    return ts if fits.all() else ts.set(~fits, None)


def _micros(columns: list[str]) -> pl.Expr:
    """Return microseconds since the epoch of the parts of a stamp; null where there is no such day or time.

    Whole columns of distinct times go through here, and arithmetic on integers is several times as fast as
    the parser of dates.
    """
    month_text = pl.col("month").replace(_MONTHS)
    year, month, day = (
        part.cast(pl.Int64, strict=False) for part in (pl.col("year"), month_text, pl.col("day"))
    )
    hour, minute, second = (pl.col("clock").str.slice(at, 2).cast(pl.Int64, strict=False) for at in (0, 3, 6))
    if "half" in columns:
        # Midnight and noon are twelve.
        of_half = hour % 12 + pl.when(pl.col("half") == "PM").then(12).otherwise(0)
        hour = pl.when(pl.col("half").is_null()).then(hour).when(hour.is_between(1, 12)).then(of_half)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    longest = pl.when(month == 2).then(28 + leap.cast(pl.Int64)).otherwise(30 + (month + month // 8) % 2)
    valid = month.is_between(1, 12) & day.is_between(1, longest) & (hour < 24) & (minute < 60) & (second < 60)
    # Days since 1970 of the proleptic calendar, in years that begin in March.
    since = year - (month <= 2).cast(pl.Int64)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = since * 365 + since // 4 - since // 100 + since // 400 + of_year - 719_468
    micros = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000
    if "frac" in columns:
        micros = micros + pl.col("frac").str.head(6).str.pad_end(6, "0").cast(pl.Int64).fill_null(0)
    return pl.when(valid).then(micros)


def _offset_s(zone: pl.Expr) -> pl.Expr:
    """Return the printed offset from UTC in seconds; 0 where none is. The name of a zone is no offset."""
    digits = zone.str.replace(":", "", literal=True)
    sign = pl.when(digits.str.starts_with("-")).then(-1).otherwise(1)
    hours = digits.str.extract(r"^[+-](\d\d)").cast(pl.Int64)
    minutes = digits.str.extract(r"^[+-]\d\d(\d\d)").cast(pl.Int64).fill_null(0)
    return (sign * (hours * 3600 + minutes * 60)).fill_null(0)


def _read_number(text: pl.Series, unit_us: int) -> pl.Series:
    """Return times of plain numbers of a unit since the epoch, exact to the microsecond."""
    digits = len(str(unit_us)) - 1
    # More digits than fit into 64 bits of microseconds are no time.
    shape = rf"^\s*(?P<whole>\d{{1,{18 - digits}}})(?:\.(?P<frac>\d+))?\s*$"
    parts = text.str.extract_groups(shape).struct.unnest()
    whole = pl.col("whole").cast(pl.Int64, strict=False) * unit_us
    frac = pl.col("frac").str.head(digits).str.pad_end(digits, "0").cast(pl.Int64, strict=False)
    micros = parts.select(us=whole + frac.fill_null(0))["us"]
    # Beyond the year 9999 a number is not a time, and no other tool could read it back.
    return micros.set(micros > 253_402_300_799_000_000, None).cast(TS)


def _qualities(ts: pl.Series, quality: pl.Expr, frame: pl.DataFrame | None = None) -> pl.Series:
    """Return the qualities of times; ``none`` where the time is null."""
    base = frame if frame is not None else pl.DataFrame({"ts": ts})
    known = pl.Series("known", ts.is_not_null())
    return base.select(ts_quality=pl.when(known).then(quality).otherwise(pl.lit("none")))["ts_quality"]


def _first(first: pl.Series, second: pl.Series) -> pl.Series:
    """Return the first series with its nulls taken from the second."""
    return first.zip_with(first.is_not_null(), second)
