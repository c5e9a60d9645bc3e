"""Real public logs, end to end: times and steps are those that can be read and worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions
from tests.real_truths import REAL, real_store

pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real logs are not beside this checkout: {REAL}"
)


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_store(real_store(tmp_path_factory)) as connection:
        yield connection


def seconds(con: duckdb.DuckDBPyConnection, run: str, category: str) -> float:
    """Return the seconds that a run spent on a category."""
    row = con.execute(
        "select coalesce(sum(seconds), 0) from ledger.intervals "
        "where run_id = ? and category = ? and part = 'active'",
        [run, category],
    ).fetchone()
    assert row is not None
    return float(row[0])


def test_saves_and_lost_work_of_a_time_limit(con: duckdb.DuckDBPyConnection) -> None:
    """Six saves stand still for 19.5 s; 44 steps and the partial one after the save of 300 are lost."""
    run = "megatron/alps-1861140-timelimit"
    assert round(seconds(con, run, "checkpoint_stall"), 1) == 19.5
    lost = con.execute("select lost_steps, fault_ts::varchar from ledger.incidents where run_id = ?", [run])
    assert lost.fetchone() == (44, "2026-04-15 09:31:51+00")
    assert 99.6 <= seconds(con, run, "lost_work") <= 99.6 + 2.0


def test_a_printed_running_mean_is_no_step_time(con: duckdb.DuckDBPyConnection) -> None:
    """The line of step 2 prints 67 s for a step of 1.7 s: stamps decide, and step 1 holds the warm-up."""
    run = "megatron/alps-2609830-timelimit"
    rows = con.execute(
        "select step_last, round(epoch(end_ts - start_ts), 2) from ledger.steps "
        "where run_id = ? and step_last <= 2 order by 1",
        [run],
    ).fetchall()
    assert rows == [(1, 132.51), (2, 1.74)]
    assert round(seconds(con, run, "checkpoint_stall"), 1) == 34.2
    assert round(seconds(con, run, "warmup"), 0) == 131


@pytest.mark.parametrize(("name", "told_s"), [("n16-1832552", 871.8), ("n4-1832555", 919.1)])
def test_the_clock_of_a_progress_bar_covers_the_training(
    name: str, told_s: float, con: duckdb.DuckDBPyConnection
) -> None:
    """The bars know whole seconds; the trainer says how long its training took to a ten thousandth."""
    run = f"hf-trainer/bigscience-hf-ds/hf_ds_gpt2_base_{name}.out"
    assert int(told_s) == seconds(con, run, "productive") + seconds(con, run, "warmup")


def test_a_start_that_failed_without_a_clock_is_put_at_the_last_time_above_it(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """All eight ranks run out of memory of their own GPUs below 19:21:34,356; rank 7 only stands first."""
    row = con.execute(
        "select at_ts::varchar, fault_ts, mark, rank, gpu, copy_ranks, faulty_part from ledger.incidents "
        "where run_id = 'torchrun-failure/lockclock-dual16-oom'"
    ).fetchone()
    assert row == ("2026-03-19 19:21:34.356+00", None, "†", 7, None, 8, None)


def test_jobs_of_one_folder_that_train_at_once_are_two_runs(tmp_path: Path) -> None:
    """Sixteen nodes train from 06:31 to 06:45, and four others from 06:38 to 06:53."""
    logs = [str(REAL / "hf-trainer")]
    config = load_config(logs, None)
    ingest(logs, tmp_path, config, workers=1)
    assert classify(tmp_path, config, WindowOptions()).violations == ()
    with open_store(tmp_path) as con:
        rows = con.execute(
            "select run_id, sum(seconds)::integer from ledger.intervals"
            " where category in ('productive', 'warmup') and part = 'active' group by run_id order by run_id"
        ).fetchall()
    assert rows == [("bigscience-hf-ds", 871), ("bigscience-hf-ds/hf_ds_gpt2_base_n4", 919)]


def test_models_of_two_widths_in_one_folder_are_two_runs(tmp_path: Path) -> None:
    """Forty layers of 6144 on 16 GPUs, and a day later 64 layers of 16384 on 256: nobody stopped between."""
    logs = [str(REAL / "megatron" / "bigscience-meg-base")]
    config = load_config(logs, None)
    ingest(logs, tmp_path, config, workers=1)
    assert classify(tmp_path, config, WindowOptions()).violations == ()
    with open_store(tmp_path) as con:
        rows = con.execute(
            "select r.run_id, r.gpus, r.life_end_ts - r.life_start_ts < interval 11 minute, "
            "count_if(i.category in ('planned_stop', 'capacity_missing')) "
            "from ledger.runs as r inner join ledger.intervals as i using (run_id) group by all order by 1"
        ).fetchall()
    large = "bigscience-meg-base/meg_gpt2_base_n64_dp1_tp4_pp64"
    assert rows == [("bigscience-meg-base", 16, True, 0), (large, 256, True, 0)]


def test_a_watchdog_dates_the_stall_and_is_not_the_cause(con: duckdb.DuckDBPyConnection) -> None:
    """The save is done at 02:45:54.9; the collectives wait 600 s, and 56 GPUs with them."""
    run = "megatron/alps-2340717-watchdog"
    row = con.execute(
        "select fault_ts::varchar, detected_ts::varchar, lost_steps from ledger.incidents where run_id = ?",
        [run],
    ).fetchone()
    assert row is not None
    assert (row[0][:19], row[1][:19], row[2]) == ("2026-05-22 00:45:55", "2026-05-22 00:55:56", 0)
    assert 600 <= seconds(con, run, "hang") <= 602


@pytest.mark.parametrize(
    ("run", "init_s", "run_s"),
    [
        ("v1.0-google-bert", 640.4, 19.8),
        ("v3.1-nvidia-gpt3", 171.5, 2437.6),
        ("v5.0-ibm+coreweave+nvidia-llama31_405b", 539.6, 1917.7),
        ("v5.1-university-of-florida-llama31_405b", 470.3, 14151.9),
    ],
)
def test_start_up_share_of_a_benchmark(
    run: str, init_s: float, run_s: float, con: duckdb.DuckDBPyConnection
) -> None:
    edge = "{1}(ts) filter (phase = '{0}' and edge = '{2}')"
    span = f"epoch({edge.format('{0}', 'max', 'end')} - {edge.format('{0}', 'min', 'begin')})"
    row = con.execute(
        f"select {span.format('init')}, {span.format('loop')} "
        "from events.phases inner join events.sources using (source_id) where path like ?",
        [f"mlperf/{run}/%"],
    ).fetchone()
    assert row is not None
    assert (round(row[0], 1), round(row[1], 1)) == (init_s, run_s)
    assert abs(seconds(con, f"mlperf/{run}", "init") - init_s) < 0.1


def test_accounting_as_json_gives_a_row_for_each_job_and_none_for_its_steps(
    con: duckdb.DuckDBPyConnection,
) -> None:
    rows = con.execute(
        "select a.job_id, a.state, a.elapsed_s, a.reason, a.gpus, a.end_ts is not null, a.exit_code "
        "from events.allocations as a inner join events.sources as s using (source_id) "
        "where s.path = 'slurm-sacct/clockwork/sacct_1' order by a.line"
    ).fetchall()
    assert rows == [
        ("10", "NODE_FAIL", 20615.0, "Prolog", 1, False, None),
        ("20", "REQUEUED", 86307.0, "Prolog", 1, True, None),
    ]


def test_objects_of_kubernetes_tell_what_is_in_them(con: duckdb.DuckDBPyConnection) -> None:
    """One pod failed after a minute with exit code 3, one runs since 2021; neither holds an accelerator."""
    pods = con.execute(
        "select job_id, state, exit_code, epoch(end_ts - start_ts), gpus from staging.allocations "
        "where scheduler = 'kubernetes' order by 1"
    ).fetchall()
    assert pods == [
        ("auditlog-retention-28566720", "FAILED", 3, 63.0, 0),
        ("prometheus-k8s", "RUNNING", None, None, 0),
    ]


def test_events_of_kubernetes_are_counted_once(con: duckdb.DuckDBPyConnection) -> None:
    """Seven events tell that no node had room and two that a volume was missing; nine images were pulled."""
    signals = con.execute(
        "select signal_id, count(distinct (source_id, line)) from events.signals "
        "where format = 'kubernetes' group by all order by 1"
    ).fetchall()
    assert signals == [("k8s_failed_mount", 2), ("k8s_failed_scheduling", 7)]
    pulls = con.execute(
        "select pattern, count(*) from events.phases where format = 'kubernetes' group by all order by 1"
    ).fetchall()
    assert pulls == [("image_pull_begin", 9), ("image_pull_end", 8)]


def test_the_printed_time_of_a_fork_on_deepspeed_lays_its_steps(con: duckdb.DuckDBPyConnection) -> None:
    """The slow step of 68.95 s and the usual one of 18.21 s; its timer tells of one save, of 23.7 s."""
    run = "megatron-deepspeed/lockclock-qwen7b-baseline"
    row = con.execute(
        "select round(max(length), 2), round(median(length), 2), count(*) "
        "from (select epoch(end_ts - start_ts) as length from ledger.steps where run_id = ?)",
        [run],
    ).fetchone()
    assert row == (68.95, 18.21, 500)
    assert round(seconds(con, run, "checkpoint_stall"), 1) == 23.7


def test_a_report_in_the_output_of_a_job_is_its_accounting(con: duckdb.DuckDBPyConnection) -> None:
    """LSF prints 18:50:23 and 18:51:51; ranks came up 27.309 s before 18:51:46; no error is dated."""
    row = con.execute(
        "select state, len(nodes), epoch(start_ts - submit_ts), epoch(end_ts - start_ts), source_id = ("
        "select source_id from events.sources where path like '%moe-5.2.3363503.o') "
        "from staging.allocations where job_id = '3363503'"
    ).fetchall()
    assert row == [("COMPLETED", 65, 3113.0, 88.0, True)]
    run = "megatron-deepspeed/summit-moe-3363503"
    lost = [round(seconds(con, run, category), 3) for category in ("provisioning", "init", "teardown")]
    assert lost == [55.691, 27.309, 5.0]


def test_who_stops_the_others_has_noticed_that_one_failed(con: duckdb.DuckDBPyConnection) -> None:
    """The next dated line is of 22:17:44.326, the launcher kills from 22:17:50.684 on, until 22:18:01.278."""
    run = "megatron-deepspeed/lockclock-tp1pp2dp8-oom"
    assert round(seconds(con, run, "hang"), 3) == 6.358
    assert round(seconds(con, run, "teardown"), 3) == 10.594


def test_an_engine_without_printed_lengths_is_measured_by_its_stamps(con: duckdb.DuckDBPyConnection) -> None:
    """Sixteen epochs from 01:46:52 to the last step at 03:20:25, and evaluations between them."""
    run = "deepspeed/dschat-step1"
    row = con.execute(
        "select min(start_ts)::varchar, max(end_ts)::varchar, max(step_last) from ledger.steps "
        "where run_id = ?",
        [run],
    ).fetchone()
    assert row is not None
    assert (row[0][:19], row[1][:19], row[2]) == ("2023-04-18 01:46:52", "2023-04-18 03:20:25", 7360)
    # Fifteen of them lie between step lines: what the span is longer than its steps.
    evaluations = con.execute(
        "select count(*) from ledger.intervals where run_id = ? and category = 'evaluation'", [run]
    ).fetchone()
    assert evaluations == (15,)


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        ("bert-perf/paddle-ngc-v100-gpu32", 9),
        ("fairseq/perf-transformer", 3149),
        ("paddle/perf-transformer-bs5120-8gpu", 394),
        ("nanogpt/modded-adamw", 9536),
        ("nanogpt/modded-llmc", 19560),
        ("rl-trainer/verl-maze", 0),
    ],
)
def test_each_step_line_makes_a_row(run: str, lines: int, con: duckdb.DuckDBPyConnection) -> None:
    """As many as a search for the text of a step line finds."""
    row = con.execute(
        "select count(*) from events.steps inner join events.sources using (source_id) where path like ?",
        [f"{run}/%"],
    ).fetchone()
    assert row == (lines,)
