"""What an output quotes about another job of its run changes nothing of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from explained import build_logs, copy_of

from pipeline.ledger.build import DATABASE
from tests.once import sample_store

SAMPLE = "fallen-gpu"

#: What a job prints that looks for how the one before it ended.
QUOTED = "slurmstepd: error: *** JOB 41207 ON gx010 CANCELLED AT 2026-03-03T08:14:28 DUE TO TIME LIMIT ***\n"


def ledger_of(store: Path) -> tuple[list[tuple[Any, ...]], ...]:
    """Return ends, intervals and broken checks of a store."""
    with duckdb.connect(str(store / DATABASE), read_only=True) as con:
        ends = con.execute(
            "select incident_id, kind, cause, runner_up_cause, cascade, fault_ts, detected_ts, "
            "evidence_path, evidence_text from ledger.incidents order by 1"
        ).fetchall()
        intervals = con.execute(
            "select attempt, start_ts, end_ts, category, incident_id from ledger.intervals order by 2, 1"
        ).fetchall()
        broken = con.execute('select "check" from checks.results where rows > 0').fetchall()
    return ends, intervals, broken


def test_a_line_about_an_earlier_job_decides_nothing_of_a_later_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    logs = copy_of(SAMPLE, tmp_path)
    before = ledger_of(sample_store(tmp_path_factory, SAMPLE))
    for log in sorted(logs.glob("heron-70b/job-41233.*")):
        log.write_text(QUOTED + log.read_text(encoding="utf-8") + QUOTED, encoding="utf-8")
    after = ledger_of(build_logs(logs, tmp_path / "after"))
    assert before[2] == []
    assert len(before[0]) > 2
    assert after == before
