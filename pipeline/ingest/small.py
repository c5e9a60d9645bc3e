"""Small files of lines, read together: one question to all of them at once, and an account of each.

What a file holds does not depend on its company. A file that is not plainly small is left to the reader of
whole files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from pipeline.ingest.account import KNOWN_LINE, TORN_LINE, UNKNOWN_LINE, Account
from pipeline.ingest.chunks import CHUNK_BYTES, chunk_digest, read_whole
from pipeline.ingest.limits import bound_rows
from pipeline.ingest.lines import is_unended, join_contents, read_lines
from pipeline.ingest.probe import Probe
from pipeline.ingest.rules import rules_for
from pipeline.ingest.scan import Scanner
from pipeline.ingest.secrets import mask_rows
from pipeline.ingest.telemetry import Thinner
from pipeline.ingest.templates import mask_lines
from pipeline.ingest.unended import settle_unended

#: Lines of a file, or parts of lines, below which none of the bounds of a file can matter.
MAX_LINES = 1000

_END = b"\n"


@dataclass(frozen=True, slots=True)
class SmallFiles:
    """What small files hold.

    Attributes:
        tables: event rows by table, with ``source_id``, in order of the files and of their lines.
        accounts: of each file that was read, by its place among those asked for.
        others: places of files that must be read one by one.
    """

    tables: dict[str, pl.DataFrame]
    accounts: dict[int, Account]
    others: list[int]


def read_small(batch: Sequence[Probe]) -> SmallFiles:
    """Return what files of one format of lines hold, whose lines all bear the same label or none.

    Files with a line that may prove another format are left to be read one by one.
    """
    found = _read_small(batch, frozenset())
    return found if isinstance(found, SmallFiles) else _read_apart(batch, found)


def _read_apart(batch: Sequence[Probe], guests: frozenset[int]) -> SmallFiles:
    """Return what files hold, with those at some places among the ones to be read one by one."""
    found = _read_small(batch, guests)
    return found if isinstance(found, SmallFiles) else SmallFiles({}, {}, list(range(len(batch))))


def _read_small(batch: Sequence[Probe], guests: frozenset[int]) -> SmallFiles | frozenset[int]:
    """Return what files hold, or the places of those that may hold other formats as well."""
    taken: list[int] = []
    contents: list[bytes] = []
    others: list[int] = []
    for at, found in enumerate(batch):
        content = _content(found)
        if content is None or at in guests:
            others.append(at)
        else:
            taken.append(at)
            contents.append(content)
    if not taken:
        return SmallFiles({}, {}, others)
    joined, counted = join_contents(contents)
    heights = np.array(counted)
    lines = read_lines(joined)
    if len(lines) != heights.sum():
        return SmallFiles({}, {}, list(range(len(batch))))
    owners = _Owners([batch[at].source.source_id for at in taken], heights)
    rules = rules_for(batch[0].detection.format)
    scan = Scanner(rules, batch[0].label, one_file=False).scan(lines, several=b"\r" in joined)
    if scan.proving is not None and len(scan.proving):
        return frozenset(taken[number] for number in owners.of(scan.proving)) | guests
    ends = heights.cumsum().tolist()
    scan = settle_unended(
        scan, [end for end, content in zip(ends, contents, strict=True) if is_unended(content)]
    )
    tables = {
        table: owners.own(bound_rows(mask_rows(table, rows)), "line", "last_line")
        for table, rows in scan.tables.items()
    }
    if "telemetry" in tables:
        # Several samples stand on a line, so that few lines may hold more of them than are kept.
        series = ("source_id", *Thinner().series)
        tables["telemetry"] = Thinner(series=series).thin(tables["telemetry"])
    states = pl.Series("state", [UNKNOWN_LINE], dtype=pl.Int8).new_from_index(0, len(lines))
    states = states.scatter(scan.torn - 1, TORN_LINE).scatter(scan.known - 1, KNOWN_LINE)
    counts = owners.count(states.to_numpy())
    dated = _dated(tables)
    accounts = {
        at: Account(
            digests=[chunk_digest(content)],
            content_bytes=len(content),
            lines=int(height),
            counts=counts[number],
            dated=dated.get(batch[at].source.source_id, {}),
        )
        for number, (at, content, height) in enumerate(zip(taken, contents, heights, strict=True))
    }
    numbered = pl.DataFrame({"text": lines}).with_row_index("line", 1).cast({"line": pl.Int64})
    shapes = _shapes(owners, numbered.filter(states == UNKNOWN_LINE), batch[0].label)
    return SmallFiles({**tables, "templates": shapes}, accounts, others)


def _content(found: Probe) -> bytes | None:
    """Return the content of a file, or None where it is not plainly small, empty, or cannot be read."""
    try:
        content = read_whole(found.source.place, CHUNK_BYTES)
    except OSError:
        return None
    if content is None or not content.strip(b"\0") or content.endswith(b"\r"):
        return None
    return content if content.count(_END) + content.count(b"\r") <= MAX_LINES else None


class _Owners:
    """Which file each of many lines, one behind the other, is of."""

    def __init__(self, source_ids: Sequence[str], heights: np.ndarray) -> None:
        self.source_ids = pl.Series("source_id", source_ids)
        self.heights = heights
        self.ends = np.cumsum(heights)

    def of(self, lines: pl.Series) -> set[int]:
        """Return the numbers of the files that lines are of."""
        return {int(number) for number in np.searchsorted(self.ends, lines.to_numpy(), side="left")}

    def own(self, rows: pl.DataFrame, *numbers: str) -> pl.DataFrame:
        """Return rows with their source, and line numbers of that."""
        of = np.searchsorted(self.ends, rows[numbers[0]].to_numpy(), side="left")
        before = pl.Series("before", (self.ends - self.heights)[of], dtype=pl.Int64)
        return rows.with_columns(
            self.source_ids[of], *(rows[name] - before for name in numbers if name in rows.columns)
        )

    def count(self, states: np.ndarray) -> list[list[int]]:
        """Return for each file how many of its lines are in each state."""
        of = np.repeat(np.arange(len(self.heights)), self.heights)
        counted = np.bincount(of * 3 + states, minlength=3 * len(self.heights))
        return [[int(count) for count in row] for row in counted.reshape(-1, 3)]


def _dated(tables: Mapping[str, pl.DataFrame]) -> dict[str, dict[str, tuple[datetime, datetime]]]:
    """Return by source and kind of stamps the first and the last time."""
    times = [rows.select("source_id", "ts_quality", "ts") for rows in tables.values()]
    dated: dict[str, dict[str, tuple[datetime, datetime]]] = {}
    if times:
        spans = pl.concat(times).drop_nulls("ts").group_by("source_id", "ts_quality")
        for source, quality, first, last in spans.agg(
            first=pl.col("ts").min(), last=pl.col("ts").max()
        ).iter_rows():
            dated.setdefault(source, {})[quality] = (first, last)
    return dated


def _shapes(owners: _Owners, unknown: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return the shapes of unknown lines of each file, the most frequent first."""
    shapes = owners.own(mask_lines(unknown, label), "example_line")
    counted = shapes.group_by("source_id", "template", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("count"), pl.col("example", "example_line").first()
    )
    order = pl.DataFrame({"source_id": owners.source_ids}).with_row_index("place")
    return (
        counted.join(order, on="source_id")
        .sort("place", "count", "template", descending=[False, True, False])
        .drop("place")
    )
