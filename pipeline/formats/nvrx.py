"""NVIDIA's resiliency extension: launcher, rank monitor, cycles, restarts inside a process, checkpoints.

Its lines stand between those of the trainer that it watches, or in files of its own.
None of them is of a trainer.
"""

from __future__ import annotations

from pipeline.formats._nvrx_process import CHECKPOINTS, INSIDE
from pipeline.formats.format import Format, Head, Pattern, Value, known_line

# Three generations of headers, of which the last two stand in one file.
#   [2025-05-11 18:30:12,551] [WARNING] [RankMonitorServer91822@gx017:43]                  from 0.3 on
#   [2025-05-11 18:30:12,551] [INFO] [ft_launcher91822@gx017]                              0.3 and 0.4
#   2026-07-02 09:12:31,440 [INFO] [gx017] [workload:None(None) infra:37(0)] profiling.py:93     from 0.5 on
_RANK = r"(?:None|\d+)\((?:None|\d+)\)"
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"
_HEADER = (
    rf"(?:\[{_TIME}\] \[[A-Z]+\] \[[\w.]+?\d*@?[\w.-]*(?::(?:(?P<monitored>\d+)|<none>))?\]"
    rf"|{_TIME} \[[A-Z]+\] \[(?P<node>[\w.-]+)\] "
    rf"\[workload:(?:None|(?P<rank>\d+))\((?:None|\d+)\) infra:{_RANK}\] \w+\.py:\d+) +"
)
_ROLE = r"(?:\[[\w-]+\] )?"
_CYCLE = r"(?:\[Cycle \d+\] )?"
_OLD, _NEW, _ALL = "0.3 to 0.4", "0.5 to 0.6", "0.3 to 0.6"
_HOST = Value(group="node")


def _point(
    name: str,
    literals: tuple[str, ...],
    message: str,
    phase: str = "exit",
    versions: str = _ALL,
    note: str = "",
) -> Pattern:
    """Return the pattern of a moment; the group ``what`` of its message is the detail."""
    return Pattern(
        name=name,
        table="phases",
        versions=versions,
        literals=literals,
        regex=_HEADER + message,
        columns={
            "host": _HOST,
            "rank": Value(group=("rank", "monitored"), kind="int"),
            "phase": Value(const=phase),
            "edge": Value(const="point"),
            "detail": Value(group="what"),
        },
        note=note,
    )


def _event(name: str, event: str, phase: str, note: str = "") -> Pattern:
    """Return the pattern of one event of a cycle, stamped in UTC inside the line."""
    return Pattern(
        name=name,
        table="phases",
        versions=_NEW,
        literals=(" Event: ",),
        regex=rf"- Cycle: \d+ Event: (?P<what>{event}) Node: (?P<node>[\w.-]+?)_\d+_\d+ Rank: (?P<rank>\d+) "
        r"Time: (?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ UTC)",
        columns={
            "ts": Value(group="ts", kind="stamp", stamp="iso"),
            "host": _HOST,
            "rank": Value(group="rank", kind="int"),
            "phase": Value(const=phase),
            "edge": Value(const="point"),
            "detail": Value(group="what"),
        },
        note=note,
    )


CYCLES = (
    _event("failure_detected", "failure_detected", "exit", "It already bears the number of the next cycle."),
    _event("workers_start", "worker_start_started", "process_start"),
    _event(
        "cycle_event",
        r"worker_terminated|rendezvous_\w+|health_check_\w+|worker_start_completed|attribution_\w+",
        "custom",
    ),
    _point(
        "progress",
        ("made progress: ", "made NO progress: "),
        r"(?P<what>Training cycle #\d+ made (?:NO )?progress: \d+ \S+ \d+)",
        "custom",
        "0.6",
        "Steps of checkpoints: what the cycle left behind.",
    ),
)

ENDS = (
    _point(
        "group_restart",
        ("will restart worker group", "restart attempts left"),
        rf"{_ROLE}(?P<what>Worker group \w+\. \d+/\d+ attempts left; will restart worker group"
        r"|Detected \d+ new nodes from group_rank=\d+; will restart worker group"
        r"|\d+/\d+ restart attempts left[;.] ?(?:restarting worker group|Exiting))",
    ),
    _point(
        "no_more_restarts",
        ("No more restarts will be attempted", "EARLY TERMINATION: ", "terminating workers"),
        rf"{_ROLE}(?P<what>Progress tracker detected no progress across restarts"
        rf"|EARLY TERMINATION: \d+ consecutive"
        r"|Attribution recommended stopping the job|Another launcher reported a no-restart decision)",
        versions="0.6",
    ),
    _point(
        "told_to_stop",
        ("death signal, shutting down workers",),
        r"(?P<what>Received \S+ death signal, shutting down workers)",
    ),
    _point(
        "launcher_exit",
        ("Agent exits with exit code", "Agent's exit code = ", "Agent .run() raised "),
        r"(?P<what>Agent exits with exit code = \d+|Some rank\(s\) exited with non-zero exit code"
        r"|Agent \.run\(\) raised \w+)",
    ),
    _point(
        "hang",
        (" Waited ", " Timeout is "),
        rf"{_CYCLE}(?P<what>Did not get (?:initial|subsequent) heartbeat\. Waited [\d.]+ seconds"
        r"|Section '[^']*' has been open for [\d.]+ seconds|Was out of section for [\d.]+ seconds)",
        note="The stall began so many seconds before the line.",
    ),
    _point(
        "stragglers",
        ("Detected stragglers. Terminating training",),
        r"(?P<what>Detected stragglers\. Terminating training)",
    ),
)

OTHERS = (
    known_line(
        "launcher",
        ("[ft_launcher", "[workload:", ".Restarter] "),
        _HEADER + rf"{_ROLE}(?:starting workers for entrypoint|Joining cluster restart|Stopping workers\.\.\."
        r"|Found \d+ remaining processes|Timeout waiting for GPU memory|worker group successfully finished"
        r"|Agent \.run\(\) is OK\.|\[Step \d+\] Round \d+ closed|Standby \(rank=|Rank assignment \(seg_size="
        r"|Step section iteration rolled back|Rank monitor could not send)"
        r"|Restarter\] ",
        versions=_ALL,
    ),
    known_line(
        "health",
        ("Requires a reset to recover", "Requires a node reboot to recover"),
        r"GPU \d+: Requires a (?:reset|node reboot) to recover",
        versions="0.4 to 0.6",
    ),
    known_line(
        "straggler_report",
        (
            "STRAGGLER DETECTION WARNING: ",
            " performance:",
            "Worst performing ",
            " Score=",
            "Straggler report processing time: ",
        ),
        r"STRAGGLER DETECTION WARNING: |^\s*GPU (?:relative|individual) performance:"
        r"|^\s*Worst performing \d+/\d+ ranks:"
        r"|^\s*Rank=\d+ Node=\S+ Score=|Straggler report processing time: ",
        versions=_ALL,
    ),
)

FORMAT = Format(
    name="nvrx",
    title="NVIDIA resiliency extension (ft_launcher, restarts inside a process)",
    link="https://github.com/NVIDIA/nvidia-resiliency-ext",
    role="any",
    primary=False,
    unrendered="The stories that start again inside an allocation do so with torchrun.",
    patterns=(*CYCLES, *ENDS, *INSIDE, *CHECKPOINTS, *OTHERS),
    heads=(
        Head(
            r"\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] \[[A-Z]+\] "
            r"\[(?:RankMonitorServer|ft_launcher)",
            "cut",
        ),
    ),
    versions="0.3 to 0.6",
)
