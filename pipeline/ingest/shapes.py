"""Lines by their shapes: those that differ in digits only are asked about once, and answered alike.

Most of a large log are a few sentences that every rank prints with other numbers. Whether such a line is
known and holds nothing, or holds nothing that anybody looks for, is the same for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO

import numpy as np
import polars as pl

from pipeline.ingest.glue import has_glued
from pipeline.ingest.peel import behind_prefixes, has_behind_bar
from pipeline.ingest.regexes import is_blind, to_ascii
from pipeline.ingest.rules import RuleSet, alternation, escape

#: The lines of a smaller content are asked one by one.
MIN_BYTES = 1 << 20

#: Where more shapes than this share of the lines are found, they are no help, and not looked for in so many
#: of the next contents.
_MAX_SHARE, _REST = 0.5, 16

#: Bytes that are masked at a time, few enough to stay near the processor.
_PART_BYTES = 1 << 18

_ZERO, _DIGITS = ord("0"), 10


@dataclass(frozen=True, slots=True)
class Settled:
    """What shapes tell of lines; each line has one of these flags.

    Attributes:
        known: it is known, and holds nothing.
        steps: it holds what step lines hold, and may be one.
        asked: it has to be asked itself.
        unknown: nobody looks for anything in it.
        shapes: numbers of the shapes of all lines.
    """

    known: pl.Series
    steps: pl.Series
    asked: pl.Series
    unknown: pl.Series
    shapes: pl.Series


@dataclass(frozen=True, slots=True)
class _Quiet:
    """A pattern that carries nothing and tells no digit from another, as an expression for raw lines."""

    literals: tuple[str, ...]
    regex: str

    def knows(self, text: pl.Series) -> pl.Series:
        """Return which texts it matches."""
        return text.str.contains(self.regex)


@dataclass(slots=True)
class Shapes:
    """What is found out about shapes of lines; it changes the speed of a scan and nothing else.

    ``label`` matches the bare names that label lines of the file.
    """

    rules: RuleSet
    label: str = ""
    _quiet: tuple[_Quiet, ...] = field(init=False)
    _numbered: str = field(init=False)
    _popular: Counter[int] = field(default_factory=Counter)
    _holding: dict[tuple[str, ...], str] = field(default_factory=dict)
    _rest: int = 0

    def __post_init__(self) -> None:
        self._numbered = alternation(self.rules.numbered)
        patterns = (rule.pattern for rule in self.rules.rules if not rule.pattern.table)
        blind = [pattern for pattern in patterns if is_blind((pattern.regex,))]
        # A name with digits may label a line of a shape, and not the next one.
        label = self.label if is_blind((self.label,)) else ""
        raw = ((one.literals, behind_prefixes(to_ascii(one.regex), label)) for one in blind)
        self._quiet = tuple(_Quiet(literals, regex) for literals, regex in raw if regex is not None)

    def settle(self, content: bytes, lines: pl.Series) -> Settled | None:
        """Return what the shapes of the lines of a content tell, which holds no control characters.

        None where asking about shapes would take as long as asking about lines, and where bytes are broken.
        """
        if len(content) < MIN_BYTES:
            return None
        if self._rest:
            self._rest -= 1
            return None
        try:
            shapes = read_shapes(content)
        except pl.exceptions.ComputeError:
            return None
        # Two shapes of one chunk have the same hash once in very many millions of chunks.
        keys = shapes.hash()
        first = keys.arg_unique()
        if len(first) > _MAX_SHARE * len(shapes):
            self._rest = _REST
            return None
        own, distinct = keys[first], shapes[first]
        known, steps, asked = (keys.is_in(own.filter(flag).implode()) for flag in self._judge(distinct))
        named = distinct.str.contains(self._numbered)
        if named.any():
            # Their lines may hold a literal with digits, and those that do not are of their shape.
            present = distinct.filter(named).str.extract_many(list(self.rules.numbered), overlapping=True)
            holds = self._literals_of(tuple(sorted(present.explode().unique())))
            doubt = keys.is_in(own.filter(named).implode())
            asked |= _where(doubt & ~asked, lines, lambda text: text.str.contains(holds))
            known, steps = known & ~asked, steps & ~asked
        return Settled(known, steps, asked, ~(known | steps | asked), keys)

    def _judge(self, shapes: pl.Series) -> tuple[pl.Series, pl.Series, pl.Series]:
        """Return which shapes are known and hold nothing, which are step lines, and which tell neither.

        Of lines that hold a literal with digits they tell nothing.
        """
        blind = self.rules.blind
        frequent = shapes.str.contains(blind.frequent)
        asked = has_behind_bar(shapes)
        steps = _where(frequent & ~asked, shapes, lambda own: own.str.contains(blind.steps))
        chatter = frequent & ~(asked | steps)
        asked |= _where(chatter, shapes, has_glued)
        screened = _where(~(frequent | asked), shapes, lambda own: own.str.contains(blind.all))
        asked |= _where(screened, shapes, lambda own: own.str.contains(blind.loud))
        quiet = _where(screened & ~asked, shapes, self._is_quiet)
        return (chatter & ~asked) | quiet, steps, asked | (screened & ~quiet)

    def _literals_of(self, shapes: tuple[str, ...]) -> str:
        """Return an expression of the literals with digits that have one of some shapes."""
        if shapes not in self._holding:
            self._holding[shapes] = "|".join(_one_of(self.rules.numbered[shape]) for shape in shapes)
        return self._holding[shapes]

    def _is_quiet(self, shapes: pl.Series) -> pl.Series:
        """Return which shapes a pattern knows that carries nothing, and that tells no digit from another."""
        found = pl.Series([False]).new_from_index(0, len(shapes))
        for at, _ in self._popular.most_common():
            found |= _where(~found, shapes, self._quiet[at].knows)
        # To ask for all literals takes longer than for the patterns that know nearly everything.
        if found.all():
            return found
        hits = shapes.filter(~found).str.extract_many(list(self.rules.quiet_literals), overlapping=True)
        present = set(hits.explode().unique())
        for at, pattern in enumerate(self._quiet):
            if not present.isdisjoint(pattern.literals):
                more = _where(~found, shapes, pattern.knows)
                self._popular[at] += int(more.sum())
                found |= more
        return found


def _one_of(literals: Sequence[str]) -> str:
    """Return an expression of literals of one shape, which matches others of theirs as well."""
    return "".join(
        escape(characters.pop()) if len(characters) == 1 else f"[{''.join(sorted(characters))}]"
        for characters in map(set, zip(*literals, strict=True))
    )


def read_shapes(content: bytes) -> pl.Series:
    """Return the lines of a content with zeros for all digits of ASCII."""
    whole = np.frombuffer(content, dtype=np.uint8)
    masked = BytesIO()
    # Room is made at once, and filled in place.
    masked.seek(len(whole) - 1)
    masked.write(b"\0")
    masked.seek(0)
    out = np.frombuffer(masked.getbuffer(), dtype=np.uint8)
    beyond = np.empty(_PART_BYTES, dtype=np.uint8)
    for at in range(0, len(whole), _PART_BYTES):
        part, own = whole[at : at + _PART_BYTES], out[at : at + _PART_BYTES]
        over = beyond[: len(part)]
        # Below zero the difference of bytes wraps around, and is large.
        np.subtract(part, _ZERO, out=over)
        np.less(over, _DIGITS, out=own.view(np.bool_))
        np.multiply(over, own, out=own)
        np.subtract(part, own, out=own)
    del out, own
    return pl.read_lines(masked)["line"]


def _where(asked: pl.Series, text: pl.Series, question: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Return the answers to a question about some texts, and False for the others."""
    answers = question(text.filter(asked))
    return pl.Series([False]).new_from_index(0, len(text)).scatter(asked.arg_true().filter(answers), True)
