"""Step lines of common layouts → event rows, straight from raw lines: each layout is understood once."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from pipeline.formats import names_of
from pipeline.formats.format import Pattern
from pipeline.ingest.bars import Labels
from pipeline.ingest.extract import READ_TIME, Rows, build_rows, labels_of, read_heads, values_of
from pipeline.ingest.glue import has_glued
from pipeline.ingest.lines import clean_frame
from pipeline.ingest.peel import read_prefixes
from pipeline.ingest.regexes import is_blind
from pipeline.ingest.rules import Rule
from pipeline.ingest.search import search_fields
from pipeline.ingest.values import plain_numbers

if TYPE_CHECKING:
    from pipeline.ingest.layout import Block

#: Fewer lines than this are searched one by one before a layout is understood.
MIN_LINES = 1000


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the lines of one layout are cut.

    Attributes:
        rule: the pattern that matches them.
        head: characters of the prefixes that are not part of the line.
        fields: where the texts are that the pattern names; negative where there is none.
        numbers: those of which only the numbers matter.
    """

    rule: Rule
    head: int
    fields: Mapping[str, tuple[int, int]]
    numbers: Collection[str]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Patterns that are cut out of lines with a label or none; it keeps what it has understood of a file."""

    rules: Sequence[Rule]
    label: str = ""
    _plans: dict[str, _Plan | None] = field(default_factory=dict)

    def take(self, lines: pl.DataFrame, shapes: pl.Series | None = None) -> list[Rows]:
        """Return what the patterns find in raw lines (``line``, ``text``) of layouts that they know.

        ``matched`` are the positions of those lines. The others have to be searched. ``shapes`` are the
        numbers of the shapes of the lines, where these are known.
        """
        if not self.rules or lines.height < MIN_LINES:
            return []
        # Its libraries take as long to load as a small file to read.
        from pipeline.ingest.layout import blocks_of, find_blocks

        found = []
        text = lines["text"]
        for block in find_blocks(text, MIN_LINES) if shapes is None else blocks_of(text, shapes, MIN_LINES):
            if block.example not in self._plans:
                self._plans[block.example] = _make_plan(block.example, self.rules, self.label)
            plan = self._plans[block.example]
            if plan is not None:
                found.append(_cut(block, plan, lines["line"][block.rows]))
        return found


def _cut(block: Block, plan: _Plan, numbers: pl.Series) -> Rows:
    """Return the event rows of the lines of one layout."""
    pattern = plan.rule.pattern
    lines = pl.DataFrame({"line": numbers}).with_columns(segment=pl.lit(0, pl.Int32))
    lines = lines.hstack(read_prefixes(block.cut(0, plan.head)))
    if "ts" not in pattern.columns or pattern.extras:
        lines = lines.with_columns(text=block.cut(plan.head, block.content.shape[1]))
    if "ts" not in pattern.columns:
        lines = read_heads(lines)
    fields = {}
    for name, span in plan.fields.items():
        found = block.numbers(*span) if name in plan.numbers else None
        fields[name] = block.cut(*span) if found is None else found
    time = pattern.columns.get("ts")
    if time is not None and time.stamp == "iso" and isinstance(time.group, str) and time.group in plan.fields:
        read = block.stamps(*plan.fields[time.group])
        if read is not None:
            fields[READ_TIME] = read
    rows = build_rows(plan.rule.fmt, pattern, lines, pl.DataFrame(fields))
    return Rows(block.rows, pattern.table, rows)


def _make_plan(example: str, rules: Sequence[Rule], label: str) -> _Plan | None:
    """Return how lines like an example are cut, or None where they have to be searched.

    The first pattern that matches counts, and none that was asked may tell digits apart.
    """
    frame = clean_frame(pl.DataFrame({"line": [1], "text": [example]}), label)
    if frame.height != 1 or not example.endswith(frame["text"][0]) or has_glued(frame["text"])[0]:
        return None
    text = frame["text"][0]
    for rule in rules:
        labels = labels_of(rule.pattern)
        find = _finder(rule.pattern, labels)
        if find is None:
            return None
        groups, hit = search_fields(frame["text"], rule.pattern.regex, labels)
        if hit[0]:
            spans = _spans(text, find, labels)
            # The engine that tells places might read the expression otherwise than the one for columns.
            if spans is None or groups.row(0, named=True) != {
                name: text[start:end] if start >= 0 else None for name, (start, end) in spans.items()
            }:
                return None
            head = len(example) - len(text)
            values = values_of(rule.pattern)
            read = {name for value in values for name in names_of(value)}
            moved = {
                name: (a + head, b + head) if a >= 0 else (a, b)
                for name, (a, b) in spans.items()
                if name in read
            }
            return _Plan(rule, head, moved, plain_numbers(values))
    return None


def _spans(line: str, find: re.Pattern[str], labels: Labels) -> dict[str, tuple[int, int]] | None:
    """Return where the fields of a line are, or None where the expression does not match it."""
    match = find.search(line)
    if match is None:
        return None
    spans = {name: match.span(name) for name in match.re.groupindex}
    for name, alternatives in labels:
        spans[name] = next((span for span in (_bar(line, label) for label in alternatives) if span), (-1, -1))
    return spans


def _bar(line: str, label: str) -> tuple[int, int] | None:
    """Return where the text behind a label between bars is, without blanks around it."""
    match = re.search(rf"\| +{re.escape(label)}:\s+(?P<v>[^\s|]+)\s*\|", line)
    return match.span("v") if match else None


def _finder(pattern: Pattern, labels: Labels) -> re.Pattern[str] | None:
    """Return the expression of a pattern for one line, or None where lines have to be searched for it."""
    names = (label for _, alternatives in labels for label in alternatives)
    return None if pattern.each or not is_blind((pattern.regex, *names)) else _compile(pattern.regex)


@cache
def _compile(regex: str) -> re.Pattern[str] | None:
    """Return an expression for one line, or None where it has no named groups or another dialect."""
    try:
        find = re.compile(regex, re.ASCII)
    except re.error:
        return None
    return find if find.groupindex else None
