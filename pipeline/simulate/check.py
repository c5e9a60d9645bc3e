"""A ledger against the truth: the first interval that differs, with what either side says of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

#: What a ledger calls time that was held and that nobody saw.
UNSEEN = "unobserved"


class Span(NamedTuple):
    """A span of a run as one side sees it.

    Attributes:
        incident: number of the attempt whose end brought it about; 0 for none.
        gpus: its width.
        evidence: the line that says so; of the truth, the end that brought it about, or the attempt.
    """

    start_us: int
    end_us: int
    category: str
    incident: int
    gpus: int = 0
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch about which the two sides differ, by more than logs allow."""

    run: str
    start_us: int
    end_us: int
    truth: Span | None
    ledger: Span | None


@dataclass(frozen=True, slots=True)
class Slack:
    """How far a boundary of the ledger may lie from the true one, in microseconds.

    Attributes:
        boundary: stamp resolution plus one log interval.
        stamped: stamp resolution alone, for boundaries of categories that logs stamp.
        exact: those categories.
        blind: spans of which the only line is not in the logs; nothing in them can be told.
        untold: spans of which no line tells when anything was; a ledger that says so is right.
    """

    boundary: int
    stamped: int
    exact: frozenset[str] = frozenset()
    blind: tuple[tuple[int, int], ...] = ()
    untold: tuple[tuple[int, int], ...] = ()

    def at(self, *categories: str) -> int:
        """Return the slack at a boundary between categories."""
        return self.stamped if self.exact.intersection(categories) else self.boundary

    def hides(self, start: int, end: int) -> bool:
        """Return whether a stretch lies in a blind span, as far as its own boundaries can be told."""
        return self._lies(start, end, self.blind)

    def allows_ignorance(self, start: int, end: int) -> bool:
        """Return whether nobody saw what the time of a stretch was spent on."""
        return self._lies(start, end, self.untold)

    def _lies(self, start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
        """Return whether a stretch lies in one of some spans, as far as its own boundaries can be told."""
        near = self.boundary
        return any(begin - near <= start and end <= until + near for begin, until in spans)


def differences(
    run: str, truth: Iterable[Span], ledger: Iterable[Span], slack: Slack
) -> Iterator[Difference]:
    """Yield where two tilings of a life differ and no true boundary is near enough to excuse it."""
    true_spans, told_spans = merged(truth), merged(ledger)
    edges = sorted({edge for span in true_spans for edge in (span.start_us, span.end_us)})
    for start, end, true, told in _overlay(true_spans, told_spans):
        if true is told or (true is not None and told is not None and _same(true, told)):
            continue
        if told is not None and told.category == UNSEEN and slack.allows_ignorance(start, end):
            continue
        allowed = slack.at(*(span.category for span in (true, told) if span is not None))
        if not (_excused(start, end, edges, allowed) or slack.hides(start, end)):
            yield Difference(run, start, end, true, told)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, neighbours of one category, incident and width joined."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and found[-1].end_us == span.start_us and _same(found[-1], span):
            found[-1] = found[-1]._replace(end_us=span.end_us)
        elif span.end_us > span.start_us:
            found.append(span)
    return found


def _same(one: Span, other: Span) -> bool:
    """Return whether two spans are of one category, incident and width."""
    return one[2:5] == other[2:5]


def _overlay(
    one: Sequence[Span], other: Sequence[Span]
) -> Iterator[tuple[int, int, Span | None, Span | None]]:
    """Yield each stretch in which neither side changes, with the span of either side, where it has one."""
    cuts = sorted({edge for span in (*one, *other) for edge in (span.start_us, span.end_us)})
    at = [0, 0]
    for start, end in pairwise(cuts):
        there: list[Span | None] = []
        for side, spans in enumerate((one, other)):
            while at[side] < len(spans) and spans[at[side]].end_us <= start:
                at[side] += 1
            span = spans[at[side]] if at[side] < len(spans) else None
            there.append(span if span is not None and span.start_us <= start else None)
        yield start, end, there[0], there[1]


def _excused(start: int, end: int, edges: Sequence[int], allowed: int) -> bool:
    """Return whether a stretch lies as near to one true boundary as allowed."""
    at = bisect_left(edges, end - allowed)
    return at < len(edges) and edges[at] <= start + allowed
