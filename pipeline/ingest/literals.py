"""Which lines hold which literals, and which patterns of many match each of them, every one on its own."""

from __future__ import annotations

import polars as pl

from pipeline.ingest.lines import clean_frame
from pipeline.ingest.peel import split_behind_bars
from pipeline.ingest.regexes import to_ascii
from pipeline.ingest.rules import RuleSet


def literal_rows(text: pl.Series, literals: tuple[str, ...]) -> dict[str, pl.Series]:
    """Return for each literal that occurs the positions of the lines that hold it, in order."""
    if not len(text):
        return {}
    found = pl.col("text").str.extract_many(list(literals), overlapping=True)
    hits = text.to_frame("text").select(literal=found).with_row_index("row")
    pairs = hits.explode("literal", empty_as_null=False, keep_nulls=False).unique(maintain_order=True)
    grouped = pairs.group_by("literal", maintain_order=True).agg("row")
    return dict(zip(grouped["literal"].to_list(), grouped["row"], strict=True))


def rows_of(where: dict[str, pl.Series], literals: tuple[str, ...]) -> pl.Series | None:
    """Return the positions of lines that hold one of the literals, in order; None where there are none."""
    found = [where[literal] for literal in literals if literal in where]
    if not found:
        return None
    return found[0] if len(found) == 1 else pl.concat(found).unique().sort()


def match_rules(lines: pl.Series, rules: RuleSet, label: str = "") -> pl.DataFrame:
    """Return ``format, pattern, line`` of every pattern that matches a raw line, each on its own.

    ``label`` matches the label that the lines bear, and is empty where they bear none.
    """
    frame = pl.DataFrame({"text": split_behind_bars(lines)}).with_row_index("line", 1)
    frame = clean_frame(frame.filter(frame["text"].str.contains(rules.screens.all)), label)
    where = literal_rows(frame["text"], rules.literals)
    found = [pl.DataFrame(schema={"format": pl.String, "pattern": pl.String, "line": frame.schema["line"]})]
    for rule in rules.rules:
        candidates = rows_of(where, rule.pattern.literals)
        if candidates is not None:
            candidates = candidates.filter(
                frame["text"][candidates].str.contains(to_ascii(rule.pattern.regex))
            )
            names = {"format": pl.lit(rule.fmt.name), "pattern": pl.lit(rule.pattern.name)}
            found.append(frame[candidates].select(**names, line="line"))
    return pl.concat(found)
