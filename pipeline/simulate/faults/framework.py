"""Faults of libraries, launcher and processes, and of services that they rely on."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.faults.kinds import GONE, STOPPED, Fault, Line, found_by_watchdog, texts
from pipeline.simulate.faults.launcher import dies, raises, worker_failed

FAULTS = (
    found_by_watchdog("collective_hang", "collective_timeout", host_fails=False),
    raises(
        "no_module", "environment_error", "ModuleNotFoundError: No module named 'heron_kernels'", when="start"
    ),
    replace(
        raises(
            "rendezvous",
            "launcher_error",
            "torch.distributed.DistStoreError: Timed out after 301 seconds waiting"
            " for clients. 62/64 clients joined.",
            when="start",
        ),
        notice="watchdog",
        waits_s=301.0,
    ),
    raises(
        "torn_checkpoint",
        "checkpoint_error",
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        when="start",
    ),
    raises(
        "save_failed",
        "checkpoint_error",
        "torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([{rank}])",
    ),
    raises(
        "hub_down",
        "external_service",
        "huggingface_hub.errors.HfHubHTTPError: 504 Server Error: Gateway"
        " Time-out for url: https://hub.example/api/models/heron",
    ),
    dies(
        "killed",
        "process_killed",
        Line("scheduler", "srun: error: {host}: task {rank}: Killed", "detected"),
        exit_code="0:9",
    ),
    Fault(
        "aborted",
        "process_aborted",
        "unplanned",
        "error",
        (
            *texts("rank", "detected", 0.0, "terminate called after throwing an instance of 'c10::Error'"),
            *worker_failed("-6"),
            *STOPPED,
        ),
        (0.1, 0.6),
        exit_code="0:6",
    ),
    dies(
        "exits",
        "exit_code",
        Line("scheduler", "srun: error: {host}: task {rank}: Exited with exit code 3", "detected"),
        exit_code="3:0",
    ),
    dies(
        "peer_gone",
        "peer_lost",
        Line(
            "ranks",
            "{nccl} [0] misc/socket.cc:60 NCCL WARN socketProgress: Connection closed by remote peer"
            " {host}<55231>",
            "detected",
        ),
    ),
    # The monitor of a rank that no longer answers its launcher.
    Fault(
        "no_heartbeat",
        "framework_hang",
        "unplanned",
        "watchdog",
        (
            Line(
                "rank",
                "[{comma}] [WARNING] [RankMonitorServer-{gpu}] [Cycle 0] Did not get subsequent"
                " heartbeat. Waited"
                " {waited} seconds.",
                "detected",
            ),
            *STOPPED,
        ),
        waits_s=180.0,
        when="loop",
    ),
    Fault(
        "monitor_stuck",
        "framework_hang",
        "unplanned",
        "watchdog",
        (
            Line(
                "rank",
                "[rank{rank}]:[F{glog} ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg)"
                " Rank {rank}] [PG ID"
                " 0 PG GUID 0(default_pg) Rank {rank}] ProcessGroupNCCL's watchdog got stuck for"
                " {whole} seconds"
                " without making progress in monitoring enqueued collectives.",
                "detected",
            ),
            *STOPPED,
        ),
        waits_s=480.0,
    ),
    Fault(
        "put_back",
        "requeue",
        "unplanned",
        "planned",
        (
            Line(
                "scheduler",
                "slurmstepd: error: *** JOB {job} ON {first} CANCELLED AT {clock} DUE TO JOB REQUEUE ***",
            ),
            GONE,
        ),
        teardown_s=(5.0, 40.0),
        state="REQUEUED",
        exit_code="0:15",
    ),
)
