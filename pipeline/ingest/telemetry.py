"""Samples of devices, thinned while they are read: a fleet leaves more of them than of all else together.

The grain stays "one row per sampled value": rows are left out, never averaged, and what is left still has its
line. A mean over hours hardly changes; a spike of seconds may be missed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from pipeline.formats import group_names
from pipeline.formats.format import Pattern

#: Samples of one metric of one device in one file that are kept one by one; after them one a minute is.
MAX_SAMPLES = 1000

_SERIES = ("host", "gpu", "metric")


@dataclass(slots=True)
class Thinner:
    """Which samples of a file are kept, chunk by chunk: how many there were, and when the last one was.

    Attributes:
        limit: samples of one series that are kept one by one.
        series: columns that tell samples of one metric of one device of one file from others.
        state: number and last minute of the samples that were kept, for each series.
    """

    limit: int = MAX_SAMPLES
    series: tuple[str, ...] = _SERIES
    state: pl.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        names = dict.fromkeys(self.series, pl.String())
        self.state = pl.DataFrame(schema={**names, "kept": pl.Int64(), "minute": pl.Datetime("us", "UTC")})

    def thin(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of ``telemetry`` that are kept, in their order.

        A value that could not be read is none, and beyond the limit one without a time is not kept either.
        """
        rows = rows.filter(pl.col("value").is_finite().fill_null(False))
        if rows.is_empty():
            return rows
        marked = rows.with_columns(pl.col("ts").dt.truncate("1m").alias("minute")).join(
            self.state,
            on=list(self.series),
            how="left",
            nulls_equal=True,
            suffix="_before",
            maintain_order="left",
        )
        number = pl.int_range(1, pl.len() + 1).over(self.series) + pl.col("kept").fill_null(0)
        fresh = pl.struct(*self.series, "minute").is_first_distinct() & pl.col("minute").is_not_null()
        fresh &= pl.col("minute").ne_missing(pl.col("minute_before"))
        kept = marked.filter((number <= self.limit) | fresh)
        self._remember(kept)
        return kept.select(rows.columns)

    @staticmethod
    def may_keep(pattern: Pattern, fields: pl.DataFrame) -> pl.Series:
        """Return which records of telemetry are worth reading: all that `thin` may keep, by a look at texts.

        Reading times and numbers costs more than all else, and of a long file most would be dropped again.
        """
        names = [
            name
            for column in _SERIES
            if column in pattern.columns
            for name in group_names(pattern.columns[column].group)
            if name in fields.columns
        ]
        stamps = group_names(pattern.columns["ts"].group) if "ts" in pattern.columns else ()
        stamp = pl.coalesce(*(name for name in stamps if name in fields.columns), pl.lit(None, pl.String))
        # Of 2026-03-01 10:11:12 the minute, of seconds since the epoch too; of anything else all is kept.
        minute = (
            pl.when(stamp.str.contains(r"^\d{4}.\d\d.\d\d.\d\d:"))
            .then(stamp.str.head(16))
            .when(stamp.str.contains(r"^\d{9,10}(?:\.\d+)?$"))
            .then((stamp.str.extract(r"^(\d+)").cast(pl.Int64) // 60).cast(pl.String))
            .otherwise(stamp)
        )
        if fields.height <= MAX_SAMPLES:
            return pl.repeat(True, fields.height, dtype=pl.Boolean, eager=True)
        number = pl.int_range(1, pl.len() + 1)
        return fields.select(
            keep=(number.over(names) if names else number).le(MAX_SAMPLES)
            | (pl.struct(*names, minute.alias("^minute")).is_first_distinct() & stamp.is_not_null())
        )["keep"]

    def _remember(self, kept: pl.DataFrame) -> None:
        """Bring the state up to date by the rows that were kept."""
        new = kept.group_by(self.series, maintain_order=True).agg(
            pl.len().cast(pl.Int64).alias("kept"), pl.col("minute").last()
        )
        self.state = (
            pl.concat([self.state, new.select(self.state.columns)])
            .group_by(self.series, maintain_order=True)
            .agg(pl.col("kept").sum(), pl.col("minute").last())
        )
