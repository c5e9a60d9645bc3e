"""Nodes as Slurm's controller knows them at one moment, as JSON: ``scontrol show node --json``, slurmrestd.

What holds a node back has a time, that of its reason; how long it lasted such a file cannot tell.
"""

from __future__ import annotations

from pipeline.formats._slurm_node_states import STATE_VALUE, state_cuts
from pipeline.formats.format import Derived, Format, Pattern, Value

_HELD_BACK = r"(?i)(?P<v>DOWN|DRAIN|FAIL|INVAL|NOT_RESPONDING|MAINT|POWERED_DOWN|POWERING_DOWN|REBOOT)"

FORMAT = Format(
    name="slurm_nodes_json",
    title="Slurm nodes at one moment as JSON (scontrol --json, slurmrestd)",
    link="https://slurm.schedmd.com/scontrol.html",
    role="node",
    shape="document",
    versions="23.02 to 26.05 (data parsers v0.0.39 to v0.0.45, also +complex)",
    elements=("nodes",),
    header=("slurmd_start_time", "reason_changed_at", "gres_used", "boot_time"),
    header_min=3,
    deciding=("held_back", "available"),
    unrendered="It shows the nodes at one moment, and stories are told by logs of a stretch of time.",
    derive={
        **state_cuts("state"),
        "held": Derived(("state",), _HELD_BACK),
        "fine": Derived(
            ("state",),
            r'^(?P<v>\["(?:IDLE|ALLOCATED|MIXED)"(?:,"(?:CLOUD|PLANNED|RESERVED|COMPLETING|DYNAMIC_NORM)")*\])$',
        ),
        "since": Derived(
            ("reason_changed_at",), r'^(?:\{"infinite":false,"number":)?(?P<v>[1-9]\d+)(?:,"set":true\})?$'
        ),
    },
    patterns=(
        Pattern(
            name="held_back",
            table="nodes",
            when=("name", "held", "boot_time"),
            columns={
                "ts": Value("since", "stamp", stamp="epoch_s"),
                "host": Value(("hostname", "name")),
                "state": STATE_VALUE,
                "reason": Value("reason"),
            },
            note="The time is that of the reason, which may be later than the fault.",
        ),
        Pattern(
            name="available", table="", when=("name", "fine", "boot_time"), note="Nothing says since when."
        ),
    ),
)
