"""Records whose message may be evidence: the catalogue of signals reads it as it reads a line of a log."""

from __future__ import annotations

from functools import cache

import polars as pl

from pipeline.formats.format import Pattern
from pipeline.ingest.rules import alternation
from pipeline.ingest.signals import build_signal_rows, load_signals

#: What a line of a log tells about itself; a record tells it in its fields.
_TOLD = ("line", "segment", "text", "rank", "host", "ts_raw", "ts", "ts_quality")


def asks_catalogue(pattern: Pattern) -> bool:
    """Return whether a pattern leaves it to the catalogue which signal a record is, if it is one."""
    return pattern.table == "signals" and "signal_id" not in pattern.columns


def find_signals(rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return the rows of ``signals`` of records, of which ``text`` is the message; None where none is one.

    Of several signals in a message the most specific one counts.
    """
    frame = rows.select(_TOLD).filter(pl.col("text").str.contains(_screen()).fill_null(False))
    found: list[pl.DataFrame] = []
    for signal in load_signals():
        if frame.is_empty():
            break
        held = frame["text"].str.contains(signal.literal, literal=True)
        if not held.any():
            continue
        hit, signals = build_signal_rows(signal, frame.filter(held))
        if signals is not None:
            found.append(signals)
            taken = held.scatter(held.arg_true(), hit)
            frame = frame.filter(~taken)
    return pl.concat(found, how="diagonal").sort("line", maintain_order=True) if found else None


@cache
def _screen() -> str:
    """Return an expression that every message with a signal matches."""
    return alternation(signal.literal for signal in load_signals())
