"""Reservations of Slurm's controller: ``scontrol show reservation``, with and without ``-o``.

A reservation for maintenance takes its nodes away for a while that is known beforehand: each of them gives a
row. Other reservations keep nodes for somebody, and carry nothing.
"""

from __future__ import annotations

from pipeline.formats._slurm_show import time_of
from pipeline.formats.format import Derived, Format, Pattern, Value

#: Any flag but MAINT; there are DAILY, FLEX, MAGNETIC, IGNORE_JOBS, and none at all.
_OTHER = r"(?:[^M,][^,]*|M(?:[^A,][^,]*|A(?:[^I,][^,]*)?)?|)"

FORMAT = Format(
    name="scontrol_reservation",
    title="Slurm reservations (scontrol show reservation)",
    link="https://slurm.schedmd.com/reservations.html",
    role="node",
    shape="blocks",
    versions="20.11 to 26.05",
    elements=("ReservationName",),
    header=(
        *("ReservationName", "StartTime", "EndTime", "Duration", "Nodes", "NodeCnt", "CoreCnt", "Features"),
        *(
            "PartitionName",
            "Flags",
            "TRES",
            "Users",
            "Groups",
            "Accounts",
            "Licenses",
            "State",
            "BurstBuffer",
        ),
        *("MaxStartDelay", "Watts", "Comment"),
    ),
    header_min=8,
    free=("Comment",),
    deciding=("maintenance", "other"),
    unrendered="Maintenance of a story is told by `goodput.toml`.",
    derive={
        "away": Derived(("Flags",), r"(?:^|,)(?P<v>MAINT)(?:,|$)"),
        "kept": Derived(("Flags",), rf"^(?P<v>{_OTHER}(?:,{_OTHER})*)$"),
    },
    patterns=(
        Pattern(
            name="maintenance",
            table="nodes",
            when=("ReservationName", "StartTime", "away"),
            columns={
                "ts": time_of("StartTime"),
                "host": Value("Nodes", "hostlist"),
                "state": Value(const="maint"),
                "until_ts": time_of("EndTime"),
                "reason": Value("ReservationName"),
            },
        ),
        Pattern(name="other", table="", when=("ReservationName", "StartTime", "kept")),
    ),
)
