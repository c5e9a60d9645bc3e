"""Fields between bars (``| label: number | …``): a line is split once, however many are wanted."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.ingest.regexes import to_ascii

#: Names of fields, each with the labels that they may stand behind.
Labels = tuple[tuple[str, tuple[str, ...]], ...]


def read_bars(text: pl.Series, labels: Labels) -> Iterator[tuple[str, pl.Series]]:
    """Yield for each name the text behind the first of its labels in each line, or null.

    A field ends with a bar: one whose bar is missing may be cut off, and its number with it.
    """
    if not labels or not len(text):
        return
    parts = text.str.split("|")
    first = [part.strip().partition(":")[0] for part in parts[0].to_list()]
    for name, alternatives in labels:
        found = _read_field(text, parts, first, alternatives[0])
        for label in alternatives[1:]:
            if found.null_count():
                found = found.zip_with(found.is_not_null(), _read_field(text, parts, first, label))
        yield name, found


def _read_field(text: pl.Series, parts: pl.Series, first: list[str], label: str) -> pl.Series:
    """Return the text behind one label in each line, or null.

    Programs print the fields of all lines in one order, so a label is looked for where the first line has it;
    lines of another order are read one by one.
    """
    if label not in first:
        there = text.str.contains(f"{label}:", literal=True)
        return (
            _read_one_by_one(text, label)
            if there.any()
            else pl.Series([None], dtype=pl.String).new_from_index(0, len(text))
        )
    place = first.index(label)
    field = parts.list.get(place, null_on_oob=True)
    there = field.str.starts_with(f" {label}:").fill_null(False) & (parts.list.len() > place + 1)
    found = field.str.strip_prefix(f" {label}:").str.strip_chars()
    if there.all():
        return found
    # Elsewhere in the line, or nowhere.
    return found.scatter((~there).arg_true(), _read_one_by_one(text.filter(~there), label))


def _read_one_by_one(text: pl.Series, label: str) -> pl.Series:
    """Return the text behind a label wherever it stands in each line."""
    quoted = "".join(f"\\{c}" if c in "\\.+*?()|[]{}^$" else c for c in label)
    return text.str.extract(to_ascii(rf"\|[ ]+{quoted}:\s+([^\s|]+)\s*\|"))
