"""Ends that somebody meant, and the absence of an end."""

from __future__ import annotations

from pipeline.simulate.faults.kinds import Fault, Line

_JOB = "slurmstepd: error: *** JOB {job} ON {first} CANCELLED AT {clock}"
_STEP = "slurmstepd: error: *** STEP {job}.{launch} ON {first} CANCELLED AT {clock}"
#: What follows when the scheduler ends a job: launchers pass the signal on, processes die of it.
_CASCADE = (
    Line(
        "scheduler", "srun: Job step aborted: Waiting up to 62 seconds for job step to finish.", "stop", 0.1
    ),
    Line(
        "launchers",
        "[rank{rank}]:[W{glog} TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=84,"
        " addr=[{host}]:41220, remote=[{first}]:29500): failed to recv, got 0 bytes",
        "stop",
        0.6,
    ),
    Line("kernel", "NVRM: Xid (PCI:{pci}): 45, pid={pid}, name=python3, Ch 00000008", "stop", 1.1),
    Line("scheduler", "srun: error: {others}: Terminated", "left"),
)


def _stop(name: str, cause: str, kind: str, reason: str, state: str, *more: Line) -> Fault:
    """Return an end by the scheduler."""
    tail = reason and f" DUE TO {reason}"
    lines = (
        Line("scheduler", f"{_JOB}{tail} ***"),
        Line("scheduler", f"{_STEP}{tail} ***", "stop", 0.02),
        *_CASCADE,
        *more,
    )
    return Fault(name, cause, kind, "planned", lines, (0, 0), (5.0, 40.0), state, "0:15")


def _leaves(name: str, cause: str, kind: str, farewell: str, state: str, *lines: Line) -> Fault:
    """Return an end before which the trainer still finishes its step and saves."""
    return Fault(
        name,
        cause,
        kind,
        "planned",
        lines,
        teardown_s=(5.0, 30.0),
        state=state,
        exit_code="0:0",
        grace=True,
        farewell=farewell,
        when="loop",
    )


FAULTS = (
    Fault("completed", "completed", "completed", "none", (), (0, 0), (5.0, 60.0), "COMPLETED", "0:0"),
    Fault("in_progress", "in_progress", "ongoing", "none", (), (0, 0), (0, 0), "RUNNING", "0:0"),
    _stop("time_limit", "time_limit", "planned", "TIME LIMIT", "TIMEOUT"),
    _stop("operator_stop", "operator_stop", "planned", "", "CANCELLED by 5001"),
    _stop("preempted", "preemption", "preemption", "PREEMPTION", "PREEMPTED"),
    _stop(
        "stopped_with_late_xid",
        "operator_stop",
        "planned",
        "",
        "CANCELLED by 5001",
        # A kernel that is killed in the middle of an access faults: the kill did it.
        Line(
            "kernel",
            "NVRM: Xid (PCI:{pci}): 31, pid={pid}, name=python3, Ch 00000008, intr 00000000. MMU"
            " Fault: ENGINE"
            " GRAPHICS GPC4 GPCCLIENT_T1_6 faulted @ 0x7e9f_4f200000. Fault is of type FAULT_PDE"
            " ACCESS_TYPE_VIRT_READ",
            "stop",
            0.7,
        ),
    ),
    _leaves(
        "preempted_with_grace",
        "preemption",
        "preemption",
        "exiting program after receiving SIGTERM.",
        "PREEMPTED",
        Line("scheduler", f"{_JOB} DUE TO PREEMPTION ***", "told"),
    ),
    _leaves(
        "stopped_with_grace",
        "operator_stop",
        "planned",
        "exiting program after receiving SIGTERM.",
        "CANCELLED by 5001",
        Line("scheduler", f"{_JOB} DUE to SIGNAL Terminated ***", "told"),
    ),
    _leaves("own_time_limit", "time_limit", "planned", "exiting program after 230.1 minutes", "COMPLETED"),
    # Nothing tells of the hang but silence: a person looks at it after a long time, and stops the job.
    Fault(
        "silent_hang",
        "operator_stop",
        "planned",
        "person",
        (
            Line("scheduler", f"{_JOB} ***", "detected"),
            Line("scheduler", f"{_STEP} ***", "detected", 0.02),
            Line("scheduler", "srun: error: {others}: Terminated", "left"),
        ),
        (1800.0, 14_400.0),
        (5.0, 40.0),
        "CANCELLED by 5001",
        "0:15",
        when="loop",
    ),
)
