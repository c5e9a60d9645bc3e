"""The error family: what is wrong, where, why, and what to do now."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class GoodputError(Exception):
    """A mistake in usage or input that ends the command with exit code 2 and no traceback.

    Attributes:
        what: what is wrong, in lower case, names in backticks.
        where: file, with line where it is known.
        why: the reason.
        now: what the user can do.
    """

    def __init__(self, what: str, *, where: str = "", why: str = "", now: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.why, self.now = what, where, why, now

    def __str__(self) -> str:
        rows = [f"error: {self.what}"]
        rows += [
            f"  {label}: {text}"
            for label, text in (("where", self.where), ("why", self.why), ("now", self.now))
            if text
        ]
        return "\n".join(rows)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean `x`?`` for the known name nearest to ``name``, or an empty string."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else ""
