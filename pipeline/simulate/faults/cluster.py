"""Faults of hosts and of the network between them."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.faults.kinds import (
    GONE,
    OTHERS_REMOVED,
    STOPPED,
    Fault,
    Line,
    found_at_once,
    found_by_watchdog,
    texts,
)
from pipeline.simulate.faults.launcher import raised

_PORT = Line("kernel", "mlx5_core 0000:d2:00.0 ib3: Link down")
_RETRIES = (
    "{nccl} [{gpu}] transport/net_ib/p2p.cc:578 (ncclIbLogCompletionWithError) NCCL WARN NET/IB: Got"
    " completion"
    " from peer 10.22.94.59<39936> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129"
    "  localGid  hca mlx5_3"
)
_GONE = (
    "[rank{rank}]:[E{glog} ProcessGroupNCCL.cpp:2057] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
    " Process group"
    " watchdog thread terminated with exception: NCCL error: remote process exited or there was a network"
    " error, NCCL version 2.28.9"
)
_CLOSED = (
    "{nccl} [0] misc/socket.cc:60 NCCL WARN socketProgress: Connection closed by remote peer {host}<55231>"
)
_LOST = (
    "slurmstepd: error: *** {taken} ON {first} CANCELLED AT {clock} DUE TO NODE FAILURE, SEE"
    " SLURMCTLD LOG FOR"
    " DETAILS ***"
)


def _node_lost(name: str, cause: str, *lines: Line, mute: bool = True) -> Fault:
    """Return the end of a host that stopped answering: the scheduler gives it five minutes."""
    said = (
        Line("scheduler", "srun: error: Node failure on {host}", "detected"),
        Line("scheduler", _LOST, "detected", 0.3),
        Line("scheduler", "srun: error: {others}: Killed", "left"),
    )
    return Fault(
        name,
        cause,
        "unplanned",
        "scheduler",
        (*lines, *said),
        (300.0, 420.0),
        (10.0, 60.0),
        "NODE_FAIL",
        "0:0",
        host_fails=True,
        when="loop" if mute else "any",
    )


FAULTS = (
    _node_lost("node_lost", "node_failure"),
    _node_lost(
        "kernel_panic",
        "node_os",
        *texts(
            "kernel",
            "stop",
            0.0,
            "BUG: unable to handle kernel NULL pointer dereference at 0000000000000030",
            "Kernel panic - not syncing: Fatal exception in interrupt",
        ),
        mute=False,
    ),
    _node_lost(
        "machine_check",
        "host_hardware",
        *texts(
            "kernel",
            "stop",
            0.0,
            "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x1f8a"
            " offset:0x0)",
            "{{1}}[Hardware Error]: event severity: fatal",
            "mce: [Hardware Error]: CPU 12: Machine Check: 0 Bank 7: be00000000800400",
            "Kernel panic - not syncing: Fatal hardware error!",
        ),
        mute=False,
    ),
    _node_lost(
        "processor_check",
        "host_hardware",
        *texts(
            "kernel",
            "stop",
            0.0,
            "mce: [Hardware Error]: CPU 44: Machine Check: 0 Bank 0: fe00000000800400",
            "Kernel panic - not syncing: Fatal machine check",
        ),
        mute=False,
    ),
    # The firmware tells of an error and of no part.
    _node_lost(
        "board_fault",
        "host_hardware",
        *texts(
            "kernel",
            "stop",
            0.0,
            "{{2}}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4",
            "{{2}}[Hardware Error]: event severity: fatal",
            "Kernel panic - not syncing: Fatal hardware error!",
        ),
        mute=False,
    ),
    found_by_watchdog(
        "hard_lockup",
        "node_os",
        Line("kernel", "NMI watchdog: Watchdog detected hard LOCKUP on cpu 5"),
        Line("kernel", "watchdog: BUG: soft lockup - CPU#18 stuck for 31s! [python3:{pid}]", after_s=31.0),
    ),
    Fault(
        "oom_killer",
        "host_out_of_memory",
        "unplanned",
        "error",
        (
            *texts(
                "kernel",
                "stop",
                0.0,
                "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
                "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,"
                "oom_memcg=/slurm/uid_5001/job_{job},task_memcg=/slurm/uid_5001/job_{job}/step_{launch},task=python3"
                ","
                "pid={pid},uid=5001",
                "Memory cgroup out of memory: Killed process {pid} (python3) total-vm:92874431kB,"
                " anon-rss:82342504kB, file-rss:0kB, shmem-rss:0kB",
            ),
            replace(STOPPED[0], moment="detected"),
            Line("scheduler", "srun: error: {host}: task {rank}: Out Of Memory", "detected", 0.1),
            Line(
                "scheduler",
                "slurmstepd: error: Detected 1 oom_kill event in StepId={job}.{launch}. Some of the step"
                " tasks have been"
                " OOM Killed.",
                "left",
                -0.2,
            ),
            GONE,
        ),
        (0.3, 1.5),
        state="OUT_OF_MEMORY",
        exit_code="0:125",
    ),
    # Both ends of a link that goes down: the adapter tells the library at once, retries take half a minute.
    replace(
        found_at_once(
            "port_down",
            "network_link",
            _PORT,
            Line(
                "rank",
                "{nccl} [{gpu}] transport/net_ib/common.cc:184 NCCL WARN NET/IB : mlx5_3:1 async fatal"
                " event: port error",
                "detected",
            ),
            Line("rank", _RETRIES, "detected", 31.0),
            Line("rank", _GONE, "detected", 32.0),
            Line("ranks", _CLOSED, "detected", 40.0),
            *OTHERS_REMOVED,
        ),
        delay_s=(0.1, 1.0),
        teardown_s=(60.0, 180.0),
    ),
    # Where the library is silent, its retries run out first.
    replace(
        found_at_once(
            "port_down_unseen", "network_link", _PORT, Line("rank", _GONE, "detected"), *OTHERS_REMOVED
        ),
        delay_s=(31.0, 180.0),
    ),
    found_by_watchdog(
        "port_down_hang",
        "network_link",
        Line(
            "kernel",
            "mlx5_core 0000:d2:00.0: mlx5_port_module_event:1131:(pid 0): Port module event[error]:"
            " module 0, Cable error, High Temperature",
        ),
        Line("kernel", "mlx5_core 0000:d2:00.0 ib3: Link down", after_s=0.4),
    ),
    replace(
        found_at_once(
            "adapter_dead",
            "nic_error",
            Line(
                "kernel",
                "mlx5_core 0000:40:00.0: poll_health:739:(pid 0): device's health compromised - reached"
                " miss count",
            ),
            Line("rank", _RETRIES, "detected"),
            Line("rank", _GONE, "detected", 1.0),
        ),
        delay_s=(31.0, 60.0),
    ),
    replace(
        found_at_once(
            "peer_unreachable",
            "network_other",
            Line(
                "rank",
                "{nccl} [{gpu}] misc/socket.cc:581 NCCL WARN socketPollConnect: connect to"
                " 10.22.94.59<41001> failed: Connection timed out",
                "detected",
            ),
            *raised(
                "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
                "ProcessGroupNCCL.cpp:3384, unhandled system error (run with NCCL_DEBUG=INFO for"
                " details), NCCL"
                " version 2.28.9"
            ),
            host_fails=False,
        ),
        delay_s=(0.0, 0.0),
    ),
    # The daemon of a host refuses the step, and knows it: the processes on the others wait for its ranks.
    Fault(
        "prolog_failed",
        "scheduler_error",
        "unplanned",
        "error",
        (
            Line("daemon", "error: [job {job}] prolog failed status=1:0"),
            Line(
                "scheduler",
                "srun: error: Task launch for StepId={job}.0 failed on node {host}: Job prolog failed",
                "detected",
            ),
            Line("scheduler", "srun: error: Application launch failed: Job prolog failed", "detected", 0.01),
            Line(
                "scheduler",
                "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
                "detected",
                0.02,
            ),
        ),
        (0.0, 0.0),
        (5.0, 60.0),
        "REQUEUED",
        "0:0",
        host_fails=True,
        when="start",
    ),
    found_at_once(
        "neuron_core_dead",
        "accelerator_other",
        Line("kernel", "neuron: nd{gpu}: NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0abc"),
        *raised("RuntimeError: nrt_execute failed with status NRT_EXEC_HW_ERR_NC_UE"),
    ),
    found_at_once(
        "disk_lost",
        "local_disk",
        *texts(
            "kernel",
            "stop",
            0.0,
            "nvme nvme4: I/O tag 22 (2016) opcode 0x2 (I/O Cmd) QID 4 timeout, reset controller",
            "nvme nvme4: Disabling device after reset failure: -19",
            "Buffer I/O error on dev nvme4n1, logical block 1657154782, lost async page write",
            "EXT4-fs (nvme4n1p1): Remounting filesystem read-only",
        ),
        *raised("OSError: [Errno 30] Read-only file system: '/scratch/heron/cache'"),
    ),
)
