"""Lines that no pattern knows → their most frequent shapes, from a bounded sample."""

from __future__ import annotations

import polars as pl

from pipeline.ingest.peel import strip_prefixes
from pipeline.ingest.secrets import mask_text
from pipeline.ingest.signals import TEXT_LENGTH

#: Shapes that are kept of one file.
MAX_TEMPLATES = 1000

#: Lines that are looked at: of the first chunk of a file, and of each later one.
FIRST_LINES, LATER_LINES = 3_000, 250

#: Shapes that are counted while a file is read; more than this is a file without shapes.
_MAX_COUNTED = 20_000

_MASKS: tuple[tuple[str, str], ...] = (
    (r"0x[0-9a-fA-F]+", "<hex>"),
    (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{13,}", "<hex>"),
    (r"(?:[A-Za-z]:|\.{1,2})?(?:/[A-Za-z0-9_.@%+,=~-]+){2,}/?", "<path>"),
    (r"\b[0-9]+\b", "<n>"),
    (r"\b[0-9a-fA-F]{8,}\b", "<hex>"),
    (r"(?:[0-9]+|<n>)(?:[.,:eE+-]+(?:[0-9]+|<n>))*", "<n>"),
    (r"\s+", " "),
)


def mask_lines(lines: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return ``template, example, example_line`` of lines (columns ``line``, ``text``) that are not empty.

    ``label`` matches the label that they bear, and is empty where they bear none.
    """
    # Secrets first: a mask of numbers would leave the rest of one to be read.
    text = mask_text(strip_prefixes(lines["text"], label).str.head(2 * TEXT_LENGTH).str.strip_chars())
    text = text.str.head(TEXT_LENGTH)
    template = text
    for regex, mask in _MASKS:
        template = template.str.replace_all(regex, mask)
    shapes = pl.DataFrame({"template": template, "example": text, "example_line": lines["line"]})
    return shapes.filter(pl.col("template") != "")


def count_templates(shapes: pl.DataFrame) -> pl.DataFrame:
    """Return ``template, count, example, example_line`` of masked lines, in order of their first lines."""
    return shapes.group_by("template", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("count"), pl.col("example", "example_line").first()
    )


def merge_templates(counted: pl.DataFrame | None, new: pl.DataFrame) -> pl.DataFrame:
    """Return the counts of two sets of shapes together: the most frequent ones, then by text."""
    if counted is not None:
        new = (
            pl.concat([counted, new])
            .group_by("template", maintain_order=True)
            .agg(pl.col("count").sum(), pl.col("example").first(), pl.col("example_line").first())
        )
    return new.sort("count", "template", descending=[True, False]).head(_MAX_COUNTED)


def take_sample(unknown: pl.DataFrame, *, first: bool) -> pl.DataFrame:
    """Return a bounded number of unknown lines from all over a chunk."""
    limit = FIRST_LINES if first else LATER_LINES
    return unknown.gather_every(max(1, -(-unknown.height // limit)))
