"""Small stores of event tables for tests: rows as dictionaries, missing columns null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.ingest.habits import build_formats
from pipeline.ingest.values import POLARS_TYPES
from pipeline.tables import EVENT_TABLES

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def write_store(store: Path, tables: Rows | None = None) -> Path:
    """Write a store in which every event table exists and holds the given rows; all formats are known."""
    given = {"formats": build_formats().to_dicts(), **(tables or {})}
    for name, table in EVENT_TABLES.items():
        folder = store / "events" / name
        folder.mkdir(parents=True, exist_ok=True)
        rows = [{c.name: row.get(c.name) for c in table.columns} for row in given.get(name, ())]
        schema = {column.name: POLARS_TYPES[column.type] for column in table.columns}
        pl.DataFrame(rows, schema, orient="row").write_parquet(folder / "part-0.parquet")
    return store
