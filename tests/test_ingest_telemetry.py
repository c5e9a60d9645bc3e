"""Which samples of a device are kept: all of a short file, and one a minute of a long one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest.records import extract_fields
from pipeline.ingest.telemetry import MAX_SAMPLES, Thinner

HERON = Format("heron", "t", "l", "node", (), shape="csv")
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


SAMPLE = Pattern(
    "power",
    "telemetry",
    {
        "ts": Value(("timestamp", "time"), "stamp", stamp="iso"),
        "gpu": Value("index"),
        "metric": Value(const="power"),
        "value": Value("power.draw", "float"),
    },
)


def stamp_texts(form: str, count: int) -> pl.DataFrame:
    """Return records of one device, one every ten seconds."""
    times = [BEGIN + timedelta(seconds=10 * number) for number in range(count)]
    texts = [
        f"{time:%Y/%m/%d %H:%M:%S.003}" if form == "iso" else f"{time.timestamp():.1f}" for time in times
    ]
    return pl.DataFrame({"line": range(1, count + 1), "timestamp": texts, "index": "0", "power.draw": "641"})


@pytest.mark.parametrize("form", ["iso", "epoch"])
def test_records_that_would_be_dropped_are_not_read(form: str) -> None:
    fields = stamp_texts(form, MAX_SAMPLES + 600)
    keep = Thinner.may_keep(SAMPLE, fields)
    # 1,000 one by one, then sample 1002 and each sixth one up to 1596.
    assert keep.sum() == MAX_SAMPLES + 100
    found = [rows for pattern, rows in extract_fields(HERON, [SAMPLE], fields)]
    assert found[0].rows is not None
    assert (len(found[0].matched), found[0].rows.height) == (MAX_SAMPLES + 600, MAX_SAMPLES + 100)


def test_all_records_of_a_short_file_are_read() -> None:
    assert Thinner.may_keep(SAMPLE, stamp_texts("iso", 700)).all()


def test_records_without_a_time_are_read_up_to_the_limit() -> None:
    fields = stamp_texts("iso", MAX_SAMPLES + 600).drop("timestamp")
    assert Thinner.may_keep(SAMPLE, fields).sum() == MAX_SAMPLES
