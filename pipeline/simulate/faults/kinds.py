"""What a kind of end is: what broke, who notices, and what is printed where and when.

The texts are what the programs print; `docs` of the catalogue of signals name their sources. In a text
``{host}``, ``{rank}``, ``{pci}``, ``{gpu}``, ``{job}``, ``{ms}`` and the like stand for facts of the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Where a line appears: the kernel log of the host at fault, or those of other hosts of the allocation; what
#: the rank at fault or the ranks of other hosts print; what the launcher prints on the host at fault, or on
#: every host; what the scheduler prints into the job's output; the log of its daemon on the host at fault.
Place = Literal["kernel", "kernels", "rank", "ranks", "launcher", "launchers", "scheduler", "daemon"]

#: Which moment a line follows. ``told`` is when a trainer that may still save was told to stop.
Moment = Literal["told", "stop", "detected", "left"]

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
        waits_s: how long the watchdog of this kind waits; 0 for the limit of collectives.
        grace: True where the trainer finishes its step, saves, and leaves by itself.
        farewell: what a trainer that has grace says when it leaves.
        when: where in the life of an attempt it comes.
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
    waits_s: float = 0.0
    grace: bool = False
    farewell: str = ""
    when: Literal["any", "start", "loop"] = "any"

    @property
    def is_shared(self) -> bool:
        """Whether several hosts wait for a thing of which none of them is the place."""
        return self.cause == "storage_unavailable" and any(line.place == "kernels" for line in self.lines)


def texts(place: Place, moment: Moment, after_s: float, *said: str) -> tuple[Line, ...]:
    """Return lines that are printed one after the other at one place, a millisecond apart."""
    return tuple(Line(place, text, moment, after_s + at / 1000) for at, text in enumerate(said))


#: The scheduler takes the rest of a step down, and tells of the tasks when they have gone.
GONE = Line("scheduler", "srun: error: {others}: Terminated", "left", 0.6)
STOPPED = (
    Line(
        "scheduler",
        "slurmstepd: error: *** STEP {job}.{launch} ON {first} CANCELLED AT {clock} DUE TO TASK FAILURE ***",
        "left",
    ),
    GONE,
)

_WORK = (
    " timeout: WorkNCCL(SeqNum={seq}, OpType=_ALLGATHER_BASE, NumelIn=67108864, NumelOut=67108864,"
    " Timeout(ms)={ms})"
    " ran for {ran} milliseconds before timing out."
)
_GROUP = "[PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
_NCCL = "[rank{rank}]:[E{glog} ProcessGroupNCCL.cpp:"
_ENDED = _NCCL + "2057] " + _GROUP + "Process group watchdog thread terminated with exception: "

#: Collectives that wait for a rank that is silent: the ranks on other hosts tell of it when their limit is
#: over, tell each other, and abort a minute later.
HANG = (
    Line("ranks", _NCCL + "684] [Rank {rank}] Watchdog caught collective operation" + _WORK, "detected"),
    Line(
        "ranks",
        _NCCL + "2215] " + _GROUP + " failure detected by watchdog at work sequence id: {seq} PG status:"
        " last enqueued work: {seq}, last completed work: {done}",
        "detected",
        0.4,
    ),
    Line(
        "ranks",
        _NCCL + "1753] " + _GROUP + "Received a dump signal due to a collective timeout from  rank {rank}"
        " and we will try our best to dump the debug info. Last enqueued NCCL work: {seq},"
        " last completed NCCL work: {done}.",
        "detected",
        1.2,
    ),
    Line("ranks", _ENDED + "[Rank {rank}] Watchdog caught collective operation" + _WORK, "detected", 12.0),
    Line("scheduler", "srun: error: {host}: task {rank}: Aborted (core dumped)", "left", -0.5),
    *STOPPED,
)


def cuda(text: str) -> str:
    """Return what the watchdog of a rank prints of an error of CUDA."""
    return _ENDED + f"CUDA error: {text}"


def xid(code: int, text: str, gpu: str = "{pci}") -> str:
    """Return what the driver prints of an Xid."""
    who = f"pid={{pid}}, name=python3, {text}" if text else "pid={pid}, name=python3"
    return f"NVRM: Xid (PCI:{gpu}): {code}, {who}"


def found_by_watchdog(name: str, cause: str, *lines: Line, host_fails: bool = True) -> Fault:
    """Return an end that nobody notices before the collectives time out."""
    return Fault(
        name, cause, "unplanned", "watchdog", (*lines, *HANG), host_fails=host_fails, exit_code="6:0"
    )


def found_at_once(name: str, cause: str, *lines: Line, host_fails: bool = True) -> Fault:
    """Return an end whose first line is its detection, or is followed by it within seconds."""
    return Fault(name, cause, "unplanned", "error", (*lines, *STOPPED), (0.5, 12.0), host_fails=host_fails)


#: Consequences on other GPUs and hosts: their processes are taken down, which is no fault of theirs.
OTHERS_REMOVED = (
    Line("kernel", xid(45, "Ch 00000008", "{peer_pci}"), "left", -0.4),
    Line("kernels", xid(45, "Ch 00000008"), "left", -0.3),
)
