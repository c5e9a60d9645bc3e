"""Which samples of a device are kept: all of a short file, and one a minute of a long one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl

from pipeline.ingest.telemetry import Thinner

BEGIN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def samples(first: int, count: int, gpu: str = "0", *, timed: bool = True) -> pl.DataFrame:
    """Return samples of one device, one every ten seconds."""
    numbers = range(first, first + count)
    times = [BEGIN + timedelta(seconds=10 * number) if timed else None for number in numbers]
    return pl.DataFrame(
        {"line": numbers, "ts": times, "host": None, "gpu": gpu, "metric": "power", "value": 1.0},
        schema_overrides={"ts": pl.Datetime("us", "UTC"), "host": pl.String, "line": pl.Int64},
    )


def test_the_first_samples_are_kept_and_then_one_a_minute() -> None:
    kept = Thinner(limit=8).thin(samples(0, 30))
    assert kept["line"].to_list() == [*range(8), 12, 18, 24]


def test_what_was_kept_before_counts_in_later_chunks() -> None:
    thinner = Thinner(limit=8)
    chunks = [thinner.thin(samples(first, 5)) for first in range(0, 30, 5)]
    assert pl.concat(chunks)["line"].to_list() == [*range(8), 12, 18, 24]


def test_each_device_has_its_own_count() -> None:
    both = pl.concat([samples(0, 10, "0"), samples(0, 10, "1")]).sort("line", maintain_order=True)
    kept = Thinner(limit=6).thin(both)
    assert kept.filter(pl.col("gpu") == "1")["line"].to_list() == [0, 1, 2, 3, 4, 5, 6]


def test_beyond_the_limit_a_sample_without_a_time_is_not_kept() -> None:
    assert Thinner(limit=3).thin(samples(0, 10, timed=False))["line"].to_list() == [0, 1, 2]


def test_no_value_is_no_sample() -> None:
    rows = samples(0, 3).with_columns(value=pl.Series([None, 1.0, float("nan")]))
    assert Thinner().thin(rows)["line"].to_list() == [1]
