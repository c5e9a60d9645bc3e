"""What may be found in a file: patterns of its own format, of formats that occur anywhere, and signals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import TABULAR, Format, Pattern
from pipeline.ingest.signals import Signal, load_signals

#: Names of a header of which one stands in it for sure.
_HEADER_NAMES = 3

#: An expression that matches nothing.
NEVER = r"[^\s\S]"

#: Characters that mean something in a regular expression.
_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of a format of lines."""

    fmt: Format
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Everything that is looked for in one kind of file.

    Attributes:
        rules: patterns; of several that match a line the first counts.
        signals: the catalogue, most specific first.
        literals: every literal once. A line without any of them is unknown, and nothing else is asked of it.
        quiet_literals: those of patterns that carry nothing: only whether they match is of interest.
        step_literals: regular expression that every step line of the file's format matches.
        frequent: regular expression of step lines, and of lines that are known and hold nothing else.
        loud: regular expression that a line matches which holds a literal of a signal, or of a pattern that
            fills a table.
        screen: the same for all literals, and for those that may prove another format.
        guests: the same for those that may prove another format alone.
        doubtful: the same for all of these that hold digits, in lines with zeros for all digits.
        own: name of the format of the file, or empty.
    """

    rules: tuple[Rule, ...]
    signals: tuple[Signal, ...]
    literals: tuple[str, ...]
    quiet_literals: tuple[str, ...]
    step_literals: str
    frequent: str
    loud: str
    screen: str
    doubtful: str
    guests: str = NEVER
    own: str = ""

    @property
    def steps(self) -> tuple[Rule, ...]:
        """The rules for step lines: nine of ten known lines of a trainer, and never anything else as well."""
        return tuple(rule for rule in self.rules if rule.pattern.table == "steps")


def rules_for(name: str) -> RuleSet:
    """Return the rules for files of a format of lines; for all others those that hold anywhere."""
    own = registry().get(name)
    return _rules_for(name if own is not None and own.primary and own.shape == "lines" else "")


@cache
def _rules_for(own: str) -> RuleSet:
    """Return the rules of one format that names files, or of none, with those that hold anywhere."""
    formats = [registry()[own]] if own else []
    formats += [fmt for fmt in registry().values() if not fmt.primary and fmt.shape == "lines"]
    rules = build_rules((Rule(fmt, pattern) for fmt in formats for pattern in fmt.patterns), load_signals())
    guests = guest_literals(own)
    return replace(
        rules,
        screen=alternation((*rules.literals, *guests)),
        doubtful=_doubtful((*rules.literals, *guests, *_chatter(rules.rules))),
        guests=alternation(guests),
        own=own,
    )


@cache
def rules_of_all(primary: bool) -> RuleSet:
    """Return the patterns of all formats of lines that name a file, or of those that do not."""
    formats = [fmt for fmt in registry().values() if fmt.shape == "lines" and fmt.primary == primary]
    return build_rules((Rule(fmt, pattern) for fmt in formats for pattern in fmt.patterns), ())


@cache
def guest_literals(own: str) -> tuple[str, ...]:
    """Return the literals of lines that may prove a format other than that of the file."""
    found: set[str] = set()
    for fmt in guest_formats(own):
        found |= {
            text for pattern in fmt.patterns if pattern.name in fmt.deciding for text in pattern.literals
        }
        found |= set(marks_of(fmt))
    return tuple(sorted(found))


@cache
def guest_formats(own: str) -> tuple[Format, ...]:
    """Return the formats that may be guests in a file: all that name files, but for documents and its own."""
    return tuple(
        fmt
        for fmt in registry().values()
        if fmt.primary and fmt.name != own and (marks_of(fmt) or (fmt.shape == "lines" and fmt.deciding))
    )


def marks_of(fmt: Format) -> tuple[str, ...]:
    """Return texts of which one is in a line that may prove a format of records, or be a header."""
    if fmt.shape == "records":
        decisive = [pattern for pattern in fmt.patterns if pattern.name in fmt.deciding] or fmt.patterns
        names = {name for pattern in decisive for name in (*pattern.when, *pattern.where)[:1]}
        return tuple(sorted(f'"{name.rpartition("/")[2]}"' for name in names))
    return fmt.header[:_HEADER_NAMES] if fmt.shape in TABULAR else ()


def build_rules(rules: Iterable[Rule], signals: tuple[Signal, ...]) -> RuleSet:
    """Return the rule set of patterns and signals."""
    rules = tuple(rules)
    loud = {literal for rule in rules if rule.pattern.table for literal in rule.pattern.literals}
    loud |= {signal.literal for signal in signals}
    quiet = {literal for rule in rules if not rule.pattern.table for literal in rule.pattern.literals}
    # A torn line that only its format knows to be one has to be looked at as well.
    loud |= {literal for rule in rules if rule.pattern.unique for literal in rule.pattern.literals}
    steps = {lit for rule in rules if rule.pattern.table == "steps" for lit in rule.pattern.literals}
    chatter = _chatter(rules)
    return RuleSet(
        rules,
        signals,
        tuple(sorted(loud | quiet)),
        tuple(sorted(quiet)),
        alternation(steps),
        alternation(steps | chatter),
        alternation(loud),
        alternation(loud | quiet),
        _doubtful(loud | quiet | chatter),
    )


def _chatter(rules: Iterable[Rule]) -> set[str]:
    """Return the literals of lines that are known and hold nothing else."""
    return {literal for rule in rules for literal in rule.fmt.chatter}


def _doubtful(literals: Iterable[str]) -> str:
    """Return an expression of the literals that hold digits, with zeros for these."""
    return alternation(
        masked for one in literals if (masked := re.sub("[0-9]", "0", one)) != one or "0" in one
    )


def alternation(literals: Iterable[str]) -> str:
    """Return an expression that matches where one of the literals is; one that never matches for none.

    A literal that holds another one is left out.
    """
    found = sorted(set(literals))
    if len(found) > 1:
        held = pl.Series(found).str.extract_many(found, overlapping=True).list.len()
        found = [literal for literal, count in zip(found, held, strict=True) if count == 1]
    return "|".join(escape(literal) for literal in found) or NEVER


def escape(literal: str) -> str:
    """Return a literal as a regular expression of the Rust dialect."""
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in literal)
