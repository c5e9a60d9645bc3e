"""Real public logs, end to end: formats, attempts and their ends are those that each description tells."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import duckdb
import pytest

from pipeline.ledger.query import open_store
from tests.real_truths import ANYWHERE, FAULT_OF, FAULTS, FORMATS, REAL, TRUTHS, Fault, Truth, real_store

pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real logs are not beside this checkout: {REAL}"
)


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_store(real_store(tmp_path_factory)) as connection:
        yield connection


def test_nothing_contradicts_itself(con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute('select "check", example from checks.results where rows > 0').fetchall() == []


def test_every_line_is_accounted_for(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute("select path, lines, parsed_lines + unknown_lines + bad_lines from events.sources")
    for name, lines, told in rows.fetchall():
        path = REAL / name
        text = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        assert lines == told == text.count(b"\n") + (not text.endswith(b"\n")), name


def test_files_get_the_right_name_or_none(con: duckdb.DuckDBPyConnection) -> None:
    found = dict(con.execute("select path, format from events.sources").fetchall())
    expected = FORMATS | {path: "mlperf" for path in found if path.startswith("mlperf/")}
    assert {path: found[path] for path in expected} == expected
    assert {path: name for path, name in found.items() if path not in expected and name not in ANYWHERE} == {}


@pytest.mark.parametrize("path", FAULTS)
def test_faults_of_node_logs(path: str, con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select g.signal_id, g.pci, sum(g.repeats)::bigint from events.signals as g "
        "inner join events.sources as s using (source_id) where s.path = ? group by all",
        [path],
    ).fetchall()
    assert {(name, pci): count for name, pci, count in rows} == FAULTS[path]


def test_measurements_of_machines(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select s.path, t.metric, count(*), max(t.value) from events.telemetry as t "
        "inner join events.sources as s using (source_id) "
        "where s.path like 'hw-bench/%' group by all "
        "union all "
        "select s.path, c.record, count(*), max(c.bus_bytes_per_s) from events.collectives as c "
        "inner join events.sources as s using (source_id) "
        "where s.path like 'hw-bench/%' group by all order by all"
    ).fetchall()
    # 34 sizes, out of place and in place; eight devices of which none was faulty.
    assert rows == [
        ("hw-bench/superbench-gpuburn/gpu_burn.log", "gpu_burn_faulty", 8, 0.0),
        ("hw-bench/superbench-nccl/nccl_allreduce.log", "measurement", 68, 235.26e9),
    ]


@pytest.mark.parametrize("run", sorted(TRUTHS))
def test_attempts_and_their_ends(run: str, con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select a.first_step, a.last_step, a.survives_to, "
        "(select count(*) from ledger.saves as s "
        "where s.run_id = a.run_id and s.attempt = a.attempt and s.durable), "
        "a.restored_step, i.kind, i.cause, a.job_id "
        "from ledger.attempts as a inner join ledger.incidents as i using (run_id, attempt) "
        "where a.run_id = ? order by a.attempt",
        [run],
    ).fetchall()
    found = [Truth(*row) for row in rows]
    if run.startswith("mlperf/"):
        # No description names steps: only how the run ended.
        found = [Truth(kind=row.kind, cause=row.cause) for row in found]
    if all(truth.job_id is None for truth in TRUTHS[run]):
        found = [row._replace(job_id=None) for row in found]
    assert found == list(TRUTHS[run])


@pytest.mark.parametrize("run", sorted(FAULT_OF))
def test_where_and_when_it_failed_and_which_line_says_so(run: str, con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select left(fault_ts::varchar, 19), parse_filename(evidence_path) || ':' || evidence_line, "
        "host, rank, faulty_part, coalesce(copy_ranks, 0), runner_up_cause "
        "from ledger.incidents where run_id = ? order by attempt",
        [run],
    ).fetchall()
    assert tuple(Fault(*row) for row in rows) == FAULT_OF[run]


def test_every_end_that_was_not_wanted_is_in_the_table_of_faults() -> None:
    ended = {
        run for run, truths in TRUTHS.items() if any(t.kind not in ("completed", "ongoing") for t in truths)
    }
    assert ended <= FAULT_OF.keys()
