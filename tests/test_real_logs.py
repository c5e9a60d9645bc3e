"""Real public logs, end to end: what each file's description says is what the ledger answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import ClassifySummary, classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"
pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real logs are not beside this checkout: {REAL}"
)

#: Files of the formats that are read, and the name that each must get. A file that is not listed is of a
#: program that is not read: it may get the name of output that occurs anywhere, and never that of a trainer.
FORMATS = {
    **{f"megatron/{name}": "megatron" for name in (
        "alps-1861140-timelimit/1861140.out",
        "alps-2340717-watchdog/2340717.out",
        "alps-2561509/2561509.out",
        "alps-2609830-timelimit/2609830.out",
        "bigscience-meg-base/meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out",
        "bigscience-meg-base/meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out",
        "bigscience-meg-perf-n16/meg_gpt2_perf_n16-1999618.out",
    )},
    # Started by Megatron or a fork of it, and ended before the first step.
    "nccl/fwyc-tiny/realistic_log_1nodes_6gpus_3pp_2tp_tinymodel.log": "megatron",
    "torchelastic-dir/alps-1857626-rank0/stdout.log": "megatron",
    "torchrun-failure/alps-1857626/1857626.out": "megatron",
    "torchrun-failure/fwyc-ws8/node0.log": "megatron",
    "kernel/gpud-erst/dmesg-erst.txt": "kernel",
    "kernel/gpud-kmsg/kmsg.1.log": "kernel",
    "kernel/gpud-nccl-segv/dmesg.decode.iso.log": "kernel",
    "kernel/gpud-xid119/dmesg-with-xid-119.log": "kernel",
    "bert-perf/paddle-ngc-v100-gpu32/"
    "bert_base_lamb_pretraining.pyt_bert_pretraining_phase1_fp16_bs96_gpu32.log": "dllogger",
    "fairseq/perf-transformer/transformer_pytorch_bs5120_fp16_gpu1": "dllogger",
    "paddle/perf-transformer-bs5120-8gpu/transformer_pytorch_bs5120_fp32_gpu8": "dllogger",
    "nanogpt/jackokeefe-output/output.log": "nanogpt",
    "nanogpt/modded-adamw/f66d43d7-e449-4029-8adf-e8537bab49ea.log": "nanogpt",
    "nanogpt/modded-llmc/main.log": "nanogpt",
    "rl-trainer/verl-maze/verl_demo.log": "verl",
    "slurm-sacct/gcm-multiline/sample-sacct-fake-line-break.txt": "slurm_sacct",
    "slurm-sacct/gcm-multiline/sample-sacct-one-multiline.txt": "slurm_sacct",
}  # fmt: skip
ANYWHERE = {"unknown", "binary", "slurm_messages", "torchrun", "python_traceback", "pytorch_nccl"}


class Truth(NamedTuple):
    """What a run's description says: steps, saves, the end and its cause; None where it says nothing."""

    first_step: int | None = None
    last_step: int | None = None
    survives_to: int | None = None
    saves: int = 0
    restored: int | None = None
    kind: str = "unplanned"
    cause: str = "unknown"
    job_id: str | None = None


#: By folder, in the order of attempts.
TRUTHS: dict[str, tuple[Truth, ...]] = {
    "megatron/alps-1861140-timelimit": (Truth(1, 344, 300, 6, None, "planned", "time_limit", "1861140"),),
    "megatron/alps-2340717-watchdog": (
        Truth(14001, 15549, 15549, 1, 14000, "unplanned", "software_exception", "2340717"),
    ),
    "megatron/alps-2561509": (Truth(1, 19, 19, 4, None, "completed", "data_exhausted", "2561509"),),
    "megatron/alps-2609830-timelimit": (Truth(1, 154, 150, 15, None, "planned", "time_limit", "2609830"),),
    "megatron/bigscience-meg-base": (
        Truth(1, 200, None, 0, None, "planned", "operator_stop", "1809579"),
        Truth(1, 60, 60, 0, None, "planned", "time_limit", "1809655"),
    ),
    "megatron/bigscience-meg-perf-n16": (Truth(1, 4, 4, 0, None, "planned", "time_limit", "1999618"),),
    "torchrun-failure/alps-1857626": (Truth(cause="software_exception", job_id="1857626"),),
    "torchrun-failure/fwyc-ws8": (Truth(cause="software_exception"),),
    "torchrun-failure/lockclock-dual16-oom": (Truth(cause="gpu_out_of_memory"),),
    "torchrun-failure/lockclock-dual32-base1": (Truth(cause="environment_error"),),
    "nccl/lockclock-smoke-0328": (Truth(cause="missing_file"),),
    "nccl/lockclock-watch-0328": (Truth(cause="missing_file"),),
    "nccl/fwyc-tiny": (Truth(kind="completed", cause="completed"),),
    "slurm-out/openvla-oft": tuple(
        Truth(kind="planned", cause="operator_stop", job_id=job)
        for job in ("263121", "266997", "266999", "267031", "267036", "267035", "267039")
    ),
    "slurm-out/deformable-detr": (Truth(kind="planned", cause="operator_stop", job_id="25883692"),),
    "bert-perf/paddle-ngc-v100-gpu32": (Truth(22, 30, 30, 0, 21, "completed", "completed"),),
    "fairseq/perf-transformer": (Truth(1, 31487, 31487, kind="completed", cause="completed"),),
    "paddle/perf-transformer-bs5120-8gpu": (Truth(1, 3935, 3935, kind="completed", cause="completed"),),
    # The card is held by somebody else.
    "nanogpt/jackokeefe-output": (Truth(cause="gpu_out_of_memory"),),
    # Steps from 0 on, and no word about the end.
    "nanogpt/modded-adamw": (Truth(0, 9535, 9535, 0, -1, "ongoing", "in_progress"),),
    "nanogpt/modded-llmc": (Truth(0, 19559, 19559, 0, -1, "ongoing", "in_progress"),),
    "rl-trainer/verl-maze": (Truth(cause="software_exception"),),
    **{
        f"mlperf/{path.name}": (Truth(kind="completed", cause="completed"),)
        for path in (sorted((REAL / "mlperf").iterdir()) if REAL.is_dir() else ())
    },
}


class Built(NamedTuple):
    """The store of all real logs, each folder a run, and what building said."""

    con: duckdb.DuckDBPyConnection
    summary: ClassifySummary


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    store = tmp_path_factory.mktemp("real")
    settings = store / "runs.toml"
    settings.write_text("\n".join(f'[runs."{name}"]\nlogs = ["{name}/**"]\n' for name in TRUTHS))
    config = load_config([str(REAL)], settings)
    ingest([str(REAL)], store, config, workers=1)
    summary = classify(store, config, WindowOptions())
    con = open_store(store)
    yield Built(con, summary)
    con.close()


def test_nothing_contradicts_itself(built: Built) -> None:
    assert built.summary.violations == ()


def test_every_line_is_accounted_for(built: Built) -> None:
    rows = built.con.execute(
        "select path from events.sources where lines <> parsed_lines + unknown_lines + bad_lines"
    ).fetchall()
    assert rows == []


def test_files_get_the_right_name_or_none(built: Built) -> None:
    found = dict(built.con.execute("select path, format from events.sources").fetchall())
    expected = FORMATS | {path: "mlperf" for path in found if path.startswith("mlperf/")}
    assert {path: found[path] for path in expected} == expected
    assert {path: name for path, name in found.items() if path not in expected and name not in ANYWHERE} == {}


@pytest.mark.parametrize("run", sorted(TRUTHS))
def test_attempts_and_their_ends(run: str, built: Built) -> None:
    rows = built.con.execute(
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


def seconds(built: Built, run: str, category: str) -> float:
    """Return the seconds that a run spent on a category."""
    row = built.con.execute(
        "select coalesce(sum(seconds), 0) from ledger.intervals "
        "where run_id = ? and category = ? and part = 'active'",
        [run, category],
    ).fetchone()
    assert row is not None
    return float(row[0])


def test_saves_and_lost_work_of_a_time_limit(built: Built) -> None:
    """Six saves stand still for 19.5 s; 44 steps and the partial one after the save of 300 are lost."""
    run = "megatron/alps-1861140-timelimit"
    assert round(seconds(built, run, "checkpoint_stall"), 1) == 19.5
    lost = built.con.execute(
        "select lost_steps, fault_ts::varchar from ledger.incidents where run_id = ?", [run]
    )
    assert lost.fetchone() == (44, "2026-04-15 11:31:51+00")
    assert 99.6 <= seconds(built, run, "lost_work") <= 99.6 + 2.0


def test_a_printed_running_mean_is_no_step_time(built: Built) -> None:
    """The line of step 2 prints 67 s for a step of 1.7 s: stamps decide, and step 1 holds the warm-up."""
    run = "megatron/alps-2609830-timelimit"
    rows = built.con.execute(
        "select step_last, round(epoch(end_ts - start_ts), 2) from ledger.steps "
        "where run_id = ? and step_last <= 2 order by 1",
        [run],
    ).fetchall()
    assert rows == [(1, 132.51), (2, 1.74)]
    assert round(seconds(built, run, "checkpoint_stall"), 1) == 34.2
    assert round(seconds(built, run, "warmup"), 0) == 131


def test_a_watchdog_dates_the_stall_and_is_not_the_cause(built: Built) -> None:
    """The save is done at 02:45:54.9; the collectives wait 600 s, and 56 GPUs with them."""
    run = "megatron/alps-2340717-watchdog"
    row = built.con.execute(
        "select fault_ts::varchar, detected_ts::varchar, lost_steps from ledger.incidents where run_id = ?",
        [run],
    ).fetchone()
    assert row is not None
    assert (row[0][:19], row[1][:19], row[2]) == ("2026-05-22 02:45:55", "2026-05-22 02:55:56", 0)
    assert 600 <= seconds(built, run, "hang") <= 602


@pytest.mark.parametrize(
    ("run", "init_s", "run_s"),
    [
        ("v1.0-google-bert", 640.4, 19.8),
        ("v3.1-nvidia-gpt3", 171.5, 2437.6),
        ("v5.0-ibm+coreweave+nvidia-llama31_405b", 539.6, 1917.7),
        ("v5.1-university-of-florida-llama31_405b", 470.3, 14151.9),
    ],
)
def test_start_up_share_of_a_benchmark(run: str, init_s: float, run_s: float, built: Built) -> None:
    edge = "{1}(ts) filter (phase = '{0}' and edge = '{2}')"
    span = f"epoch({edge.format('{0}', 'max', 'end')} - {edge.format('{0}', 'min', 'begin')})"
    row = built.con.execute(
        f"select {span.format('init')}, {span.format('loop')} "
        "from events.phases inner join events.sources using (source_id) where path like ?",
        [f"mlperf/{run}/%"],
    ).fetchone()
    assert row is not None
    assert (round(row[0], 1), round(row[1], 1)) == (init_s, run_s)
    assert abs(seconds(built, f"mlperf/{run}", "init") - init_s) < 0.1


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
def test_each_step_line_makes_a_row(run: str, lines: int, built: Built) -> None:
    """As many as a search for the text of a step line finds."""
    row = built.con.execute(
        "select count(*) from events.steps inner join events.sources using (source_id) where path like ?",
        [f"{run}/%"],
    ).fetchone()
    assert row == (lines,)
