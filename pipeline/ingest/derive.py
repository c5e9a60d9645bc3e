"""Fields of records that are cut out of other fields."""

from __future__ import annotations

import polars as pl

from pipeline.formats.format import Format


def derived_fields(fmt: Format) -> list[pl.Expr]:
    """Return the derived fields as expressions over the others."""
    derived = []
    for name, rule in fmt.derive.items():
        cut = pl.coalesce(pl.col(*rule.fields)).str.extract(rule.regex, 1)
        if rule.text != "$v":
            before, _, after = rule.text.partition("$v")
            cut = pl.lit(before) + cut + pl.lit(after)
        derived.append(cut.alias(name))
    return derived
