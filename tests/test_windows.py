"""Windows: lengths, ISO weeks, bounds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pipeline.errors import GoodputError
from pipeline.windows import WindowOptions, parse_duration, parse_time, week_bounds

LENGTHS = {
    "24h": timedelta(hours=24),
    "90m": timedelta(minutes=90),
    "90min": timedelta(minutes=90),
    "7d": timedelta(days=7),
    "1w": timedelta(days=7),
    "1d12h": timedelta(hours=36),
    "1D 12H": timedelta(hours=36),
    "0.5h": timedelta(minutes=30),
    "30s": timedelta(seconds=30),
}


@pytest.mark.parametrize("text", LENGTHS)
def test_a_length_is_numbers_with_units(text: str) -> None:
    assert LENGTHS[text] == parse_duration(text)


@pytest.mark.parametrize(
    "text", ["", "24", "h", "24 parsecs", "-1h", "0h", "1h!", "24hours", "9999999999999w", "nan h"]
)
def test_anything_else_is_no_length(text: str) -> None:
    with pytest.raises(GoodputError):
        parse_duration(text)


def test_an_iso_week_begins_on_monday_at_midnight_utc() -> None:
    expected = (datetime(2026, 10, 5, tzinfo=UTC), datetime(2026, 10, 12, tzinfo=UTC))
    assert expected == week_bounds("2026-W41")
    assert expected == week_bounds("2026w41")


def test_the_first_week_may_begin_in_the_year_before() -> None:
    assert datetime(2025, 12, 29, tzinfo=UTC) == week_bounds("2026-W01")[0]


@pytest.mark.parametrize("text", ["2026-W54", "2025-W53", "2026-41", "W41", "0000-W01", "9999-W52", "next"])
def test_a_week_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(GoodputError):
        week_bounds(text)


def test_the_year_2026_has_53_weeks() -> None:
    assert datetime(2026, 12, 28, tzinfo=UTC) == week_bounds("2026-W53")[0]


TIMES = {
    "2026-10-05": datetime(2026, 10, 5, tzinfo=UTC),
    "2026-10-05T03:00": datetime(2026, 10, 5, 3, tzinfo=UTC),
    "2026-10-05 03:00:00.5": datetime(2026, 10, 5, 3, 0, 0, 500000, tzinfo=UTC),
    "2026-10-05T03:00:00Z": datetime(2026, 10, 5, 3, tzinfo=UTC),
    "2026-10-05T03:00+02:00": datetime(2026, 10, 5, 1, tzinfo=UTC),
}


@pytest.mark.parametrize("text", TIMES)
def test_a_time_without_zone_is_utc(text: str) -> None:
    assert TIMES[text] == parse_time(text)


def test_a_time_that_is_none_says_how_to_write_one() -> None:
    with pytest.raises(GoodputError, match="`yesterday` is not a time") as caught:
        parse_time("yesterday")
    assert "2026-10-05T03:00" in caught.value.now


def test_a_week_gives_the_period() -> None:
    assert week_bounds("2026-W41") == WindowOptions(week="2026-W41").bounds()


def test_a_week_and_bounds_are_not_both_given() -> None:
    with pytest.raises(GoodputError, match="both given"):
        WindowOptions(week="2026-W41", start=datetime(2026, 10, 5, tzinfo=UTC))


def test_an_empty_period_is_refused() -> None:
    moment = datetime(2026, 10, 5, tzinfo=UTC)
    with pytest.raises(GoodputError, match="is empty"):
        WindowOptions(start=moment, end=moment)


def test_nothing_said_is_a_day_and_whatever_the_records_cover() -> None:
    assert (timedelta(days=1), (None, None)) == (WindowOptions().window, WindowOptions().bounds())
