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
            before, found, after = rule.text.partition("$v")
            text = pl.lit(before) + cut + pl.lit(after) if found else pl.lit(rule.text)
            cut = pl.when(cut.is_not_null()).then(text)
        derived.append(cut.alias(name))
    return derived
