"""Lines that came into a file past everybody's buffers, in the middle of another line.

What is glued becomes a part of the line of its own, as what stands behind a carriage return is one. How such
lines begin is a field of their format; whatever the format of a file, it may hold those of all others.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import Behind
from pipeline.ingest.rules import NEVER

#: Behind another line that was cut: prefixes end with neither a letter nor a word, nor a quoted or a second
#: word and a colon, be there a blank behind it or not yet, nor the head of a logger.
_CUT = (
    r"""[^\s:>\]](?:  +)?|[a-z.,] |[a-z] [a-z]+: |\| [a-z_]+: |['"]: ?|[)}]: """
    r"|,[0-9]{3} (?:>> |- (?:\w+ - )*)?"
)
#: Behind a word in brackets; prefixes in brackets end with a number, or name a container behind a slash.
_BRACKETS = r"\[[^\[\]/]*[^\[\]/0-9]\] "
#: Where a step line was cut between two of its fields.
_FIELD = r"\| "
#: What a process says last stands behind anything but the prefix of a launcher or of a container.
_SAID = r"[^\s:>\]]|[^\s:>\]ZFP] +|\| [a-z_]+: "
#: No step line holds the stamp of another one.
_STEP = r"\| .*?|step: .*?"


@cache
def _heads(*behind: Behind) -> str:
    """Return an expression that matches the heads which may stand behind something of some kinds."""
    found = sorted({head.regex for fmt in registry().values() for head in fmt.heads if head.behind in behind})
    return "|".join(found) or NEVER


@cache
def _glued() -> tuple[str, ...]:
    """Return expressions of what a line ends with (group 1) and what is glued to it (group 2), in order."""
    behind = (
        (f"{_CUT}|{_BRACKETS}", _heads("any")),
        (_SAID, _heads("words")),
        (_STEP, _heads("step")),
        (_CUT, _heads("cut", "message")),
    )
    return tuple(f"({end})({heads})" for end, heads in behind)


def has_glued(text: pl.Series) -> pl.Series:
    """Return which texts, that begin with something of their own, hold what may be glued to it."""
    return text.str.contains(_heads("any", "message"))


def split_glued(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines (``line``, ``text``) that begin as lines do, with what is glued to them set apart."""
    if not has_glued(lines["text"]).any():
        return lines
    return lines.with_columns(pl.col("text").str.replace_all(_heads("any", "message"), "\r$0"))


def split_glued_to_words(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines (``line``, ``text``) with what is glued to a cut line set apart."""
    for glue in _glued():
        if lines["text"].str.contains(glue).any():
            lines = lines.with_columns(pl.col("text").str.replace_all(glue, "$1\r$2"))
    head = f"(?:{_heads('twin')})"
    # No other line of a logger holds the head of one.
    twice = lines["text"].str.contains(f"{head}.*{head}")
    if twice.any():
        apart = lines["text"].str.replace_all(f"({_CUT}|{_FIELD})({head})", "$1\r$2")
        lines = lines.with_columns(text=lines["text"].zip_with(~twice, apart))
    return lines
