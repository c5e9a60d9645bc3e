"""``goodput explain``: words for times and sizes, and what is said of a small ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pipeline.ledger.phrases import duration, gpu_hours, moment, place

DURATIONS = {
    0: "0 s",
    0.25: "0.25 s",
    59: "59 s",
    60: "1 min",
    150: "2 min 30 s",
    3599.6: "1 h 00 min",
    3900: "1 h 05 min",
    172800: "2 d 00 h",
    266400: "3 d 02 h",
}


@pytest.mark.parametrize("seconds", DURATIONS)
def test_a_length_has_two_units(seconds: float) -> None:
    assert DURATIONS[seconds] == duration(timedelta(seconds=seconds))


def test_a_moment_shows_a_part_of_a_second_only_where_there_is_one() -> None:
    at = datetime(2026, 10, 5, 3, 0, 0, tzinfo=UTC)
    assert moment(at) == "2026-10-05 03:00:00"
    assert moment(at + timedelta(milliseconds=5)) == "2026-10-05 03:00:00.005000"


def test_gpu_hours_have_the_digits_that_their_size_deserves() -> None:
    sizes = {36_000_000: "0.01", 36_000_000_000: "10.0", 4_444_000_000_000: "1,234"}
    assert list(sizes.values()) == [gpu_hours(size) for size in sizes]
    assert gpu_hours(36_000_000_000, 4_444_000_000_000) == "10"


def test_a_place_shows_what_is_known_and_no_control_characters() -> None:
    assert place("a\x1b.log", 3) == "a\\x1b.log:3"
    assert place("a.log", None) == "a.log"
    assert place(None, None) == "no line"
