"""The catalogue of signals and the taxonomy of causes, as rows, and what ingest takes lines for."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl

from pipeline.ingest.lines import build_frame
from pipeline.ingest.signals import load_signals

ROOT = Path(__file__).resolve().parents[1]
SEEDS = ROOT / "sql" / "seeds"

SIGNALS = (
    pl.read_csv(SEEDS / "signals.csv", infer_schema=False)
    .with_columns(pl.all().fill_null(""))
    .rows(named=True)
)
CAUSES = (
    pl.read_csv(SEEDS / "causes.csv", infer_schema=False)
    .with_columns(pl.all().fill_null(""))
    .rows(named=True)
)
BY_ID = {row["signal_id"]: row for row in SIGNALS}
KINDS = {row["code"]: row["kind"] for row in CAUSES}


@cache
def chosen(lines: tuple[str, ...]) -> list[str | None]:
    """Return for each line the signal that ingest takes: the most specific one that matches."""
    frame = build_frame(pl.Series(lines, dtype=pl.String), 1)
    best: list[str | None] = [None] * frame.height
    for signal in load_signals():
        hit = frame["text"].str.contains(signal.literal, literal=True)
        for at in (hit & signal.matches(frame["text"])).arg_true():
            best[at] = best[at] or signal.signal_id
    return best


def evidence(*lines: str) -> list[str]:
    """Return the signals of lines that may decide a cause, noise left out."""
    return [name for name in chosen(lines) if name and BY_ID[name]["weight"] != "noise"]
