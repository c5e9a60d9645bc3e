"""Last lines that nothing ends: a number at their end may be the head of a longer one.

A program that is still writing, or a host that went down, leaves a last line without an end. What it says is
read as that of any other line, except for a number that stands at its very end: ``Xid …: 13`` may be what is
left of ``Xid …: 137``. A signal counts there only where it would be told by the longer number as well, which
leaves the general signal of its kind, and the number itself is not kept.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import polars as pl

from pipeline.ingest.scan import Scan
from pipeline.ingest.signals import TEXT_LENGTH, load_signals


def settle_unended(scan: Scan, lines: Collection[int]) -> Scan:
    """Return what was found without what only a number at the end of lines without an end tells.

    Args:
        scan: what was found in lines that are numbered from 1.
        lines: numbers of the lines that no end of a line follows.
    """
    rows = scan.tables.get("signals")
    if rows is None or not lines:
        return scan
    # A text of full length was cut by the store, behind which nothing is known of its end.
    doubtful = (
        pl.col("line").is_in(list(lines))
        & pl.col("text").str.contains(r"[0-9]$")
        & (pl.col("text").str.len_chars() < TEXT_LENGTH)
    )
    found = rows.with_row_index("at").filter(doubtful)
    if found.is_empty():
        return scan
    named = [_certain_signal(text) for text in found["text"]]
    settled = found.with_columns(pl.Series("signal_id", named, dtype=rows.schema["signal_id"])).filter(
        pl.col("signal_id").is_not_null()
    )
    if "code" in rows.columns:
        at_end = pl.col("text").str.ends_with(pl.col("code"))
        settled = settled.with_columns(code=pl.when(at_end).then(None).otherwise(pl.col("code")))
    rest = rows.with_row_index("at").filter(~doubtful)
    signals = pl.concat([rest, settled]).sort("at").drop("at")
    return replace(scan, tables={**scan.tables, "signals": signals})


def _certain_signal(text: str) -> str | None:
    """Return the most specific signal of a line whatever digit would follow it, or nothing."""
    longer = pl.Series([text, *(f"{text}{digit}" for digit in range(10))])
    for signal in load_signals():
        if signal.literal in text and signal.matches(longer).all():
            return signal.signal_id
    return None
