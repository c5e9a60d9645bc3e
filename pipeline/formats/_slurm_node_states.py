"""States of nodes as Slurm's commands print them, told by the words of `nodes.state`."""

from __future__ import annotations

from pipeline.formats.format import Derived, Value

#: DOWN*, DRAINED, MIXED+DRAIN, drng, maint, IDLE+CLOUD+POWERED_DOWN: a base, flags and marks, long or short.
STATE = r"[A-Za-z][A-Za-z_]*[*~#!%$@^+-]?(?:\+[A-Za-z][A-Za-z_]*[*~#!%$@^+-]?)*"

_DOWN = r"(?i)^\W*(?P<v>)(?:down|fail|failg|failing|inval|error|future|unk|\w+\*|\S*not_respond)"
_DRAINING = r"(?i)^\W*(?P<v>)(?:draining|drng|(?:alloc|mix|compl?)\w*\+?\S*drain)"
_DRAINED = r"(?i)(?P<v>)(?:drain|drned)"
_AWAY = r"(?i)(?P<v>)(?:maint|reboot|boot|resv|reserved|power|pow_|plnd)"


def state_cuts(*fields: str) -> dict[str, Derived]:
    """Return the derived fields that tell one of some fields by our words; `state_value` reads them."""
    return {
        "is_down": Derived(fields, _DOWN, "down$v"),
        "is_draining": Derived(fields, _DRAINING, "draining$v"),
        "is_drained": Derived(fields, _DRAINED, "drained$v"),
        "is_away": Derived(fields, _AWAY, "maint$v"),
        "is_up": Derived(fields, r"(?i)^\W*(?P<v>)(?:idle|alloc|mix|comp|up|resume)", "up$v"),
    }


#: The strongest that is true: a node that is down is not merely drained.
STATE_VALUE = Value(("is_down", "is_draining", "is_drained", "is_away", "is_up"))

#: One of them is in every line with an ISO time: the hour behind its date.
HOURS = tuple(f"T{hour:02d}:" for hour in range(24))

#: First word of a node's state to the words of `nodes.state`.
STATE_WORDS = {
    **dict.fromkeys(("DOWN", "FAIL", "FAILING", "INVAL", "ERROR", "down", "fail", "failg", "inval"), "down"),
    **dict.fromkeys(("DRAIN", "DRAINED", "drain", "drained"), "drained"),
    **dict.fromkeys(("DRAINING", "drng", "draining"), "draining"),
    **dict.fromkeys(("MAINT", "REBOOT", "POWERED", "POWER", "maint", "reboot", "boot"), "maint"),
    **dict.fromkeys(("IDLE", "ALLOCATED", "MIXED", "idle", "alloc", "mix", "comp"), "up"),
}
