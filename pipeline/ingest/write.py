"""One source → the parts of the store: rows are gathered and written before they grow large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import polars as pl

from pipeline.ingest.probe import Probe, parser_version
from pipeline.ingest.reader import SourceReader, Submit, read_together
from pipeline.ingest.sources import read_entry
from pipeline.ingest.store import Entry, Store
from pipeline.tables import EVENT_TABLES

#: Rows that are gathered before a part is written.
PART_ROWS = 100_000


class _Parts:
    """The parts of one source while they are written."""

    def __init__(self, store: Store, source_id: str) -> None:
        self.store, self.source_id = store, source_id
        self._rows: dict[str, list[pl.DataFrame]] = {}
        self._written: list[tuple[str, str]] = []

    def add(self, tables: dict[str, pl.DataFrame]) -> None:
        """Gather rows, and write what has grown large."""
        for table, rows in tables.items():
            if rows.height:
                gathered = self._rows.setdefault(table, [])
                gathered.append(rows)
                if sum(part.height for part in gathered) >= PART_ROWS:
                    self._write(table)

    def finish(self, key: str) -> dict[str, tuple[str, ...]]:
        """Write the rest, give all parts their names, and return these by table."""
        for table in list(self._rows):
            self._write(table)
        names: dict[str, tuple[str, ...]] = {}
        for table, temporary in self._written:
            number = len(names.get(table, ()))
            final = f"{self.source_id}-{key}-{number:04d}.parquet"
            self.store.end_part(table, temporary, final)
            names[table] = (*names.get(table, ()), final)
        return dict(sorted(names.items()))

    def _write(self, table: str) -> None:
        """Write the gathered rows of a table."""
        rows = pl.concat(self._rows.pop(table)).with_columns(source_id=pl.lit(self.source_id))
        name = f"{self.source_id}-{len(self._written):04d}.parquet"
        self.store.begin_part(table, name, rows.select(c.name for c in EVENT_TABLES[table].columns))
        self._written.append((table, name))


def read_into(
    found: Probe, store: Store, submit: Submit, progress: Callable[[int], None] | None = None
) -> Entry:
    """Read a source into the store, and return its entry.

    ``progress`` is told how many bytes of the file are done; of a compressed one that is an upper bound.
    """
    reader = SourceReader(found.source.place, found.detection.format)
    return _write_rows(found, reader, reader.rows(submit), store, progress)


def read_batch(batch: Sequence[Probe], store: Store) -> list[Entry]:
    """Read small sources of one format into the store together, and return their entries."""
    readers = [SourceReader(found.source.place, found.detection.format) for found in batch]
    return [
        _write_rows(found, reader, rows, store)
        for found, reader, rows in zip(batch, readers, read_together(readers), strict=True)
    ]


def _write_rows(
    found: Probe,
    reader: SourceReader,
    rows_of_chunks: Iterator[dict[str, pl.DataFrame]],
    store: Store,
    progress: Callable[[int], None] | None = None,
) -> Entry:
    """Write the rows of a source, and return its entry."""
    source = found.source
    parts = _Parts(store, source.source_id)
    users = found.options.partition("|")[2]
    for tables in rows_of_chunks:
        parts.add({table: _hide_users(table, rows, users) for table, rows in tables.items()})
        if progress is not None:
            progress(min(reader.account.content_bytes, source.bytes))
    content = f"{reader.account.content_hash}|{found.detection.format}|{users}|{parser_version()}"
    names = parts.finish(blake2b(content.encode(), digest_size=6).hexdigest())
    return read_entry(found, reader.account, names)


def _hide_users(table: str, rows: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Return rows whose user names are kept, hashed or dropped."""
    if table != "allocations" or rule == "keep":
        return rows
    if rule == "drop":
        return rows.with_columns(user=pl.lit(None, pl.String))
    users = rows["user"].drop_nulls().unique().to_list()
    hashed = {user: "u" + blake2b(user.encode(), digest_size=5).hexdigest() for user in users}
    return rows.with_columns(pl.col("user").replace_strict(hashed, default=None, return_dtype=pl.String))
