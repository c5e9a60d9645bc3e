"""Real public logs, end to end: what each file's description says is what the ledger answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
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
    "deepspeed/dschat-step1/opt-1.3b-globalBatchSize128.log": "deepspeed",
    **{f"megatron-deepspeed/{name}": "megatron_deepspeed" for name in (
        "bigscience-3d/meg_ds_3d_gpt2_perf_n16.out",
        "bigscience-zero/meg_ds_zero_gpt2_perf_n16-1999616.out",
        "lockclock-qwen7b-baseline/qwen7b_baseline_500.log",
        "lockclock-tp1pp2dp8-oom/tp1pp2dp8_base50_20260316.log",
        "lockclock-watch-recollect/watch_and_recollect_20260403_v4.log",
        "summit-3329260/gpt3-megatron.3329260.o",
        "summit-moe-3363503/moe-5.2.3363503.o",
    )},
    # Started by Megatron or a fork of it, and ended before the first step.
    "nccl/lockclock-smoke-0328/dual8_tp4pp1dp2_smoke_nohup_20260328.log": "megatron_deepspeed",
    "nccl/lockclock-watch-0328/watch_and_launch_dual8_tp4pp1dp2_20260328.log": "megatron_deepspeed",
    "torchrun-failure/lockclock-dual16-oom/node0.log": "megatron_deepspeed",
    "nccl/fwyc-tiny/realistic_log_1nodes_6gpus_3pp_2tp_tinymodel.log": "megatron",
    "torchelastic-dir/alps-1857626-rank0/stdout.log": "megatron",
    "torchrun-failure/alps-1857626/1857626.out": "megatron",
    "torchrun-failure/fwyc-ws8/node0.log": "megatron",
    "fairseq/perf-transformer/transformer_pytorch_bs5120_fp16_gpu1": "fairseq_2018",
    "paddle/perf-transformer-bs5120-8gpu/transformer_pytorch_bs5120_fp32_gpu8": "fairseq_2018",
    "hf-trainer/bigscience-hf-ds/hf_ds_gpt2_base_n16-1832552.out": "hf_trainer",
    "hf-trainer/bigscience-hf-ds/hf_ds_gpt2_base_n4-1832555.out": "hf_trainer",
    "kernel/gpud-erst/dmesg-erst.txt": "kernel",
    "kernel/gpud-kmsg/kmsg.1.log": "kernel",
    "kernel/gpud-nccl-segv/dmesg.decode.iso.log": "kernel",
    "kernel/gpud-xid119/dmesg-with-xid-119.log": "kernel",
    "slurm-sacct/clockwork/sacct_1": "slurm_sacct_json",
    "slurm-sacct/clockwork/sacct_2": "slurm_sacct_json",
    "fabricmanager/gpud/fabricmanager.log": "fabric_manager",
    "hw-bench/superbench-gpuburn/gpu_burn.log": "gpu_burn",
    "hw-bench/superbench-nccl/nccl_allreduce.log": "nccl_tests",
    "k8s/insights-node/ip-10-0-135-228.us-east-2.compute.internal.log": "syslog",
    "syslog-hpc/loghub-thunderbird/Thunderbird_2k.log": "syslog",
    **{f"k8s{name}.json": "kubernetes" for name in (
        "/insights-pod-failed/auditlog-retention-28566720-t22qj",
        "/insights-pods/prometheus-k8s-1",
        "-events/troubleshoot/message-container-creating-failed-mount",
        "-events/troubleshoot/message-image-pull-fail",
    )},
    "bert-perf/paddle-ngc-v100-gpu32/"
    "bert_base_lamb_pretraining.pyt_bert_pretraining_phase1_fp16_bs96_gpu32.log": "dllogger",
    "nanogpt/jackokeefe-output/output.log": "nanogpt",
    "nanogpt/modded-adamw/f66d43d7-e449-4029-8adf-e8537bab49ea.log": "nanogpt",
    "nanogpt/modded-llmc/main.log": "nanogpt",
    "rl-trainer/verl-maze/verl_demo.log": "verl",
    "kineto/hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz": "kineto",
    "kineto/hta-timeline/sampled_rank-0.json.gz": "kineto",
    "kineto/hta-trace-filter/sampled_rank-1.json.gz": "kineto",
    "slurm-sacct/gcm-multiline/sample-sacct-fake-line-break.txt": "slurm_sacct",
    "slurm-sacct/gcm-multiline/sample-sacct-one-multiline.txt": "slurm_sacct",
    "slurm-scontrol/gcm/sample-scontrol-output-large.txt": "scontrol_node",
}  # fmt: skip
ANYWHERE = {
    *("unknown", "binary", "slurm_messages", "torchrun", "python_traceback", "pytorch_nccl"),
    *("deepspeed_library", "nvrx", "orbax"),
}


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


#: By folder or file, in the order of attempts.
TRUTHS: dict[str, tuple[Truth, ...]] = {
    # Sixteen nodes draw the same bar one behind the other, and four: one run each.
    "hf-trainer/bigscience-hf-ds/hf_ds_gpt2_base_n16-1832552.out": (
        Truth(1, 4, 4, 0, None, "completed", "completed", "1832552"),
    ),
    "hf-trainer/bigscience-hf-ds/hf_ds_gpt2_base_n4-1832555.out": (
        Truth(1, 16, 16, 0, None, "completed", "completed", "1832555"),
    ),
    "megatron/alps-1861140-timelimit": (Truth(1, 344, 300, 6, None, "planned", "time_limit", "1861140"),),
    "megatron/alps-2340717-watchdog": (
        Truth(14001, 15549, 15549, 1, 14000, "unplanned", "ran_out_of_data", "2340717"),
    ),
    "megatron/alps-2561509": (Truth(1, 19, 19, 4, None, "completed", "data_exhausted", "2561509"),),
    "megatron/alps-2609830-timelimit": (Truth(1, 154, 150, 15, None, "planned", "time_limit", "2609830"),),
    "megatron/bigscience-meg-base": (
        Truth(1, 200, None, 0, None, "planned", "operator_stop", "1809579"),
        Truth(1, 60, 60, 0, None, "planned", "time_limit", "1809655"),
    ),
    "megatron/bigscience-meg-perf-n16": (Truth(1, 4, 4, 0, None, "planned", "time_limit", "1999618"),),
    "deepspeed/dschat-step1": (Truth(1, 7360, 7360, 0, None, "completed", "completed"),),
    "megatron-deepspeed/bigscience-3d": (Truth(1, 2, 2, 0, None, "ongoing", "in_progress"),),
    "megatron-deepspeed/bigscience-zero": (Truth(1, 4, 4, 0, None, "planned", "time_limit", "1999616"),),
    # Both of its saves are of step 500.
    "megatron-deepspeed/lockclock-qwen7b-baseline": (Truth(1, 500, 500, 1, None, "completed", "completed"),),
    "megatron-deepspeed/lockclock-watch-recollect": (
        # A training of its own: it had reached its last step.
        Truth(1, 20, 20, 0, None, "completed", "completed"),
        Truth(1, 20, 20, 0, None, "completed", "completed"),
    ),
    # Somebody pressed Ctrl-C twice; what was done since the start was never saved.
    "megatron-deepspeed/summit-3329260": (Truth(1, 930, 930, 0, None, "planned", "operator_stop"),),
    # LSF says that it is done: the script hid the end of every rank.
    "megatron-deepspeed/summit-moe-3363503": (Truth(cause="gpu_other"),),
    "megatron-deepspeed/lockclock-tp1pp2dp8-oom": (Truth(1, 5, 5, 0, None, cause="gpu_out_of_memory"),),
    "torchrun-failure/alps-1857626": (Truth(cause="software_exception", job_id="1857626"),),
    "torchrun-failure/fwyc-ws8": (Truth(cause="software_exception"),),
    "torchrun-failure/lockclock-dual16-oom": (Truth(cause="gpu_out_of_memory"),),
    "torchrun-failure/lockclock-dual32-base1": (Truth(cause="environment_error"),),
    "nccl/lockclock-smoke-0328": (Truth(cause="missing_file"),),
    "nccl/lockclock-watch-0328": (Truth(cause="missing_file"),),
    "nccl/fwyc-tiny": (Truth(kind="completed", cause="completed"),),
    "fairseq/perf-transformer": (Truth(1, 31487, 31487, 0, None, "completed", "completed"),),
    "paddle/perf-transformer-bs5120-8gpu": (Truth(1, 3935, 3935, 0, None, "completed", "completed"),),
    # Seven jobs that were stopped. Between the first two the script begins five times more, and each launch
    # fails by itself; two are on two hosts at once, their lines mixed. No line says which jobs they were.
    "slurm-out/openvla-oft": (
        Truth(kind="planned", cause="operator_stop", job_id="263121"),
        *(Truth(cause="software_exception") for _ in range(5)),
        *(
            Truth(kind="planned", cause="operator_stop", job_id=job)
            for job in ("266997", "266999", "267031", "267036", "267035", "267039")
        ),
    ),
    "slurm-out/deformable-detr": (Truth(kind="planned", cause="operator_stop", job_id="25883692"),),
    "bert-perf/paddle-ngc-v100-gpu32": (Truth(22, 30, 30, 0, 21, "completed", "completed"),),
    # Its own memory: PyTorch allocated 9.69 GiB, so that it is the process with 10.47; another one has 0.25.
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
    settings.write_text("\n".join(f'[runs."{name}"]\nlogs = ["{name}/**", "{name}"]\n' for name in TRUTHS))
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


#: By file: signals with their number and device, and what else was counted in it.
FAULTS = {
    # One incident of one GPU; the driver names the process that waited.
    "kernel/gpud-xid119/dmesg-with-xid-119.log": {
        ("xid_119_gsp_rpc_timeout", "0000:9b:00"): 5,
        ("nvrm_gsp_rate_limit", "0000:9b:00"): 1,
    },
    "kernel/gpud-nccl-segv/dmesg.decode.iso.log": {("segfault_libnccl", None): 2},
    "kernel/gpud-erst/dmesg-erst.txt": {("kernel_oops_null", None): 1},
    "kernel/gpud-kmsg/kmsg.1.log": {},
    "fabricmanager/gpud/fabricmanager.log": {("fm_nvswitch_nonfatal", "0000:86:00"): 1},
    "k8s/insights-node/ip-10-0-135-228.us-east-2.compute.internal.log": {},
    "syslog-hpc/loghub-thunderbird/Thunderbird_2k.log": {},
}


@pytest.mark.parametrize("path", FAULTS)
def test_faults_of_node_logs(path: str, built: Built) -> None:
    rows = built.con.execute(
        "select g.signal_id, g.pci, sum(g.repeats)::bigint from events.signals as g "
        "inner join events.sources as s using (source_id) where s.path = ? group by all",
        [path],
    ).fetchall()
    assert {(name, pci): count for name, pci, count in rows} == FAULTS[path]


def test_measurements_of_machines(built: Built) -> None:
    rows = built.con.execute(
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


class Fault(NamedTuple):
    """Where and when an attempt failed, and by which line, as its file says; None where it does not."""

    at: str | None
    line: str
    host: str | None = None
    rank: int | None = None
    part: str | None = None
    ranks: int = 0
    runner_up: str | None = None


#: What many ranks say is of no host, and of the rank that was first no more than of the others. Of several
#: exceptions of one kind the first in its file counts.
FAULT_OF: dict[str, tuple[Fault, ...]] = {
    # Rank 4, on the second node, misses a file ten minutes, and half an hour, before anybody notices.
    "nccl/lockclock-smoke-0328": (
        Fault(
            "2026-03-28 16:19:29",
            "dual8_tp4pp1dp2_smoke_nohup_20260328.log:6017",
            *("192.168.205.202", 4, "rank", 1, "collective_timeout"),
        ),
    ),
    "nccl/lockclock-watch-0328": (
        Fault(
            "2026-03-28 00:36:50",
            "watch_and_launch_dual8_tp4pp1dp2_20260328.log:1026",
            *("192.168.205.202", 4, "rank", 1, "collective_timeout"),
        ),
    ),
    # The data have run out: 28 even ranks of 56 say so, rank 2 first, before any line of their log has
    # a date. The odd ranks, which wait for a length from the even ones, read nonsense: line 1762.
    # 02:55:56 less 600 s.
    "megatron/alps-2340717-watchdog": (
        Fault("2026-05-22 00:45:55", "2340717.err:395", None, 2, None, 28, "software_exception"),
    ),
    # Three ranks of sixteen; the first of them takes its leave before the launcher kills the others.
    "megatron-deepspeed/lockclock-tp1pp2dp8-oom": (
        Fault("2026-03-16 22:17:44", "tp1pp2dp8_base50_20260316.log:1589", None, 13, None, 3, "peer_lost"),
    ),
    # All forty ranks; 23:34:37 is the first time that stands behind one of them.
    "torchrun-failure/alps-1857626": (
        Fault("2026-04-14 21:34:37", "1857626.err:135", None, 2, None, 40, "exit_code"),
    ),
    "torchrun-failure/fwyc-ws8": (Fault("2025-05-13 16:37:31", "node0.log:16", runner_up="exit_code"),),
    # All eight ranks of the node.
    "torchrun-failure/lockclock-dual16-oom": (Fault(None, "node0.log:948", None, 7, None, 8),),
    "torchrun-failure/lockclock-dual32-base1": (
        Fault("2026-03-18 14:02:51", "node0.log:25", runner_up="process_killed"),
    ),
    "nanogpt/jackokeefe-output": (Fault(None, "output.log:46"),),
    "rl-trainer/verl-maze": (Fault(None, "verl_demo.log:292"),),
    "megatron-deepspeed/summit-moe-3363503": (
        Fault(None, "moe-5.2.3363503.e:291", runner_up="software_exception"),
    ),
    "megatron-deepspeed/summit-3329260": (Fault("2024-03-04 10:43:06", "gpt3-megatron.3329260.e:45"),),
    "slurm-out/deformable-detr": (Fault("2022-10-13 04:10:12", "slurm.out:1"),),
    # One file of seven jobs. Before the first two were cancelled, programs in them had failed.
    "slurm-out/openvla-oft": (
        Fault("2025-08-17 01:22:18", "slurm.out:550", runner_up="software_exception"),
        Fault("2025-08-21 01:34:23", "slurm.out:728", runner_up="exit_code"),
        Fault("2025-08-21 01:34:58", "slurm.out:2397", runner_up="exit_code"),
        Fault("2025-08-21 01:36:24", "slurm.out:2952", runner_up="exit_code"),
        Fault("2025-08-21 01:46:32", "slurm.out:3072", runner_up="exit_code"),
        Fault("2025-08-21 01:53:41", "slurm.out:3237", runner_up="exit_code"),
        Fault("2025-08-21 01:58:58", "slurm.out:3364"),
        Fault("2025-08-21 02:26:53", "slurm.out:3609"),
        Fault("2025-08-21 02:33:05", "slurm.out:3703"),
        Fault("2025-08-21 02:33:50", "slurm.out:3758"),
        Fault("2025-08-21 02:35:44", "slurm.out:3818"),
        Fault("2025-08-21 02:53:05", "slurm.out:3915"),
    ),
    "megatron/alps-1861140-timelimit": (
        # Task 0 is an agent of four ranks, and none of them: no rank tells of the limit.
        Fault("2026-04-15 09:31:51", "1861140.err:155", runner_up="process_killed"),
    ),
    "megatron/alps-2609830-timelimit": (Fault("2026-06-24 13:14:07", "2609830.err:343", ranks=1),),
    "megatron/bigscience-meg-base": (
        Fault(
            "2021-05-23 08:45:57", "meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out:1591", runner_up="process_killed"
        ),
        Fault("2021-05-24 09:50:34", "meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out:2398"),
    ),
    "megatron/bigscience-meg-perf-n16": (
        Fault("2021-05-27 21:52:36", "meg_gpt2_perf_n16-1999618.out:10733"),
    ),
    "megatron-deepspeed/bigscience-zero": (
        Fault("2021-05-27 21:42:11", "meg_ds_zero_gpt2_perf_n16-1999616.out:6117"),
    ),
    # Shutdown noise on stderr is no failure: the program's own word of its end is the evidence.
    "megatron/alps-2561509": (Fault(None, "2561509.out:910"),),
}


@pytest.mark.parametrize("run", sorted(FAULT_OF))
def test_where_and_when_it_failed_and_which_line_says_so(run: str, built: Built) -> None:
    rows = built.con.execute(
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
    assert lost.fetchone() == (44, "2026-04-15 09:31:51+00")
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


@pytest.mark.parametrize(("name", "told_s"), [("n16-1832552", 871.8), ("n4-1832555", 919.1)])
def test_the_clock_of_a_progress_bar_covers_the_training(name: str, told_s: float, built: Built) -> None:
    """The bars know whole seconds; the trainer says how long its training took to a ten thousandth."""
    run = f"hf-trainer/bigscience-hf-ds/hf_ds_gpt2_base_{name}.out"
    assert int(told_s) == seconds(built, run, "productive") + seconds(built, run, "warmup")


def test_a_start_that_failed_without_a_clock_is_put_at_the_last_time_above_it(built: Built) -> None:
    """All eight ranks run out of memory of their own GPUs below 19:21:34,356; rank 7 only stands first."""
    row = built.con.execute(
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


def test_a_watchdog_dates_the_stall_and_is_not_the_cause(built: Built) -> None:
    """The save is done at 02:45:54.9; the collectives wait 600 s, and 56 GPUs with them."""
    run = "megatron/alps-2340717-watchdog"
    row = built.con.execute(
        "select fault_ts::varchar, detected_ts::varchar, lost_steps from ledger.incidents where run_id = ?",
        [run],
    ).fetchone()
    assert row is not None
    assert (row[0][:19], row[1][:19], row[2]) == ("2026-05-22 00:45:55", "2026-05-22 00:55:56", 0)
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


def test_accounting_as_json_gives_a_row_for_each_job_and_none_for_its_steps(built: Built) -> None:
    rows = built.con.execute(
        "select a.job_id, a.state, a.elapsed_s, a.reason, a.gpus, a.end_ts is not null, a.exit_code "
        "from events.allocations as a inner join events.sources as s using (source_id) "
        "where s.path = 'slurm-sacct/clockwork/sacct_1' order by a.line"
    ).fetchall()
    assert rows == [
        ("10", "NODE_FAIL", 20615.0, "Prolog", 1, False, None),
        ("20", "REQUEUED", 86307.0, "Prolog", 1, True, None),
    ]


def test_objects_of_kubernetes_tell_what_is_in_them(built: Built) -> None:
    """One pod failed after a minute with exit code 3, one runs since 2021; neither holds an accelerator."""
    pods = built.con.execute(
        "select job_id, state, exit_code, epoch(end_ts - start_ts), gpus from staging.allocations "
        "where scheduler = 'kubernetes' order by 1"
    ).fetchall()
    assert pods == [
        ("auditlog-retention-28566720", "FAILED", 3, 63.0, 0),
        ("prometheus-k8s", "RUNNING", None, None, 0),
    ]


def test_events_of_kubernetes_are_counted_once(built: Built) -> None:
    """Seven events tell that no node had room and two that a volume was missing; nine images were pulled."""
    signals = built.con.execute(
        "select signal_id, count(distinct (source_id, line)) from events.signals "
        "where format = 'kubernetes' group by all order by 1"
    ).fetchall()
    assert signals == [("k8s_failed_mount", 2), ("k8s_failed_scheduling", 7)]
    pulls = built.con.execute(
        "select pattern, count(*) from events.phases where format = 'kubernetes' group by all order by 1"
    ).fetchall()
    assert pulls == [("image_pull_begin", 9), ("image_pull_end", 8)]


def test_the_printed_time_of_a_fork_on_deepspeed_lays_its_steps(built: Built) -> None:
    """The slow step of 68.95 s and the usual one of 18.21 s; its timer tells of one save, of 23.7 s."""
    run = "megatron-deepspeed/lockclock-qwen7b-baseline"
    row = built.con.execute(
        "select round(max(length), 2), round(median(length), 2), count(*) "
        "from (select epoch(end_ts - start_ts) as length from ledger.steps where run_id = ?)",
        [run],
    ).fetchone()
    assert row == (68.95, 18.21, 500)
    assert round(seconds(built, run, "checkpoint_stall"), 1) == 23.7


def test_a_report_in_the_output_of_a_job_is_its_accounting(built: Built) -> None:
    """LSF prints 18:50:23 and 18:51:51; ranks came up 27.309 s before 18:51:46; no error is dated."""
    row = built.con.execute(
        "select state, len(nodes), epoch(start_ts - submit_ts), epoch(end_ts - start_ts), source_id = ("
        "select source_id from events.sources where path like '%moe-5.2.3363503.o') "
        "from staging.allocations where job_id = '3363503'"
    ).fetchall()
    assert row == [("COMPLETED", 65, 3113.0, 88.0, True)]
    run = "megatron-deepspeed/summit-moe-3363503"
    lost = [round(seconds(built, run, category), 3) for category in ("provisioning", "init", "teardown")]
    assert lost == [55.691, 27.309, 5.0]


def test_who_stops_the_others_has_noticed_that_one_failed(built: Built) -> None:
    """The next dated line is of 22:17:44.326, the launcher kills from 22:17:50.684 on, until 22:18:01.278."""
    run = "megatron-deepspeed/lockclock-tp1pp2dp8-oom"
    assert round(seconds(built, run, "hang"), 3) == 6.358
    assert round(seconds(built, run, "teardown"), 3) == 10.594


def test_an_engine_without_printed_lengths_is_measured_by_its_stamps(built: Built) -> None:
    """Sixteen epochs from 01:46:52 to the last step at 03:20:25, and evaluations between them."""
    run = "deepspeed/dschat-step1"
    row = built.con.execute(
        "select min(start_ts)::varchar, max(end_ts)::varchar, max(step_last) from ledger.steps "
        "where run_id = ?",
        [run],
    ).fetchone()
    assert row is not None
    assert (row[0][:19], row[1][:19], row[2]) == ("2023-04-18 01:46:52", "2023-04-18 03:20:25", 7360)
    # Fifteen of them lie between step lines: what the span is longer than its steps.
    evaluations = built.con.execute(
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
def test_each_step_line_makes_a_row(run: str, lines: int, built: Built) -> None:
    """As many as a search for the text of a step line finds."""
    row = built.con.execute(
        "select count(*) from events.steps inner join events.sources using (source_id) where path like ?",
        [f"{run}/%"],
    ).fetchone()
    assert row == (lines,)


#: FLOPs of a token that the shape of a model comes to, worked out by hand: width, layers, heads, groups,
#: width of a head and of the feed-forward part and its matrices, vocabulary, tokens of a sample.
_SHAPES = {
    "megatron/alps-1861140-timelimit": (2048, 16, 32, 8, 64, 8192, 3, 128256, 8192),
    "megatron/alps-2340717-watchdog": (2048, 16, 32, 8, 64, 8192, 3, 128256, 8192),
    "megatron-deepspeed/lockclock-qwen7b-baseline": (3584, 28, 28, 4, 128, 18944, 3, 152064, 2048),
}


def _causal_flops(
    h: int, layers: int, a: int, g: int, d: int, f: int, matrices: int, vocabulary: int, s: int
) -> int:
    """Return model FLOPs of one token of a dense decoder that looks at half of the sequence."""
    layer = 2 * h * a * d + 2 * h * g * d + s * a * d + matrices * h * f
    return 6 * (layers * layer + h * vocabulary)


@pytest.mark.parametrize("run", sorted(_SHAPES))
def test_printed_flops_are_those_of_the_shape(run: str, built: Built) -> None:
    rows = built.con.execute(
        "select source, flops_per_token, recompute_counted, convention from ledger.flops_sources "
        "where run_id = ? and source in ('shape', 'line_ratio')",
        [run],
    ).fetchall()
    found = {source: (flops, recomputed, convention) for source, flops, recomputed, convention in rows}
    expected = _causal_flops(*_SHAPES[run])
    assert found["shape"] == (expected, False, "causal_halved")
    ratio, recomputed, _ = found["line_ratio"]
    if recomputed:
        # 4/3 for what is computed twice, and attention over the whole sequence: no model FLOPs.
        assert 4 / 3 < ratio / expected < 1.37
        source = "shape"
    else:
        # Four digits are printed of TFLOP/s, and five of the time of a step.
        assert ratio == pytest.approx(expected, rel=5e-4)
        source = "line_ratio"
    (taken,) = built.con.execute("select source from ledger.flops where run_id = ?", [run]).fetchall()
    assert taken == (source,)


#: Run, accelerators, peak in 16 bits, and FLOPs of a token: GPT-3 175B, and twice Llama 3.1 405B.
_PUBLISHED = (
    ("mlperf/v3.1-nvidia-gpt3", 768, 989.4e12, 1_061_947_441_152, 3072 * 2048, 0.794),
    (
        "mlperf/v5.0-ibm+coreweave+nvidia-llama31_405b",
        *(2048, 2500e12, 2_523_955_986_432, 1280 * 8192, 0.723),
    ),
    (
        "mlperf/v5.1-university-of-florida-llama31_405b",
        *(256, 2250e12, 2_523_955_986_432, 576 * 8192, 0.748),
    ),
)


@pytest.mark.parametrize(
    ("run", "gpus", "peak", "flops", "tokens", "mfu"), _PUBLISHED, ids=[row[0] for row in _PUBLISHED]
)
def test_mfu_of_published_runs(
    run: str, gpus: int, peak: float, flops: int, tokens: int, mfu: float, built: Built
) -> None:
    """The median of the step times that the file prints gives the MFU; no line of it tells MFU or FLOPs."""
    (row,) = built.con.execute(
        "select f.flops_per_token, m.tokens_per_step, r.clean_step_s, sum(w.steady_flops), f.source "
        "from ledger.runs as r inner join ledger.flops as f using (run_id) "
        "inner join ledger.model_shapes as m using (run_id) left join marts.model_work as w using (run_id) "
        "where run_id = ? group by all",
        [run],
    ).fetchall()
    assert (row[0], row[1], row[4]) == (flops, tokens, "shape")
    text = next((REAL / run).iterdir()).read_text(encoding="utf-8", errors="replace")
    printed = [float(value) for value in re.findall(r'"train_step_tim(?:e|ing)":\s*([\d.]+)', text)]
    assert flops * tokens / median(printed) / gpus / peak == pytest.approx(mfu, abs=0.0005)
    assert row[0] * row[1] / row[2] / gpus / peak == pytest.approx(mfu, rel=0.01)
    assert row[3] > 0
