"""What `scontrol show` and the job completion log share: blocks of `Key=Value`, and parts of their values."""

from __future__ import annotations

from pipeline.formats.format import Derived, Value

#: A text that is not one of the program's words for nothing.
GIVEN = r"^(?P<v>[^N(].*|N[^o/].*|No[^n].*|Non[^e].*|None.+)$"

#: Parts of values that several formats of this kind need.
CUTS = {
    "user": Derived(("UserId",), r"^(?P<v>[^()\s]+)"),
    "exit_code": Derived(("ExitCode",), r"^(?P<v>\d+):"),
    "exit_signal": Derived(("ExitCode",), r":(?P<v>\d+)$"),
}


def time_of(*fields: str) -> Value:
    """Return the first of some fields as a time, which is local to the machine that printed it."""
    return Value(fields, "stamp", stamp="iso")
