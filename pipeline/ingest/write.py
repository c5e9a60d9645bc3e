"""Sources → the parts of the store: rows are gathered and written before they grow large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b

import polars as pl

from pipeline.ingest.account import Account
from pipeline.ingest.probe import Probe, parser_version
from pipeline.ingest.reader import SourceReader, Submit, read_together
from pipeline.ingest.sources import read_entry
from pipeline.ingest.store import Entry, Store
from pipeline.ingest.work import run_here
from pipeline.tables import EVENT_TABLES

#: Rows that are gathered before a part is written.
PART_ROWS = 100_000


class Parts:
    """Parts of tables while they are written: of one source, or of a bundle of small ones."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self._rows: dict[str, list[pl.DataFrame]] = {}
        self._heights: dict[str, int] = {}
        self._written: list[tuple[str, str]] = []

    def add(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Gather rows with their ``source_id``, and write what has grown large."""
        for table, rows in tables.items():
            if rows.height:
                self._rows.setdefault(table, []).append(rows)
                self._heights[table] = self._heights.get(table, 0) + rows.height
                if self._heights[table] >= PART_ROWS:
                    self._write(table)

    def finish(self, key: str) -> dict[str, tuple[str, ...]]:
        """Write the rest, give all parts their names, and return these by table."""
        for table in list(self._rows):
            self._write(table)
        names: dict[str, tuple[str, ...]] = {}
        for table, temporary in self._written:
            number = len(names.get(table, ()))
            final = f"{self.name}-{key}-{number:04d}.parquet"
            self.store.end_part(table, temporary, final)
            names[table] = (*names.get(table, ()), final)
        return dict(sorted(names.items()))

    def _write(self, table: str) -> None:
        """Write the gathered rows of a table."""
        rows = pl.concat(
            part.select(c.name for c in EVENT_TABLES[table].columns) for part in self._rows.pop(table)
        )
        self._heights[table] = 0
        name = f"{self.name}-{len(self._written):04d}.parquet"
        self.store.begin_part(table, name, rows)
        self._written.append((table, name))


def read_into(
    found: Probe, store: Store, submit: Submit, progress: Callable[[int], None] | None = None
) -> Entry:
    """Read a source into the store, and return its entry.

    ``progress`` is told how many bytes of the file are done; of a compressed one that is an upper bound.
    """
    reader = SourceReader(found.source.place, found.detection.format, found.label)
    return _write_rows(found, reader, reader.rows(submit), store, progress)


def read_batch(batch: Sequence[Probe], store: Store) -> list[Entry]:
    """Read small sources of one format into the store together, and return their entries."""
    readers = [SourceReader(found.source.place, found.detection.format, found.label) for found in batch]
    return [
        _write_rows(found, reader, rows, store)
        for found, reader, rows in zip(batch, readers, read_together(readers), strict=True)
    ]


def read_rows(found: Probe) -> tuple[Account, list[dict[str, pl.DataFrame]]]:
    """Return the account and the rows of a small source, which lie in memory together."""
    reader = SourceReader(found.source.place, found.detection.format, found.label)
    rows = [owned(tables, found) for tables in reader.rows(run_here)]
    return reader.account, rows


def content_key(found: Probe, account: Account) -> str:
    """Return what the rows of a source depend on, as one text."""
    return f"{account.content_hash}|{found.detection.format}|{_users(found)}|{parser_version()}"


def _write_rows(
    found: Probe,
    reader: SourceReader,
    rows_of_chunks: Iterator[dict[str, pl.DataFrame]],
    store: Store,
    progress: Callable[[int], None] | None = None,
) -> Entry:
    """Write the rows of a source, and return its entry."""
    source = found.source
    parts = Parts(store, source.source_id)
    for tables in rows_of_chunks:
        parts.add(owned(tables, found))
        if progress is not None:
            progress(min(reader.account.content_bytes, source.bytes))
    key = blake2b(content_key(found, reader.account).encode(), digest_size=6).hexdigest()
    return read_entry(found, reader.account, parts.finish(key))


def _users(found: Probe) -> str:
    """Return what the configuration wants done with user names."""
    return found.options.split("|")[1]


def owned(tables: Mapping[str, pl.DataFrame], found: Probe) -> dict[str, pl.DataFrame]:
    """Return the rows of a source with its key, and without what users are not to be named by."""
    key = pl.lit(found.source.source_id).alias("source_id")
    return {table: hide_users(table, rows.with_columns(key), found) for table, rows in tables.items()}


def hide_users(table: str, rows: pl.DataFrame, found: Probe) -> pl.DataFrame:
    """Return rows whose user names are kept, hashed or dropped, as was configured for a source."""
    rule = _users(found)
    if table != "allocations" or rule == "keep":
        return rows
    if rule == "drop":
        return rows.with_columns(user=pl.lit(None, pl.String))
    users = rows["user"].drop_nulls().unique().to_list()
    hashed = {user: "u" + blake2b(user.encode(), digest_size=5).hexdigest() for user in users}
    return rows.with_columns(pl.col("user").replace_strict(hashed, default=None, return_dtype=pl.String))
