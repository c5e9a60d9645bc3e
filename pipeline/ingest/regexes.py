"""Regular expressions of formats → the same ones for ASCII, which the engine runs several times as fast.

``\\d``, ``\\s``, ``\\w`` and ``\\b`` stand for hundreds of ranges of Unicode. What logs print as digits,
blanks and names is ASCII, and another digit could not be read as a number anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

#: What stands before a text that begins a line, or follows a character that is not one of some.
_HEAD_OR = re.compile(r"^(\(\?x\))?(\s*)\(\?:\^\|\[\^(?:\\.|[^\]\\])*\]\)")

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\v\f\r\x20"}


@cache
def to_ascii(regex: str) -> str:
    """Return an expression with the classes of ASCII. Negated classes keep every other character."""
    out: list[str] = []
    at, depth = 0, 0
    while at < len(regex):
        char = regex[at]
        if char == "\\" and at + 1 < len(regex):
            follower = regex[at + 1]
            if follower in _CLASSES:
                out.append(_CLASSES[follower] if depth else f"[{_CLASSES[follower]}]")
            elif follower == "b" and not depth and regex[at + 2 : at + 3] != "{":
                out.append(r"(?-u:\b)")
            else:
                out.append(char + follower)
            at += 2
            continue
        if char == "[":
            depth += 1
            # A bracket that closes at once is a member of the class, with or without a negation before it.
            opening = regex[at : at + 3] if regex[at + 1 : at + 2] == "^" else regex[at : at + 2]
            if opening.endswith("]"):
                out.append(opening)
                at += len(opening)
                continue
        elif char == "]" and depth:
            depth -= 1
        out.append(char)
        at += 1
    return "".join(out)


@cache
def at_head(regex: str) -> str | None:
    """Return the part of an expression that matches at the head of a line only, or None.

    For ``(?:^|[^…])rest`` that is ``^rest``: whatever it matches the whole expression matches alike, since of
    two alternatives at one place the first one counts. It is much faster, for it need not search.
    """
    found = _HEAD_OR.match(regex)
    return None if found is None else f"{found[1] or ''}{found[2]}^{regex[found.end() :]}"


def is_blind(expressions: Iterable[str]) -> bool:
    """Return whether expressions match at the same places whatever the digits of a text are."""
    for regex in expressions:
        bare = re.sub(r"\s#.*", "", regex) if regex.startswith("(?x)") else regex
        bare = re.sub(r"\{\d+(?:,\d*)?\}", "", bare).replace("0-9", "")
        if any(char.isdigit() for char in bare):
            return False
    return True
