"""Lines of which it is only asked whether some pattern knows them."""

from __future__ import annotations

import polars as pl

from pipeline.formats.format import Pattern
from pipeline.ingest.peel import behind_prefixes, strip_prefixes
from pipeline.ingest.regexes import to_ascii


class QuietLines:
    """Lines that only patterns without a table may know.

    Attributes:
        text, lines: the lines that none knows yet, and their numbers.
        label: matches the bare names that label lines of the file.
        known: numbers of the others.
    """

    def __init__(self, frame: pl.DataFrame, label: str) -> None:
        self.text, self.lines, self.label = frame["text"], frame["line"], label
        self.known: list[pl.Series] = []
        self._peeled = False

    def ask(self, pattern: Pattern) -> int:
        """Take out the lines that a pattern knows, and return how many there are."""
        if not self._peeled:
            self.text, self._peeled = strip_prefixes(self.text, self.label), True
        return self._take(to_ascii(pattern.regex))

    def ask_raw(self, pattern: Pattern) -> int:
        """Take out the lines that a pattern knows behind their prefixes, without taking these off."""
        regex = behind_prefixes(to_ascii(pattern.regex), self.label)
        return 0 if regex is None else self._take(regex)

    def _take(self, regex: str) -> int:
        """Take out the lines that an expression matches, and return how many there are."""
        hit = self.text.str.contains(regex)
        if not hit.any():
            return 0
        self.known.append(self.lines.filter(hit))
        self.text, self.lines = self.text.filter(~hit), self.lines.filter(~hit)
        return len(self.known[-1])
