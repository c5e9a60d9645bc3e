"""A chunk of lines × a rule set → event rows and the state of every line: known, torn or unknown.

Cost decides the order: one cheap alternation over everything, and the rest only on what survived it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import polars as pl

from pipeline.ingest.cuts import Cutter
from pipeline.ingest.extract import (
    extract_candidates,
    extract_pattern,
    merge_rows,
    read_heads,
)
from pipeline.ingest.glue import has_glued, split_glued, split_glued_to_words
from pipeline.ingest.guests import proving_lines, read_guests
from pipeline.ingest.lines import clean_frame
from pipeline.ingest.literals import literal_rows, rows_of
from pipeline.ingest.peel import split_behind_bars, split_segments
from pipeline.ingest.quiet import QuietLines
from pipeline.ingest.rules import RuleSet
from pipeline.ingest.shapes import Shapes
from pipeline.ingest.signals import build_signal_rows

#: Lines that are enough to learn which patterns know most.
_FEW = 500


@dataclass(frozen=True, slots=True)
class Scan:
    """What a rule set finds in lines.

    Attributes:
        tables: event rows by table in line order, without ``source_id``.
        known: numbers of the lines that a pattern or signal matched, in no order, some more than once.
        torn: numbers of lines with a segment that a format claims and cannot read; another may be known.
        proving: numbers of lines that may prove another format, where that was left to be seen.
    """

    tables: dict[str, pl.DataFrame]
    known: pl.Series
    torn: pl.Series
    proving: pl.Series | None = None


@dataclass(slots=True)
class Scanner:
    """A rule set at work on a file; what it learns about the file changes its speed and nothing else.

    ``label`` matches the bare names that label its lines (`labels.py`). Where the lines are those of several
    files, ``one_file`` is False, and other formats in them are left out.
    """

    rules: RuleSet
    label: str = ""
    one_file: bool = True
    popular: Counter[int] = field(default_factory=Counter)
    shapes: Shapes = field(init=False)
    cutter: Cutter = field(init=False)

    def __post_init__(self) -> None:
        self.shapes = Shapes(self.rules, self.label)
        # What is cut out of a line is never seen by the patterns that read it beside the step.
        told = {lit for rule in self.rules.rules if rule.pattern.beside for lit in rule.pattern.literals}
        steps = self.rules.steps
        apart = all(told.isdisjoint(rule.pattern.literals) for rule in steps)
        self.cutter = Cutter(steps if apart else (), self.label)

    def scan(self, lines: pl.Series, *, several: bool = True, plain: bytes | None = None) -> Scan:
        """Apply the rules to raw lines that are numbered from 1.

        ``several`` is False where it is known that no line holds a carriage return. ``plain`` is the content
        that the lines are of, where it holds no control characters.
        """
        numbered = pl.DataFrame({"text": lines}).with_row_index("line", 1).cast({"line": pl.Int64})
        settled = None if plain is None else self.shapes.settle(plain, lines)
        if settled is None:
            return self._scan_asked(numbered, numbered.clear(), numbered.clear(), several=several)
        unasked = numbered.filter(settled.unknown)
        steps = numbered.with_columns(shape=settled.shapes).filter(settled.steps)
        scan = self._scan_asked(numbered.filter(settled.asked), steps, unasked, several=False)
        return replace(scan, known=pl.concat([scan.known, numbered["line"].filter(settled.known)]))

    def _scan_asked(
        self, numbered: pl.DataFrame, steps: pl.DataFrame, unknown: pl.DataFrame, *, several: bool
    ) -> Scan:
        """Apply the rules to raw lines (``line``, ``text``), beside step lines and others."""
        apart = split_behind_bars(numbered["text"])
        behind_bars = apart != numbered["text"] if apart is not numbered["text"] else _falses(len(apart))
        several = several or behind_bars.any()
        numbered = numbered.with_columns(text=apart)
        whole = pl.concat([numbered, steps.select("line", "text"), unknown])
        rows: dict[str, list[pl.DataFrame]] = {}
        # From the cheapest question to the dearest; what one has answered the next is not asked.
        frequent = _holds(numbered["text"], self.rules.screens.frequent) & ~behind_bars
        others = numbered.filter(~frequent)
        left, known = self._scan_frequent(numbered.filter(frequent), steps, rows, several=several)
        others = others.filter(_holds(others["text"], self.rules.screens.all))
        among = _holds(others["text"], self.rules.screens.loud)
        quiet = others.filter(~among)
        known.append(self._scan_quiet(split_segments(quiet) if several else quiet))
        candidates = pl.concat([split_glued(left), others.filter(among)]).sort("line")
        if candidates.is_empty():
            return self._with_guests(whole, others, rows, known, candidates["line"])
        candidates = split_glued_to_words(candidates)
        frame = clean_frame(candidates, self.label)
        if frame.height > candidates.height:
            frame = frame.filter(frame["text"].str.contains(self.rules.screens.all))
        known += _scan_beside(frame, self.rules, rows)
        frame = self._scan_steps(frame, rows, known)
        found, torn, signalled = _scan_loud(frame, self.rules, rows)
        known.append(frame["line"].filter(found))
        scan = self._with_guests(whole, others, rows, known, frame["line"].filter(torn))
        # A line with a signal may carry more in the words of another format.
        return replace(scan, known=pl.concat([scan.known, frame["line"].filter(signalled)]))

    def _with_guests(
        self,
        lines: pl.DataFrame,
        screened: pl.DataFrame,
        rows: dict[str, list[pl.DataFrame]],
        known: list[pl.Series],
        torn: pl.Series,
    ) -> Scan:
        """Return what was found, and what other formats know of the rest where a line of it may prove one."""
        seen = pl.concat(known)
        rest = screened["text"].filter(~screened["line"].is_in(seen.implode()))
        if len(rest) and rest.str.contains(self.rules.guests).any():
            unknown = lines.filter(~lines["line"].is_in(seen.implode())).sort("line")
            if not self.one_file:
                return Scan(merge_rows(rows), seen, torn, proving_lines(unknown, self.rules.own, self.label))
            guests = read_guests(unknown, self.rules.own, self.label)
            for table, found in guests.tables.items():
                rows.setdefault(table, []).extend(found)
            seen = pl.concat([seen, guests.known])
        return Scan(merge_rows(rows), seen, torn)

    def _scan_frequent(
        self, lines: pl.DataFrame, steps: pl.DataFrame, rows: dict[str, list[pl.DataFrame]], *, several: bool
    ) -> tuple[pl.DataFrame, list[pl.Series]]:
        """Take chatter and step lines of common layouts; return the lines that are left, and the known ones.

        A line that holds more than chatter, such as a step line glued to it, is left. ``steps`` are lines of
        which is known already that they hold what step lines do, each with the number of its ``shape``.
        """
        more = _holds(lines["text"], self.rules.screens.steps)
        if several:
            more |= lines["text"].str.contains("\r", literal=True)
        chatter = lines.filter(~more)
        glued = has_glued(chatter["text"])
        known = [chatter["line"].filter(~glued)]
        others = lines.filter(more)
        rest = [chatter.filter(glued)]
        for those, cut in (
            (steps.select("line", "text"), self.cutter.take(steps, steps["shape"]) if steps.height else []),
            (others, self.cutter.take(others)),
        ):
            left = _falses(those.height).not_()
            for found in cut:
                if found.rows is not None:
                    rows.setdefault(found.table, []).append(found.rows)
                known.append(those["line"][found.matched])
                left = left.scatter(found.matched, False)
            rest.append(those.filter(left))
        return pl.concat(rest), known

    def _scan_quiet(self, frame: pl.DataFrame) -> pl.Series:
        """Return which lines a pattern knows that carries nothing.

        The patterns that knew most lines before are asked first, the others only where one of their literals
        is.
        """
        if not self.popular and frame.height > 2 * _FEW:
            head = self._scan_quiet(frame.head(_FEW))
            return pl.concat([head, self._scan_quiet(frame.tail(-_FEW))])
        left = QuietLines(frame, self.label)
        for at, _ in self.popular.most_common():
            if not len(left.text):
                break
            left.ask_raw(self.rules.rules[at].pattern)
        present = literal_rows(left.text, self.rules.quiet_literals).keys()
        for at, rule in enumerate(self.rules.rules):
            if not rule.pattern.table and not present.isdisjoint(rule.pattern.literals) and len(left.text):
                known = left.ask(rule.pattern)
                if known:
                    self.popular[at] += known
        return pl.concat([frame["line"].head(0), *left.known])

    def _scan_steps(
        self, frame: pl.DataFrame, rows: dict[str, list[pl.DataFrame]], known: list[pl.Series]
    ) -> pl.DataFrame:
        """Take the step lines out of a frame: most of the known lines of a trainer, and never a signal."""
        for rule in self.rules.steps:
            found = extract_pattern(rule.fmt, rule.pattern, frame)
            if found.rows is None:
                continue
            rows.setdefault(found.table, []).append(found.rows)
            known.append(frame["line"][found.matched])
            frame = frame.filter(_falses(frame.height).scatter(found.matched, True).not_())
        return frame


def _scan_beside(frame: pl.DataFrame, rules: RuleSet, rows: dict[str, list[pl.DataFrame]]) -> list[pl.Series]:
    """Read what lines tell besides what they are, and return the numbers of those lines."""
    beside = [rule for rule in rules.rules if rule.pattern.beside]
    found = [extract_pattern(rule.fmt, rule.pattern, frame) for rule in beside]
    for one in found:
        if one.rows is not None:
            rows.setdefault(one.table, []).append(one.rows)
    return [frame["line"][one.matched] for one in found]


def _scan_loud(
    frame: pl.DataFrame, rules: RuleSet, rows: dict[str, list[pl.DataFrame]]
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Apply all rules and signals to a frame; return which rows a pattern knows, are torn, hold a signal."""
    known, claimed = _falses(frame.height), _falses(frame.height)
    if not frame.height:
        return known, claimed, known
    where = literal_rows(frame["text"], rules.literals)
    frame = read_heads(frame)
    for rule in rules.rules:
        candidates = rows_of(where, rule.pattern.literals)
        if candidates is None or rule.pattern.beside:
            continue
        if rule.pattern.unique:
            claimed = claimed.scatter(candidates, True)
        # Of several patterns that match a line the first counts.
        candidates = candidates.filter(~known[candidates])
        found = extract_candidates(rule.fmt, rule.pattern, frame, candidates)
        known = known.scatter(found.matched, True)
        if found.rows is not None:
            rows.setdefault(found.table, []).append(found.rows)
    return known, claimed & ~known, _scan_signals(frame, rules, where, rows)


def _scan_signals(
    frame: pl.DataFrame, rules: RuleSet, where: dict[str, pl.Series], rows: dict[str, list[pl.DataFrame]]
) -> pl.Series:
    """Apply the catalogue to a frame; return which rows hold a signal. The most specific one counts."""
    signalled = _falses(frame.height)
    for signal in rules.signals:
        candidates = where.get(signal.literal)
        if candidates is None:
            continue
        candidates = candidates.filter(~signalled[candidates])
        if not len(candidates):
            continue
        hit, found = build_signal_rows(signal, frame[candidates])
        if found is not None:
            signalled = signalled.scatter(candidates.filter(hit), True)
            rows.setdefault("signals", []).append(found)
    return signalled


def _holds(text: pl.Series, screen: str) -> pl.Series:
    """Return which texts match a screen, which takes as long to understand as to ask of a million lines."""
    return text.str.contains(screen) if len(text) else _falses(0)


def _falses(height: int) -> pl.Series:
    """Return a column of False."""
    return pl.Series("flag", [False]).new_from_index(0, height)
