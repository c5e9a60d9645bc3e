"""Nodes as Slurm's controller knows them at one moment: ``scontrol show node``, with and without ``-o``.

What holds a node back has a time, that of its reason; how long it lasted such a file cannot tell. Partitions,
which the same command shows, are known and carry nothing.
"""

from __future__ import annotations

from pipeline.formats._slurm_node_states import STATE_VALUE, state_cuts
from pipeline.formats.format import Derived, Format, Pattern, Value

# A state is a base and flags: IDLE+DRAIN, MIXED+CLOUD, DOWN*+DRAIN, ALLOCATED+MAINTENANCE+RESERVED.
_HELD_BACK = r"DOWN|DRAIN|FAIL|INVAL|NOT_RESPONDING|MAINT|POWERED_DOWN|POWERING_DOWN|REBOOT"

_FINE = r"(?:IDLE|ALLOCATED|MIXED|COMPLETING|PLANNED|RESERVED|UNKNOWN)"
_FLAGS = r"(?:CLOUD|COMPLETING|PLANNED|RESERVED|DYNAMIC_NORM|POWERING_UP|BLOCKED|EXTERNAL)"

#: Not responding [slurm@2026-03-01T10:45:02]
_MARK = r"\[[^\[\]@]*@(?P<v>\d{4}-\d\d-\d\dT[\d:]+)\]$"

FORMAT = Format(
    name="scontrol_node",
    title="Slurm nodes at one moment (scontrol show node)",
    link="https://slurm.schedmd.com/scontrol.html",
    role="node",
    shape="blocks",
    versions="20.11 to 26.05",
    elements=("NodeName", "PartitionName"),
    header=(
        *("NodeName", "Arch", "CoresPerSocket", "CPUAlloc", "CPUEfctv", "CPUTot", "CPULoad", "Gres", "OS"),
        *("AvailableFeatures", "ActiveFeatures", "NodeAddr", "NodeHostName", "Version", "RealMemory"),
        *("State", "Partitions", "BootTime", "SlurmdStartTime", "LastBusyTime", "ResumeAfterTime"),
        *("CfgTRES", "AllocTRES", "CurrentWatts", "AveWatts", "Reason", "Comment", "Extra", "Owner"),
        *("PartitionName", "AllowGroups", "AllowAccounts", "AllowQos", "AllocNodes", "MaxNodes", "Nodes"),
        *("TotalCPUs", "TotalNodes", "PreemptMode", "TRES"),
    ),
    header_min=6,
    free=("Reason", "Comment", "Extra", "OS"),
    deciding=("held_back", "available", "partition"),
    unrendered="It shows the nodes at one moment, and stories are told by logs of a stretch of time.",
    derive={
        "host": Derived(("NodeHostName", "NodeName"), r"^(?P<v>[\w.-]+)$"),
        "held": Derived(("State",), rf"(?P<v>{_HELD_BACK})"),
        "healthy": Derived(("State",), rf"^(?P<v>{_FINE}\*?(?:\+{_FLAGS})*)$"),
        **state_cuts("State"),
        "since": Derived(("Reason",), _MARK),
        "why": Derived(("Reason",), r"^(?P<v>.*?)(?: *\[[^\[\]@]*@\d{4}-[\dT:-]+\])?$"),
    },
    patterns=(
        Pattern(
            name="held_back",
            table="nodes",
            when=("NodeName", "held", "CPUTot"),
            columns={
                "ts": Value("since", "stamp", stamp="iso"),
                "host": Value("host"),
                "state": STATE_VALUE,
                "reason": Value("why"),
            },
            note="The time is that of the reason, which may be later than the fault.",
        ),
        Pattern(
            name="available",
            table="",
            when=("NodeName", "healthy", "CPUTot"),
            note="Nothing says since when.",
        ),
        Pattern(name="partition", table="", when=("PartitionName", "AllowGroups", "TotalNodes")),
    ),
)
