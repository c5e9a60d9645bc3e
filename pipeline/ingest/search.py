"""Searching every line for the fields of a pattern."""

from __future__ import annotations

import polars as pl

from pipeline.ingest.bars import Labels, read_bars
from pipeline.ingest.regexes import at_head, to_ascii


def search_fields(text: pl.Series, regex: str, labels: Labels) -> tuple[pl.DataFrame, pl.Series]:
    """Return groups and fields between bars by searching every line for them, and which lines matched."""
    groups, hit = match_groups(text, to_ascii(regex))
    return groups.with_columns(field.alias(name) for name, field in read_bars(text, labels)), hit


def match_groups(text: pl.Series, regex: str) -> tuple[pl.DataFrame, pl.Series]:
    """Return the named groups of a regular expression as text columns, and which lines it matched."""
    head = at_head(regex)
    if head is None:
        return _match_groups(text, regex)
    groups, hit = _match_groups(text, head)
    if hit.all():
        return groups, hit
    others, other_hit = _match_groups(text.filter(~hit), regex)
    rows = (~hit).arg_true()
    columns = [groups[name].scatter(rows, others[name]) for name in groups.columns]
    return pl.DataFrame(columns), hit.scatter(rows, other_hit)


def _match_groups(text: pl.Series, regex: str) -> tuple[pl.DataFrame, pl.Series]:
    """Return groups and matched lines; a line may match with every group empty, so such are asked again."""
    found = text.str.extract_groups(regex)
    if not found.struct.fields:
        return pl.DataFrame({"": text}), text.str.contains(regex)
    groups = found.struct.unnest()
    empty = groups.select(pl.all_horizontal(pl.all().is_null()))[:, 0]
    if not empty.any():
        return groups, ~empty
    return groups, ~empty | (empty & text.str.contains(regex))
