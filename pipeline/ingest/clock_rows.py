"""The few event rows that clocks are read from, kept while the others are only counted.

Zones, years and offsets depend on the ends of what a file prints, on the turns of the year in it, on what
accounting says of jobs, on steps that several hosts print, and on when hosts tell of faults. The ledger
infers them from all rows; a look that keeps nothing else infers them by the same SELECTs from these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from pipeline.config import Config
from pipeline.ingest.habits import build_formats
from pipeline.ingest.sources import build_sources
from pipeline.ingest.store import Entry
from pipeline.ingest.values import POLARS_TYPES
from pipeline.tables import EVENT_TABLES

#: Tables whose rows carry the times of programs.
TIMED = ("steps", "phases", "checkpoints", "signals")

#: Step rows of a file that are kept for comparison with the same steps of other hosts.
STEP_ROWS = 4000

#: So few rows are kept as they are: to choose among them would take longer.
FEW_ROWS = 200

#: Half a year: stamps without one that fall back by so much begin a new one.
_HALF_A_YEAR = 183 * 86_400 * 1_000_000


class ClockRows:
    """What was kept of one source, by table."""

    def __init__(self) -> None:
        self.tables: dict[str, list[pl.DataFrame]] = {}
        self._steps = 0

    def keep(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keep what tells of clocks in some of the rows of the source, in order of its lines."""
        for name, rows in tables.items():
            if not rows.height:
                continue
            if name == "allocations":
                self.tables.setdefault(name, []).append(rows)
            elif name in TIMED:
                kept = [_ends(rows)]
                if name == "steps" and self._steps < STEP_ROWS:
                    kept.append(rows.head(STEP_ROWS - self._steps))
                    self._steps += kept[-1].height
                if name == "signals":
                    kept.append(_minutes(rows))
                self.tables.setdefault(name, []).extend(kept)


def _ends(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the ends of each quality, and those around a turn of the year."""
    rows = rows.filter(pl.col("ts").is_not_null())
    if rows.height <= FEW_ROWS:
        return rows
    time, quality = pl.col("ts"), pl.col("ts_quality")
    place = pl.int_range(pl.len())
    moved = time.to_physical().diff().abs().over("ts_quality") > _HALF_A_YEAR
    turned = (quality == "year_assumed") & (moved | moved.shift(-1)).fill_null(False)
    ends = (
        (time == time.min().over("ts_quality"))
        | (time == time.max().over("ts_quality"))
        | (place == place.min().over("ts_quality"))
        | (place == place.max().over("ts_quality"))
    )
    return rows.filter(ends | turned).unique(["ts", "ts_quality"], maintain_order=True, keep="any")


def _minutes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the first row of each signal, host and minute, to be compared with the ends of jobs."""
    keys = [pl.col(name) for name in ("signal_id", "host") if name in rows.columns]
    return rows.filter(pl.col("ts").is_not_null()).filter(
        pl.struct(*keys, pl.col("ts").dt.truncate("1m")).is_first_distinct()
    )


def write_clock_store(
    folder: Path, entries: Sequence[Entry], kept: Mapping[str, ClockRows], config: Config
) -> None:
    """Write what was kept as a store of event tables into an empty folder.

    Args:
        folder: where to.
        entries: of all sources, in order.
        kept: what was kept, by name of the source.
        config: what was configured.
    """
    rows: dict[str, list[pl.DataFrame]] = {}
    for entry in entries:
        if entry.name not in kept:
            continue
        source = pl.lit(entry.row["source_id"]).alias("source_id")
        for name, frames in kept[entry.name].tables.items():
            rows.setdefault(name, []).extend(frame.with_columns(source) for frame in frames)
    given = {"sources": build_sources(list(entries), config), "formats": build_formats()}
    for name, table in EVENT_TABLES.items():
        (folder / "events" / name).mkdir(parents=True)
        whole = given.get(name)
        if name in rows:
            # Rows bring the columns that their patterns fill. A row may have been kept for two reasons.
            told = pl.concat(rows[name], how="diagonal")
            whole = told.select(
                (pl.col(column.name) if column.name in told.columns else pl.lit(None))
                .cast(POLARS_TYPES[column.type])
                .alias(column.name)
                for column in table.columns
            ).unique(maintain_order=True)
        if whole is not None:
            whole.write_parquet(folder / "events" / name / "part-0.parquet")
