"""One day of logs by every definition of goodput: the values that its story works out."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions

ROOT = Path(__file__).resolve().parents[1]
STORY = ROOT / "data" / "samples" / "worked-day"
EXPECTED = ROOT / "tests" / "sql" / "marts.definitions" / "worked_day" / "expected.csv"

#: GPU-seconds of an hour.
HOUR = 3600 * 1024

#: Hours by class; they are 24 together.
CLASSES = {
    "queue_first": 0.50, "startup_first": 0.25, "kept": 20.00, "input_stall": 0.20, "save_stall": 0.40,
    "evaluation": 0.50, "lost": 0.75, "hang": 0.25, "down": 0.60, "startup_again": 0.10, "restore": 0.20,
    "maintenance": 0.25,
}  # fmt: skip


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    store = tmp_path_factory.mktemp("store")
    config = load_config([str(STORY)], None)
    ingest([str(STORY)], store, config, workers=1)
    assert classify(store, config, WindowOptions()).violations == ()
    with open_store(store) as connection:
        yield connection


def test_every_second_is_in_its_class(con: duckdb.DuckDBPyConnection) -> None:
    assert sum(CLASSES.values()) == pytest.approx(24, abs=1e-12)
    found = dict(con.execute("select class, gpu_us / 1e6 from marts.time_classes").fetchall())
    assert found == {name: pytest.approx(hours * HOUR, abs=1e-6) for name, hours in CLASSES.items()}


def test_each_definition_comes_out_at_its_value(con: duckdb.DuckDBPyConnection) -> None:
    with EXPECTED.open(encoding="utf-8", newline="") as file:
        rows = {row["definition"]: row for row in csv.DictReader(file)}
    del rows["program_goodput"]  # the logs of this day print no FLOP/s
    found = {
        name: (good, whole)
        for name, good, whole in con.execute(
            "select definition, numerator_gpu_s, denominator_gpu_s from marts.definitions"
        ).fetchall()
    }
    for name, row in rows.items():
        expected = (float(row["numerator_gpu_s"]), float(row["denominator_gpu_s"]))
        assert found[name] == pytest.approx(expected, abs=1e-6), name


def test_ours_beside_them(con: duckdb.DuckDBPyConnection) -> None:
    row = con.execute(
        "select g_infra, training_time_goodput, productive_share, g_framework from marts.goodput"
    ).fetchall()
    assert [round(100 * value, 2) for value in row[0]] == [96.26, 88.79, 85.96, 92.24]


def test_program_goodput_says_why_it_has_no_value(con: duckdb.DuckDBPyConnection) -> None:
    row = con.execute(
        "select value, reason from marts.definitions where definition = 'program_goodput'"
    ).fetchone()
    assert row is not None
    assert row[0] is None
    assert row[1]


def test_saves_of_the_day(con: duckdb.DuckDBPyConnection) -> None:
    row = con.execute(
        "select saves, uncommitted_saves, failed_saves, interval_steps, stall_median_s, stalled_gpu_s, "
        "restores, lost_gpu_s from marts.checkpoints"
    ).fetchone()
    assert row == (4, 0, 0, 30, 360, 0.4 * HOUR, 1, 0.75 * HOUR)


def test_the_logs_are_records_of_one_rank() -> None:
    for path in sorted(STORY.glob("heron-175b/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        assert {record["rank"] for record in records} == {0}
        assert [r["time_us"] for r in records] == sorted(r["time_us"] for r in records)
