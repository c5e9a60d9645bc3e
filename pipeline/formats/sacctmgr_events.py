"""Events of nodes in Slurm's database: ``sacctmgr show event`` with ``-p``, ``-P`` or ``--parsable``.

A row is a state and how long it held. It opens when a node is down or drained, not when the drain was asked
for, and every change of flags or of the reason closes it and opens the next.
"""

from __future__ import annotations

from pipeline.formats._slurm_node_states import STATE, STATE_VALUE, state_cuts
from pipeline.formats.format import Derived, Format, Pattern, Value

_TIME = r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d{9,11}|Unknown|None|)"

FORMAT = Format(
    name="sacctmgr_events",
    title="Slurm node events (sacctmgr show event), delimited",
    link="https://slurm.schedmd.com/sacctmgr.html#SECTION_EVENT",
    role="node",
    shape="table",
    versions="20.11 to 26.05",
    header=("NodeName", "TimeStart", "TimeEnd", "EventRaw", "StateRaw"),
    header_min=3,
    shapes={
        "NodeName": r"[\w.-]*",
        **dict.fromkeys(("TimeStart", "TimeEnd"), _TIME),
        "State": rf"(?:{STATE}|)",
        "StateRaw": r"\d*",
    },
    free=("Reason", "TRES"),
    unrendered="It is a table of the database; the simulator tells of nodes by the controller's log.",
    derive={
        **state_cuts("State"),
        "capacity": Derived(("Reason",), r"^(?P<v>Cluster (?:Registered|[Pp]rocessor) .*)$"),
        "why": Derived(("Reason",), r"^(?P<v>[^C].*|C[^l].*|Cl[^u].*)$"),
    },
    patterns=(
        Pattern(
            name="event",
            table="nodes",
            when=("NodeName", "TimeStart"),
            columns={
                "ts": Value("TimeStart", "stamp", stamp="iso"),
                "host": Value("NodeName"),
                "state": STATE_VALUE,
                "until_ts": Value("TimeEnd", "stamp", stamp="iso"),
                "reason": Value("why"),
            },
            note="Rows of one node that touch are one stretch: a reason that is added later makes a row.",
        ),
        Pattern(
            name="cluster",
            table="",
            when=("capacity", "TimeStart"),
            note="The cluster as a whole: what it could give out from then on.",
        ),
    ),
)
