"""Sampled lines of files → which bare names at the heads of their lines are labels, and not words of them.

Launchers of several hosts and collectors put the name of the host before each line that they pass on, with
nothing around it that tells it from a word (``gx017: text``, but also ``step1: text``). One line alone does
not tell which it is; a file does. A label stands again and again before lines that programs print by
themselves: some pattern knows them without it. What a program prints with a name of its own before it is
known with that name, or not at all. Before the prefix of another transport once is enough, and before the
head of a program's line: no program prints those behind a name of its own, and an error stream may hold one
line of a rank alone. A log may hold two lines of its trainer, the second of which is cut: of those that a
name stands before, one is enough that proves its program.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl

from pipeline.formats import registry
from pipeline.ingest.literals import match_rules
from pipeline.ingest.peel import LABEL, NAMED, STACK
from pipeline.ingest.rules import NEVER, rules_of_all

#: Known lines that a name must stand before, so that it is a label.
LEAST_LINES = 2

#: Lines of a file with a bare name that are looked at, at most about twice as many, from all over it.
MAX_LINES = 3000

#: Names of a file that are asked, the most frequent ones, and shapes of lines behind each of them.
MAX_NAMES, MAX_SHAPES = 50, 100

#: A date has the form of a task's name and number.
_DATE = r"^[0-9._-]+/"
_DIGITS = r"[0-9]+"

#: Characters of a line that its shape is told by.
_SHAPE_CHARS = 120


def find_labels(lines: pl.DataFrame, files: int) -> list[str]:
    """Return for each file an expression for the labels of its lines, which is empty where they have none.

    Hosts are numbered, and a sample does not show all of them: an expression takes any number for another.

    Args:
        lines: ``file``, the number of a file from 0, and ``text``, raw lines of it.
        files: how many files there are.
    """
    labels = [""] * files
    named = _candidates(lines)
    if named.is_empty():
        return labels
    behind, alone = _known(named["rest"]), _known(named["text"])
    known = _holds(named["rest"], behind)
    own = _holds(named["text"], alone) & ~known | named["text"].str.contains(_own_heads())
    proof = _holds(named["rest"], behind.filter(_decides()))
    judged = named.with_columns(behind=known & ~own, own=own, proof=proof & ~own)
    told = judged.group_by("file", "name", maintain_order=True).agg(
        pl.col("lines").filter(kind).sum().alias(kind) for kind in ("behind", "own", "proof")
    )
    enough = (pl.col("behind") >= LEAST_LINES) | (pl.col("proof") > 0)
    told = told.filter(enough & (pl.col("behind") > pl.col("own")))
    for file, names in told.group_by("file", maintain_order=True).agg("name").rows():
        labels[file] = "|".join(sorted({_form(name) for name in names}))
    return labels


def _candidates(lines: pl.DataFrame) -> pl.DataFrame:
    """Return ``file, name, text, rest, lines``: one of the lines of each shape behind each bare name."""
    named = lines.filter(pl.col("text").str.contains(NAMED))
    every = (pl.len().over("file") // MAX_LINES).clip(1)
    named = named.filter(pl.int_range(pl.len()).over("file") % every == 0)
    named = named.with_columns(pl.col("text").str.replace(STACK, ""))
    named = named.with_columns(name=pl.col("text").str.extract(rf"^({LABEL})"))
    named = named.filter(~pl.col("name").str.contains(_DATE)).with_columns(
        rest=pl.col("text").str.replace(rf"^{LABEL}", "")
    )
    # A name that stands there once is none that is put before lines, but for one before a prefix or a head.
    headed = pl.col("rest").str.contains(STACK) | pl.col("rest").str.contains(_own_heads())
    weight = pl.when(headed).then(LEAST_LINES).otherwise(1)
    named = named.with_columns(weight=weight)
    named = named.filter(pl.col("weight").sum().over("file", "name") >= LEAST_LINES)
    shape = pl.col("rest").str.head(_SHAPE_CHARS).str.replace_all(_DIGITS, "#").alias("shape")
    shapes = named.group_by("file", "name", shape, maintain_order=True).agg(
        pl.col("text", "rest").first(), lines=pl.col("weight").sum()
    )
    shapes = shapes.filter(pl.int_range(pl.len()).over("file", "name") < MAX_SHAPES)
    rank = pl.col("lines").sum().over("file", "name").rank("dense", descending=True).over("file")
    return shapes.filter(rank <= MAX_NAMES)


def _known(text: pl.Series) -> pl.DataFrame:
    """Return ``format, pattern, line`` of every pattern of any format that knows a line."""
    return pl.concat([match_rules(text, rules_of_all(primary)) for primary in (True, False)])


def _holds(text: pl.Series, matches: pl.DataFrame) -> pl.Series:
    """Return which lines are among those that were matched."""
    numbers = pl.int_range(1, len(text) + 1, dtype=pl.Int64, eager=True)
    return numbers.is_in(matches["line"].implode())


@cache
def _decides() -> pl.Expr:
    """Return whether a match of a pattern proves its program."""
    deciding = [f"{fmt.name}.{name}" for fmt in registry().values() for name in fmt.deciding]
    return pl.concat_str("format", pl.lit("."), "pattern").is_in(deciding)


@cache
def _own_heads() -> str:
    """Return an expression for lines that begin as those of a program do, be it with a name."""
    heads = sorted({head.regex for fmt in registry().values() for head in fmt.heads})
    return f"^(?:{'|'.join(heads) or NEVER})"


def _form(name: str) -> str:
    """Return an expression for names like one, whatever their numbers are."""
    return re.sub(_DIGITS, "[0-9]+", re.escape(name).replace(r"\ ", " "))
