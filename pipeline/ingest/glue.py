"""Lines that came into a file past everybody's buffers, in the middle of another line.

What is glued becomes a part of the line of its own, as what stands behind a carriage return is one.
"""

from __future__ import annotations

import polars as pl

#: What is glued to a line that was cut.
_GLUED = (
    r"slurmstepd(?:-[A-Za-z0-9_.-]+)?: (?:error|fatal)|srun: error: |\[rank[0-9]+\]:\[[EWF]"
    r"|Traceback \(most recent call last\)"
)
#: Behind another line that was cut: prefixes end with neither a letter nor a word, nor a quoted or a second
#: word and a colon, nor the head of a logger.
_CUT = r"""[^\s:>\]](?:  +)?|[a-z.,] |[a-z] [a-z]+: |\| [a-z_]+: |['")}]: |,[0-9]{3} (?:- (?:\w+ - )*)?"""
_GLUED_TO_WORD = rf"({_CUT})({_GLUED})"
#: What a process says last stands behind anything but the prefix of a launcher or of a container.
_GLUED_END = (
    r"([^\s:>\]ZFP] +|\| [a-z_]+: )"
    r"(terminate called after throwing an instance of |Fatal Python error: )"
)
#: No step line holds the stamp of another one.
_GLUED_STAMP = (
    r"(\| .*?|step: .*?)(\[(?:NeMo [A-Z] )?"
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[^\]]{0,7}| [a-z_]+:[0-9]+)\] )"
)
_LOGGED_AT = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}"
#: What Ray says when it starts, behind the last line of the program before.
_GLUED_RAY = rf"({_CUT})({_LOGGED_AT}\s(?:INFO|WARNING|ERROR) [a-z_]+\.py:[0-9]+ -- )"
#: The head of a line of a logger. No other line of it holds one.
_LOGGED = rf"(?:{_LOGGED_AT} - [A-Za-z_0-9.]+ - [A-Z]+ - |\[{_LOGGED_AT}\] \[[A-Z]+\] )"
_LOGGED_TWICE = rf"{_LOGGED}.*{_LOGGED}"
_GLUED_LOGGED = rf"({_CUT})({_LOGGED})"


def has_glued(text: pl.Series) -> pl.Series:
    """Return which texts, that begin with something of their own, hold what may be glued to it."""
    return text.str.contains(_GLUED)


def split_glued(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines (``line``, ``text``) that begin as lines do, with what is glued to them set apart."""
    if not has_glued(lines["text"]).any():
        return lines
    return lines.with_columns(pl.col("text").str.replace_all(_GLUED, "\r$0"))


def split_glued_to_words(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines (``line``, ``text``) with what is glued to a cut line set apart."""
    for glue in (_GLUED_TO_WORD, _GLUED_END, _GLUED_STAMP, _GLUED_RAY):
        if lines["text"].str.contains(glue).any():
            lines = lines.with_columns(pl.col("text").str.replace_all(glue, "$1\r$2"))
    twice = lines["text"].str.contains(_LOGGED_TWICE)
    if twice.any():
        apart = lines["text"].str.replace_all(_GLUED_LOGGED, "$1\r$2")
        lines = lines.with_columns(text=lines["text"].zip_with(~twice, apart))
    return lines
