"""Kinds of ends of an attempt: what broke, who notices, and what is printed where and when.

The texts are what the programs print; `docs` of the catalogue of signals name their sources. In a text
``{host}``, ``{rank}``, ``{pci}``, ``{gpu}``, ``{job}``, ``{ms}`` and the like stand for facts of the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Where a line appears: the kernel log of the host at fault, what the rank at fault or the other ranks print,
#: what the scheduler prints into the job's output, what the launcher prints on the host at fault.
Place = Literal["kernel", "rank", "ranks", "scheduler", "launcher"]

#: Which moment a line follows.
Moment = Literal["stop", "detected", "left"]

#: Who notices: the program at once; a watchdog that says how long it had waited; the scheduler; a person;
#: nobody, because it was meant; or a traceback without any time.
Notice = Literal["error", "watchdog", "scheduler", "person", "planned", "undated", "none"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that an end leaves behind, ``after_s`` seconds after a moment."""

    place: Place
    text: str
    moment: Moment = "stop"
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of end.

    Attributes:
        cause, kind: what a ledger that knew everything would call it.
        notice: who notices.
        delay_s: shortest and longest time from the fault until it is noticed.
        teardown_s: shortest and longest time from then until the processes have gone.
        state, exit_code: what the scheduler writes down.
        host_fails: True where the host must be replaced.
        grace: True where the trainer can still save.
    """

    name: str
    cause: str
    kind: str
    notice: Notice
    lines: tuple[Line, ...]
    delay_s: tuple[float, float] = (0.0, 0.0)
    teardown_s: tuple[float, float] = (20.0, 120.0)
    state: str = "FAILED"
    exit_code: str = "1:0"
    host_fails: bool = False
    grace: bool = False


_WORK = (
    " timeout: WorkNCCL(SeqNum={seq}, OpType=_ALLGATHER_BASE, NumelIn=67108864, NumelOut=67108864,"
    " Timeout(ms)={ms})"
    " ran for {ran} milliseconds before timing out."
)
_WATCHDOG = (
    "[rank{rank}]:[E{glog} ProcessGroupNCCL.cpp:684] [Rank {rank}] Watchdog caught collective operation"
    + _WORK
)
_TERMINATED = (
    "[rank{rank}]:[E{glog} ProcessGroupNCCL.cpp:2057] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process"
    " group watchdog thread terminated with exception: [Rank {rank}] Watchdog caught collective operation"
    + _WORK
)
_HANG = (Line("ranks", _WATCHDOG, "detected"), Line("ranks", _TERMINATED, "detected", 12.0))
_STOPPED = Line(
    "scheduler",
    "slurmstepd: error: *** STEP {job}.0 ON {first} CANCELLED AT {clock} DUE TO TASK FAILURE ***",
    "left",
)
_XID = "NVRM: Xid (PCI:{pci}): "


def _found_by_watchdog(name: str, cause: str, *lines: Line, host_fails: bool = True) -> Fault:
    """Return an end that nobody notices before the collectives time out."""
    tail = (*_HANG, _STOPPED)
    return Fault(
        name, cause, "unplanned", "watchdog", (*lines, *tail), host_fails=host_fails, exit_code="6:0"
    )


def _found_at_once(name: str, cause: str, *lines: Line, host_fails: bool = True) -> Fault:
    """Return an end whose first line is its detection, or is followed by it within seconds."""
    return Fault(name, cause, "unplanned", "error", (*lines, _STOPPED), (0.5, 12.0), host_fails=host_fails)


_CUDA = (
    "[rank{rank}]:[E{glog} ProcessGroupNCCL.cpp:2057] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process"
    " group watchdog thread terminated with exception: CUDA error: {text}"
)

FAULTS: tuple[Fault, ...] = (
    Fault("completed", "completed", "completed", "none", (), (0, 0), (5.0, 60.0), "COMPLETED", "0:0"),
    Fault("in_progress", "in_progress", "ongoing", "none", (), (0, 0), (0, 0), "RUNNING", "0:0"),
    _found_by_watchdog(
        "gpu_off_bus_hang",
        "gpu_fell_off_bus",
        Line("kernel", _XID + "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        Line("kernel", "NVRM: GPU {pci}.0: GPU has fallen off the bus.", after_s=0.1),
    ),
    _found_at_once(
        "double_bit_ecc",
        "gpu_memory_error",
        Line("kernel", _XID + "48, pid={pid}, name=python3, DBE (double bit error) has occurred."),
        Line(
            "kernel",
            _XID + "63, pid={pid}, name=python3, Row remapper: new row marked for remapping",
            after_s=0.02,
        ),
        Line("rank", _CUDA.replace("{text}", "uncorrectable ECC error encountered"), "detected"),
    ),
    _found_by_watchdog("collective_hang", "collective_timeout", host_fails=False),
    Fault(
        "time_limit",
        "time_limit",
        "planned",
        "planned",
        (
            Line(
                "scheduler",
                "slurmstepd: error: *** JOB {job} ON {first} CANCELLED AT {clock} DUE TO TIME LIMIT ***",
            ),
        ),
        teardown_s=(5.0, 40.0),
        state="TIMEOUT",
        exit_code="0:15",
    ),
    Fault(
        "operator_stop",
        "operator_stop",
        "planned",
        "planned",
        (Line("scheduler", "slurmstepd: error: *** JOB {job} ON {first} CANCELLED AT {clock} ***"),),
        teardown_s=(5.0, 40.0),
        state="CANCELLED by 5001",
        exit_code="0:15",
    ),
    Fault(
        "preempted",
        "preemption",
        "preemption",
        "planned",
        (
            Line(
                "scheduler",
                "slurmstepd: error: *** JOB {job} ON {first} CANCELLED AT {clock} DUE TO PREEMPTION ***",
            ),
        ),
        teardown_s=(5.0, 40.0),
        state="PREEMPTED",
        exit_code="0:15",
    ),
)

BY_NAME = {fault.name: fault for fault in FAULTS}
