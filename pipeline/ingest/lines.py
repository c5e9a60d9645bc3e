"""A column of raw lines → the frame that patterns are applied to."""

from __future__ import annotations

import polars as pl

from pipeline.ingest.peel import peel_prefixes, split_segments, strip_escapes


def build_frame(lines: pl.Series, first_line: int) -> pl.DataFrame:
    """Return ``line, segment, text, rank, host, stamp`` of raw lines that are numbered from a first one."""
    numbers = pl.int_range(first_line, first_line + len(lines), dtype=pl.Int64, eager=True)
    return clean_frame(pl.DataFrame({"line": numbers, "text": lines}))


def clean_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame of ``line`` and ``text`` split at carriage returns, without escapes and prefixes."""
    segments = split_segments(frame)
    return peel_prefixes(segments.with_columns(strip_escapes(segments["text"])))
