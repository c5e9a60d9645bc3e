"""Regular expressions of formats → the same ones for ASCII, which the engine runs several times as fast.

``\\d``, ``\\s``, ``\\w`` and ``\\b`` stand for hundreds of ranges of Unicode. What logs print as digits,
blanks and names is ASCII, and another digit could not be read as a number anyway.
"""

from __future__ import annotations

from functools import cache

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
