"""The split of a step on real public logs and traces: it adds up, and ranks are kept apart."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"
pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real logs are not beside this checkout: {REAL}"
)

#: Run, and the console that tells its timers.
ONE_RANK = {
    "n4": "megatron/bigscience-meg-base/meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out",
    "n64": "megatron/bigscience-meg-base/meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out",
    "perf": "megatron/bigscience-meg-perf-n16/meg_gpt2_perf_n16-1999618.out",
    "zero": "megatron-deepspeed/bigscience-zero/meg_ds_zero_gpt2_perf_n16-1999616.out",
}
RANKS = {"alps": "megatron/alps-2609830-timelimit/2609830.out"}
TRACES = {
    "traced": ("kineto/hta-timeline/sampled_rank-0.json.gz", "kineto/hta-trace-filter/sampled_rank-1.json.gz")
}

#: Traces belong to the run in whose folder they lie: this one lends them its console, since they have none.
CONSOLE = "megatron-deepspeed/lockclock-tp1pp2dp8-oom/tp1pp2dp8_base50_20260316.log"

#: Timers of these logs that lie inside another one of the same line.
INNER = re.compile(
    r"batch|optimizer-|backward-backward|backward-allreduce|backward-(?:master|clip)", re.ASCII
)


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """The ledger of all of them, each in a folder of its own."""
    root = tmp_path_factory.mktemp("split")
    for run, path in {**ONE_RANK, **RANKS, "traced": CONSOLE}.items():
        (root / "logs" / run).mkdir(parents=True)
        shutil.copy(REAL / path, root / "logs" / run)
    for trace in TRACES["traced"]:
        shutil.copy(REAL / trace, root / "logs" / "traced")
    ingest([str(root / "logs")], root / "store", EMPTY_CONFIG)
    summary = classify(root / "store", EMPTY_CONFIG, WindowOptions())
    assert summary.violations == ()
    with open_store(root / "store") as opened:
        yield opened


def printed_blocks(path: Path) -> list[tuple[float, float]]:
    """Return for each step line its printed time and the sum of its outer timers, in milliseconds."""
    blocks, step = [], None
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        elapsed = re.search(r"elapsed time per iteration \(ms\): ([\d.]+)", text)
        if elapsed:
            step = float(elapsed[1])
        elif text.startswith("time (ms) | ") and step is not None:
            timers = re.findall(r"\| ([\w/ -]+): ([\d.]+)", text)
            blocks.append((step, sum(float(ms) for name, ms in timers if not INNER.search(name))))
            step = None
    return blocks


@pytest.mark.parametrize("run", ONE_RANK)
def test_the_timers_of_one_rank_add_up_to_the_printed_step(run: str, con: duckdb.DuckDBPyConnection) -> None:
    expected = printed_blocks(REAL / ONE_RANK[run])
    rows = con.execute(
        "select step_s, told_s, coalesce(compute_s, 0) + coalesce(exposed_comm_s, 0) "
        "+ coalesce(data_wait_s, 0) + coalesce(bubble_s, 0) + coalesce(memory_copy_s, 0) + other_s "
        "from ledger.timer_parts where run_id = ? order by step_first",
        [run],
    ).fetchall()
    assert len(rows) == len(expected) > 0
    for (step_s, told_s, parts_s), (step_ms, told_ms) in zip(rows, expected, strict=True):
        # Timers are rounded to a hundredth of a millisecond, and a dozen of them are added.
        assert told_s * 1e3 == pytest.approx(told_ms, abs=0.1)
        assert step_s * 1e3 == pytest.approx(step_ms, abs=0.1)
        assert parts_s == pytest.approx(step_s, abs=1e-6)


def test_a_deep_pipeline_of_few_micro_batches_is_bound_by_its_bubble(con: duckdb.DuckDBPyConnection) -> None:
    """64 stages and 4 micro batches: a stage waits for 63/4 of what it computes."""
    rows = con.execute(
        "select run_id, verdict from marts.efficiency where run_id in ('n4', 'n64') order by all"
    )
    assert rows.fetchall() == [("n4", "bubble_bound"), ("n64", "bubble_bound")]


def test_reductions_that_stand_at_zero_are_not_free(con: duckdb.DuckDBPyConnection) -> None:
    row = con.execute(
        "select exposed_comm_share, network_efficiency, verdict, network_reason is not null "
        "from marts.efficiency where run_id = 'zero'"
    ).fetchone()
    assert row == (None, None, "not_known", True)


def test_least_and_most_of_the_ranks_are_kept_apart(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select compute_min_s, compute_max_s, comm_min_s, comm_max_s "
        "from ledger.step_parts where run_id = 'alps' and evidence = 'timers' and steady"
    ).fetchall()
    assert len(rows) > 100
    assert all(least < most and quiet < busy for least, most, quiet, busy in rows)


def sweep(path: Path) -> dict[str, float]:
    """Return seconds of a trace's device in which it computed, and communicated and did not compute.

    The union of the intervals of each kind, by a walk over their ends.
    """
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    ends: list[tuple[float, int, str]] = []
    for event in events:
        if event.get("ph") == "X" and event.get("cat", "").lower() == "kernel":
            kind = "communication" if "nccl" in event["name"].lower() else "compute"
            ends += [(event["ts"], 1, kind), (event["ts"] + event["dur"], -1, kind)]
    seconds = {"compute": 0.0, "communication": 0.0}
    running, before = {"compute": 0, "communication": 0}, 0.0
    for at, change, kind in sorted(ends):
        for winner in ("compute", "communication"):
            if running[winner]:
                seconds[winner] += (at - before) / 1e6
                break
        running[kind] += change
        before = at
    return seconds


def test_traces_are_split_by_the_rank_that_computes_longest(
    con: duckdb.DuckDBPyConnection,
) -> None:
    by_rank = [sweep(REAL / trace) for trace in TRACES["traced"]]
    slowest = max(by_rank, key=lambda rank: rank["compute"])
    row = con.execute(
        "select ranks, steps, compute_s, exposed_comm_s + coalesce(bubble_s, 0), "
        "compute_min_s, compute_max_s, "
        "step_s - compute_s - exposed_comm_s - coalesce(bubble_s, 0) - memory_copy_s - other_s "
        "from ledger.profile_parts where run_id = 'traced'"
    ).fetchone()
    assert row is not None
    ranks, steps, compute_s, comm_s, least_s, most_s, left_s = row
    assert (ranks, steps) == (2, 2)
    assert compute_s * steps == pytest.approx(slowest["compute"], rel=0.005)
    assert comm_s * steps == pytest.approx(slowest["communication"], rel=0.005)
    assert [least_s * steps, most_s * steps] == pytest.approx(
        sorted(r["compute"] for r in by_rank), rel=0.005
    )
    assert left_s == pytest.approx(0, abs=1e-6)
