"""Regular expressions for "any word but these": the engine's expressions know no look-around."""

from __future__ import annotations

import re
from collections.abc import Iterable


def other_than(words: Iterable[str]) -> str:
    """Return an expression for every text without quotation marks that is none of ``words``.

    It must stand between characters that cannot be part of the text, such as the quotation marks of a JSON
    string: an expression that may stop anywhere would stop before the difference.
    """
    return _tail(sorted(set(words)))


def _tail(tails: list[str]) -> str:
    """Return an expression for every text that is none of ``tails``, a sorted list without repeats."""
    heads: dict[str, list[str]] = {}
    for tail in tails:
        if tail:
            heads.setdefault(tail[0], []).append(tail[1:])
    ends = [] if "" in tails else [""]
    differs = rf'[^"{"".join(re.escape(head) for head in heads)}][^"]*'
    return (
        f"(?:{'|'.join([differs, *(re.escape(head) + _tail(rest) for head, rest in heads.items()), *ends])})"
    )
