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
_CUT = r"""[^\s:>\]](?:  +)?|[a-z.,] |[a-z] [a-z]+: |['")}]: |,[0-9]{3} (?:- (?:\w+ - )*)?"""
_GLUED_TO_WORD = rf"({_CUT})({_GLUED})"
#: What a process says last stands behind anything but the prefix of a launcher or of a container.
_GLUED_END = r"([^\s:>\]ZFP] +)(terminate called after throwing an instance of |Fatal Python error: )"
#: No step line holds the stamp of another one.
_GLUED_STAMP = r"(\| .*?|step: .*?)(\[[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}[^\]]{0,7}\] )"


def split_glued(lines: pl.DataFrame, asked: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Return lines (``line``, ``text``) with glued parts set apart in those asked, and which these are."""
    glued = asked & lines["text"].str.contains(_GLUED)
    if not glued.any():
        return lines, glued
    split = lines["text"].str.replace_all(_GLUED, "\r$0")
    return lines.with_columns(text=lines["text"].zip_with(~glued, split)), glued


def split_glued_to_words(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines (``line``, ``text``) with what is glued to a cut line set apart."""
    for glue in (_GLUED_TO_WORD, _GLUED_END, _GLUED_STAMP):
        if lines["text"].str.contains(glue).any():
            lines = lines.with_columns(pl.col("text").str.replace_all(glue, "$1\r$2"))
    return lines
