"""What may be found in a file: patterns of its own format, of formats that occur anywhere, and signals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import TABULAR, Format, Pattern
from pipeline.ingest.signals import Signal, load_signals

#: Names of a header of which one stands in it for sure.
_HEADER_NAMES = 3

#: An expression that matches nothing.
NEVER = r"[^\s\S]"

#: Characters that mean something in a regular expression, and what stands for them there.
_ESCAPED = {ord(character): f"\\{character}" for character in "\\.+*?()|[]{}^$#&-~"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of a format of lines."""

    fmt: Format
    pattern: Pattern


class Screens:
    """Cheap questions to a line: regular expressions of literals, each made when it is first asked."""

    def __init__(self, rules: RuleSet, wanted: Callable[[str], bool]) -> None:
        self._rules, self._wanted = rules, wanted

    @cached_property
    def steps(self) -> str:
        """Every step line of the file's format matches it."""
        return self._of(self._rules.step_literals)

    @cached_property
    def frequent(self) -> str:
        """Step lines match it, and lines that are known and hold nothing else."""
        return self._of(self._rules.step_literals | self._rules.chatter)

    @cached_property
    def loud(self) -> str:
        """A line matches it that holds a literal of a signal, or of a pattern that fills a table."""
        return self._of(self._rules.loud_literals)

    @cached_property
    def all(self) -> str:
        """A line matches it that holds any literal, or one that may prove another format."""
        return self._of((*self._rules.literals, *self._rules.guest_literals))

    def _of(self, literals: Iterable[str]) -> str:
        """Return an expression of those literals that are wanted."""
        return alternation(filter(self._wanted, literals))


class RuleSet:
    """Everything that is looked for in one kind of file.

    Attributes:
        rules: patterns; of several that match a line the first counts.
        signals: the catalogue, most specific first.
        guest_literals: literals that may prove another format.
        own: name of the format of the file, or empty.
        step_literals, loud_literals: literals of step lines, and of lines with a signal or a row of a table.
        chatter: those of lines that are known and hold nothing else.
        quiet_literals: those of patterns that carry nothing: only whether they match is of interest.
        literals: every literal once. A line without any of them is unknown, and nothing else is asked of it.
        screens: what all literals of a kind are asked by.
        blind: the same for those without digits, which lines that differ in digits only hold or do not alike.
    """

    def __init__(
        self, rules: Iterable[Rule], signals: Sequence[Signal], guests: Sequence[str] = (), own: str = ""
    ) -> None:
        self.rules, self.signals, self.guest_literals, self.own = tuple(rules), signals, guests, own
        patterns = [rule.pattern for rule in self.rules]
        loud = {literal for pattern in patterns if pattern.table for literal in pattern.literals}
        loud |= {signal.literal for signal in signals}
        # A torn line that only its format knows to be one has to be looked at as well.
        loud |= {literal for pattern in patterns if pattern.unique for literal in pattern.literals}
        quiet = {literal for pattern in patterns if not pattern.table for literal in pattern.literals}
        self.loud_literals = loud
        self.step_literals = {lit for one in patterns if one.table == "steps" for lit in one.literals}
        self.chatter = {literal for rule in self.rules for literal in rule.fmt.chatter}
        self.quiet_literals = tuple(sorted(quiet))
        self.literals = tuple(sorted(loud | quiet))
        self.screens = Screens(self, lambda literal: True)
        self.blind = Screens(self, lambda literal: not _has_digit(literal))

    @cached_property
    def guests(self) -> str:
        """A regular expression of the literals that may prove another format."""
        return alternation(self.guest_literals)

    @cached_property
    def numbered(self) -> dict[str, tuple[str, ...]]:
        """The literals with digits by their shapes, which have zeros for these."""
        found: dict[str, list[str]] = {}
        for literal in sorted({*self.literals, *self.guest_literals, *self.chatter}):
            if _has_digit(literal):
                found.setdefault(re.sub("[0-9]", "0", literal), []).append(literal)
        return {shape: tuple(literals) for shape, literals in found.items()}

    @cached_property
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
    rules = (Rule(fmt, pattern) for fmt in formats for pattern in fmt.patterns)
    return RuleSet(rules, load_signals(), guest_literals(own), own)


@cache
def rules_of_all(primary: bool) -> RuleSet:
    """Return the patterns of all formats of lines that name a file, or of those that do not."""
    formats = [fmt for fmt in registry().values() if fmt.shape == "lines" and fmt.primary == primary]
    return RuleSet((Rule(fmt, pattern) for fmt in formats for pattern in fmt.patterns), ())


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


def _has_digit(literal: str) -> bool:
    """Return whether a literal tells digits apart."""
    return re.search("[0-9]", literal) is not None


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
    return literal.translate(_ESCAPED)
