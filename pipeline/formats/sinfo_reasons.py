"""Why nodes are held back: ``sinfo -R`` and ``-Rl``, and its columns between bars.

It shows what is down, drained or failing at one moment; the time is that at which the reason was set.
The default cuts reasons at 20 characters. The host is each of the nodes of a line.
"""

from __future__ import annotations

from pipeline.formats._slurm_node_states import HOURS, STATE_WORDS
from pipeline.formats.format import Format, Pattern, Value, known_line

_TIME = r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)"
_NODES = r"(?P<nodes>[A-Za-z][\w.-]*(?:\[[\d,-]+\][\w.-]*)*(?:,[A-Za-z][\w.-]*(?:\[[\d,-]+\][\w.-]*)*)*)"
_USER = r"(?P<user>[\w.-]{1,32}(?:\(\d+\)?)?\+?)"
_STATE = r"(?P<state>[a-z]{2,10})[a-z_]*[*~#!%$@^+-]?"

#: The default layout names no state. Slurm itself writes these reasons, and only of nodes that are down.
_BY_REASON = {
    **dict.fromkeys(("Not responding", "Node unexpectedly rebooted", "Node unexpectedly re"), "down"),
    **dict.fromkeys(("ResumeTimeout reached", "ResumeTimeout reache", "reboot timed out"), "down"),
    "*": "drained",
}


def _reasons(name: str, regex: str, state: Value, note: str = "") -> Pattern:
    """Return the pattern of a line of one layout."""
    return Pattern(
        name=name,
        table="nodes",
        columns={
            "ts": Value("at", "stamp", stamp="iso"),
            "host": Value("nodes", "hostlist"),
            "state": state,
            "reason": Value("reason"),
        },
        literals=HOURS,
        regex=regex,
        note=note,
    )


FORMAT = Format(
    name="sinfo_reasons",
    title="Slurm reasons of nodes (sinfo -R)",
    link="https://slurm.schedmd.com/sinfo.html",
    role="node",
    versions="20.11 to 26.05",
    deciding=("names",),
    unrendered="It shows the nodes at one moment, and stories are told by logs of a stretch of time.",
    patterns=(
        known_line(
            "names",
            ("TIMESTAMP",),
            r"^REASON *\|? *(?:USER *\|? *TIMESTAMP|TIMESTAMP *\|? *USER) *\|? *(?:STATE *\|? *)?NODELIST",
        ),
        _reasons(
            "listed",
            rf"^(?P<reason>\S.*?) +{_USER} +{_TIME} +{_NODES}\s*$",
            Value("reason", mapping=_BY_REASON),
            "No state is printed: what Slurm does not write of a node that is down counts as drained.",
        ),
        _reasons(
            "listed_long",
            rf"^(?P<reason>\S.*?) +{_USER} +{_TIME} +{_STATE} +{_NODES}\s*$",
            Value("state", mapping=STATE_WORDS),
        ),
        _reasons(
            "bars",
            rf"^(?P<reason>[^|]*[^|\s]) *\|{_TIME} *\|{_USER} *\|{_NODES} *\|{_STATE}\s*$",
            Value("state", mapping=STATE_WORDS),
        ),
    ),
)
