"""Lines of one layout: where a program prints a million lines alike, fields are cut out instead of searched.

Two lines have the same layout when they differ in digits only. An expression that tells no digit from
another matches both at the same places. So it is enough to search one line of each layout, and to cut the
others there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline.ingest.bars import Labels
from pipeline.ingest.search import search_fields

Spans = Mapping[str, tuple[int, int]]

#: Fewer lines than this are searched one by one.
MIN_LINES = 64

#: Layouts that are tried in lines of one length, and lengths that are tried.
_MAX_LAYOUTS = 8
_MAX_LENGTHS = 6

_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")


def cut_fields(text: pl.Series, regex: str, labels: Labels) -> pl.DataFrame | None:
    """Return for lines of common layouts ``row`` and the texts of the fields, as searching would give them.

    Fields are the named groups of ``regex``, and for each name of ``labels`` what stands between bars behind
    the first label that the line has. Lines that are not in the result have to be searched. None where
    nothing can be said.
    """
    if len(text) < MIN_LINES or _finder(regex, labels) is None:
        return None
    lengths = text.str.len_bytes()
    found: list[pl.DataFrame] = []
    for length, count in lengths.value_counts(sort=True).head(_MAX_LENGTHS).rows():
        if count < MIN_LINES or not length:
            break
        rows = (lengths == length).arg_true().to_numpy()
        joined = text[rows].str.join("")[0].encode()
        if not joined.isascii():
            continue
        alike = np.frombuffer(joined.translate(_DIGITS_ALIKE), dtype=np.uint8).reshape(-1, length)
        for _ in range(_MAX_LAYOUTS):
            if len(rows) < MIN_LINES:
                break
            same = (alike == alike[0]).all(axis=1)
            spans = _spans(alike[0].tobytes().decode("ascii"), regex, labels)
            if spans is not None:
                found.append(_cut(text, rows[same], spans))
            rows, alike = rows[~same], alike[~same]
    return pl.concat(found).sort("row") if found else None


def _cut(text: pl.Series, rows: NDArray[np.uint32], spans: Spans) -> pl.DataFrame:
    """Return the fields of lines of one layout."""
    lines = pl.DataFrame({"row": rows, "text": text[rows]})
    fields = [
        (pl.col("text").str.slice(start, end - start) if start >= 0 else pl.lit(None, pl.String)).alias(name)
        for name, (start, end) in spans.items()
    ]
    return lines.select("row", *fields)


@lru_cache(maxsize=10_000)
def _spans(line: str, regex: str, labels: Labels) -> Spans | None:
    """Return where the fields of lines of a layout are, or None where the expression does not match them.

    Where a field is cannot be told by the engine that searches columns, and the one that tells it might read
    the expression otherwise: only where both agree on the line it is believed.
    """
    find = _finder(regex, labels)
    match = find.search(line) if find is not None else None
    if match is None:
        return None
    spans = {name: match.span(name) for name in match.re.groupindex}
    for name, alternatives in labels:
        spans[name] = next((span for span in (_bar(line, label) for label in alternatives) if span), (-1, -1))
    searched, hit = search_fields(pl.Series([line]), regex, labels)
    cut = {name: line[start:end] if start >= 0 else None for name, (start, end) in spans.items()}
    return spans if hit[0] and searched.row(0, named=True) == cut else None


def _bar(line: str, label: str) -> tuple[int, int] | None:
    """Return where the text behind a label between bars is, without blanks around it."""
    match = re.search(rf"\| +{re.escape(label)}:\s+(?P<v>[^\s|]+)\s*\|", line)
    return match.span("v") if match else None


@cache
def _finder(regex: str, labels: Labels) -> re.Pattern[str] | None:
    """Return the expression for one line, or None where it has no fields or might tell digits apart."""
    bare = re.sub(r"\s#.*", "", regex) if regex.startswith("(?x)") else regex
    bare = re.sub(r"\{\d+(?:,\d*)?\}", "", bare).replace("0-9", "")
    words = [bare, *(label for _, alternatives in labels for label in alternatives)]
    if any(char.isdigit() for word in words for char in word):
        return None
    try:
        find = re.compile(regex, re.ASCII)
    except re.error:
        return None
    return find if find.groupindex or labels else None
