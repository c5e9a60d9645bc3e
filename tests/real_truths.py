"""What the descriptions of the real public logs say of them, and the store that is held to it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.windows import WindowOptions
from tests.once import built_once

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"

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
    # LSF says that it is done: the script hid the end of every rank. Fifty of them passed CUDA an argument
    # that it does not take: so many GPUs on so many hosts do not fail at once.
    "megatron-deepspeed/summit-moe-3363503": (Truth(cause="software_exception"),),
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
    "megatron-deepspeed/summit-moe-3363503": (Fault(None, "moe-5.2.3363503.e:294", runner_up="gpu_other"),),
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


def real_store(factory: pytest.TempPathFactory) -> Path:
    """Return the store of all real logs, each folder a run."""
    return built_once(factory, "real", build_real)


def build_real(store: Path) -> None:
    """Build the store of all real logs; every file can be read."""
    store.mkdir()
    settings = store / "runs.toml"
    settings.write_text("\n".join(f'[runs."{name}"]\nlogs = ["{name}/**", "{name}"]\n' for name in TRUTHS))
    config = load_config([str(REAL)], settings)
    assert ingest([str(REAL)], store, config, workers=1).unreadable == ()
    classify(store, config, WindowOptions())
