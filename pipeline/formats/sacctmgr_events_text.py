"""Events of nodes in Slurm's database in columns for people: ``sacctmgr show event`` without delimiters.

Texts stand at the right of their column, and what is too long for it is cut and ends in a plus.
"""

from __future__ import annotations

from pipeline.formats._slurm_node_states import HOURS, STATE_WORDS
from pipeline.formats.format import Format, Pattern, Value, known_line

_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_HEAD = r"^\s*(?P<cluster>[\w.-]+\+?) +"

FORMAT = Format(
    name="sacctmgr_events_text",
    title="Slurm node events (sacctmgr show event), in columns",
    link="https://slurm.schedmd.com/sacctmgr.html#SECTION_EVENT",
    role="node",
    versions="20.11 to 26.05",
    deciding=("names",),
    unrendered="It is a table of the database; the simulator tells of nodes by the controller's log.",
    patterns=(
        known_line(
            "names", ("TimeStart",), r"^\s*Cluster +Node ?Name +TimeStart +TimeEnd +State +Reason +User\s*$"
        ),
        known_line("rule", ("------------------- -",), r"^-{4,} -{4,} -{19} -{19} -{4,} -{4,} -{4,}\s*$"),
        Pattern(
            name="event",
            table="nodes",
            columns={
                "ts": Value("start", "stamp", stamp="iso"),
                "host": Value("node"),
                "state": Value("state", mapping=STATE_WORDS),
                "until_ts": Value("end", "stamp", stamp="iso"),
                "reason": Value("reason"),
            },
            literals=HOURS,
            regex=_HEAD
            + rf"(?P<node>[\w.-]+\+?) +(?P<start>{_ISO}) +(?P<end>{_ISO}|Unknown) +"
            + r"(?P<state>[A-Z]{2,})[A-Z_*+$@~#%^!-]* +(?P<reason>\S.*?) +"
            + r"(?P<user>[\w.-]+(?:\(\d*)?[)+]?)\s*$",
            note="A state that was cut keeps its first word.",
        ),
        known_line(
            "cluster",
            ("Cluster ",),
            _HEAD + rf"(?P<start>{_ISO}) +(?:{_ISO}|Unknown) +Cluster (?:Registered|[Pp]rocessor) .*$",
        ),
    ),
)
