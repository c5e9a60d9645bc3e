"""Each story of data/samples has a true ledger, worked out by hand: the pipeline must find exactly that."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import duckdb
import pytest
from stories import SAMPLES, STALLS, STORIES, Json, observed, ratios, read_expected, text_of

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import ClassifySummary, classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions


class Story(NamedTuple):
    """A story: its expectation by run, the ledger built from its logs, and what building said."""

    runs: dict[str, Json]
    ledger: duckdb.DuckDBPyConnection
    summary: ClassifySummary


@pytest.fixture(scope="module", params=STORIES)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    name = request.param
    expected = read_expected(name)
    store = tmp_path_factory.mktemp(name)
    logs = [str(SAMPLES / name)]
    config = load_config(logs, None)
    ingest(logs, store, config, workers=1)
    summary = classify(store, config, WindowOptions(week=expected["week"]))
    ledger = open_store(store)
    yield Story(expected["runs"], ledger, summary)
    ledger.close()


def rows(story: Story, sql: str, *values: object) -> list[Json]:
    """Run a query and return its rows by column name."""
    answer = story.ledger.execute(sql, list(values))
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def test_nothing_contradicts_itself(story: Story) -> None:
    assert story.summary.violations == ()


def test_runs(story: Story) -> None:
    found = {
        row["run_id"]: {
            "observed": row["observed"],
            "gpus": row["gpus"],
            "life_start": text_of(row["life_start_ts"]),
            "life_end": text_of(row["life_end_ts"]),
        }
        for row in rows(story, "from ledger.runs")
    }
    keys = ("observed", "gpus", "life_start", "life_end")
    assert found == {run_id: {key: run[key] for key in keys} for run_id, run in story.runs.items()}


def test_progress_of_runs(story: Story) -> None:
    keys = ("ongoing", "first_step", "last_step", "last_surviving_step", "clean_step_us", "log_stride")
    found = {
        row["run_id"]: {**row, "clean_step_us": round(row["clean_step_s"] * 1e6)}
        for row in rows(story, "from ledger.runs where observed")
    }
    assert {run_id: {key: row[key] for key in keys} for run_id, row in found.items()} == {
        run_id: {key: run[key] for key in keys} for run_id, run in observed(story.runs).items()
    }


def test_attempts(story: Story) -> None:
    for run_id, run in observed(story.runs).items():
        found = []
        for row in rows(story, "from ledger.attempts where run_id = ? order by attempt", run_id):
            survives_to = row["survives_to"]
            # Of an attempt that is lost whole nothing survives, whatever number says so.
            if survives_to is not None and (row["first_step"] is None or survives_to < row["first_step"]):
                survives_to = None
            found.append(
                {
                    "attempt": row["attempt"],
                    "job_id": row["job_id"],
                    "gpus": row["gpus"],
                    "allocated": text_of(row["allocated_ts"]),
                    "processes_up": text_of(row["start_ts"]),
                    "loop_start": text_of(row["loop_start_ts"]),
                    "first_step_ts": text_of(row["first_step_ts"]),
                    "last_step_ts": text_of(row["last_step_ts"]),
                    "released": text_of(row["released_ts"]),
                    "first_step": row["first_step"],
                    "last_step": row["last_step"],
                    "restored_step": row["restored_step"],
                    "survives_to": survives_to,
                    "incident": row["incident_id"],
                }
            )
        expected = [
            {key: value for key, value in attempt.items() if key != "durable_saves"}
            for attempt in run["attempts"]
        ]
        assert found == expected


def test_durable_saves(story: Story) -> None:
    for run_id, run in observed(story.runs).items():
        for attempt in run["attempts"]:
            if "durable_saves" in attempt:
                sql = (
                    "select step from ledger.saves where run_id = ? and attempt = ? and durable order by step"
                )
                found = rows(story, sql, run_id, attempt["attempt"])
                assert [row["step"] for row in found] == attempt["durable_saves"]


def test_incidents(story: Story) -> None:
    columns = {
        **{key: f"{key}_ts" for key in ("fault", "detected", "released", "allocated", "processes_up")},
        "incident": "incident_id",
        "last_progress": "last_progress_ts",
        "restored": "restored_ts",
        "first_step": "first_step_ts",
        "runner_up": "runner_up_cause",
    }
    for run_id, run in observed(story.runs).items():
        found = rows(story, "from ledger.incidents where run_id = ? order by attempt", run_id)
        assert [row["incident_id"] for row in found] == [i["incident"] for i in run["incidents"]]
        for row, incident in zip(found, run["incidents"], strict=True):
            told = {key: value for key, value in incident.items() if not key.endswith("_gpu_us")}
            answer = {key: row[columns.get(key, key)] for key in told}
            assert {k: text_of(v) if isinstance(v, datetime) else v for k, v in answer.items()} == told


def test_costs_of_incidents(story: Story) -> None:
    for run_id, run in observed(story.runs).items():
        found = rows(
            story,
            """
            select
                incident_id,
                coalesce(sum(gpu_us) filter (category = 'lost_work'), 0)::bigint as lost,
                sum(gpu_us)::bigint as total,
            from ledger.intervals
            where run_id = ? and part = 'active' and incident_id is not null
            group by all
            """,
            run_id,
        )
        assert {row["incident_id"]: (row["lost"], row["total"]) for row in found} == {
            incident["incident"]: (incident["lost_gpu_us"], incident["total_gpu_us"])
            for incident in run["incidents"]
            if incident["total_gpu_us"]
        }


def test_windows_by_category(story: Story) -> None:
    found: dict[tuple[str, str | None], dict[str, int]] = {}
    sql = """
        select run_id, window_start, category, sum(gpu_us)::bigint as gpu_us,
        from ledger.window_intervals
        where part <> 'spare'
        group by all
    """
    for row in rows(story, sql):
        found.setdefault((row["run_id"], text_of(row["window_start"])), {})[row["category"]] = row["gpu_us"]
    assert found == {
        (run_id, window["window_start"]): window["gpu_us"]
        for run_id, run in story.runs.items()
        for window in run["windows"]
    }


def test_figures(story: Story) -> None:
    found = {
        (row["run_id"], text_of(row["window_start"])): row
        for row in rows(story, "from marts.goodput")
        if row["capacity_gpu_s"]
    }
    expected = {(run_id, w["window_start"]): w for run_id, run in story.runs.items() for w in run["windows"]}
    assert found.keys() == expected.keys()
    columns = {
        "W": "capacity_gpu_s",
        "L": "planned_gpu_s",
        "U": "unknown_gpu_s",
        "I": "infrastructure_gpu_s",
        "F": "framework_gpu_s",
        "P": "productive_gpu_s",
    }
    for key, window in expected.items():
        row, figures = found[key], window["figures"]
        assert {f: row[column] for f, column in columns.items()} == {f: figures[f] / 1e6 for f in columns}
        for figure, value in ratios(figures).items():
            if value is None:
                assert row[figure] is None
            else:
                # Both sides divide the same integers; only the last digit of a double may differ.
                assert math.isclose(row[figure], float(value), rel_tol=1e-12, abs_tol=1e-12)


def test_intervals(story: Story) -> None:
    sql = """
        select start_ts, end_ts, category, was, gpus, incident_id,
        from ledger.intervals
        where run_id = ? and part = 'active'
        order by start_ts
    """
    for run_id, run in observed(story.runs).items():
        found: list[list[Any]] = []
        for row in rows(story, sql, run_id):
            was = row["was"] if row["category"] == "lost_work" and row["was"] in STALLS else None
            rest = [row["category"], was, row["gpus"], row["incident_id"]]
            start, end = text_of(row["start_ts"]), text_of(row["end_ts"])
            if found and found[-1][1] == start and found[-1][2:] == rest:
                found[-1][1] = end
            else:
                found.append([start, end, *rest])
        assert found == run["intervals"]
