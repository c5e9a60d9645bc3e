"""The formats with their habits, written beside the events: SQL joins them, and names no format."""

from __future__ import annotations

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import Format
from pipeline.habits import FORMATS
from pipeline.ingest.values import POLARS_TYPES


def build_formats() -> pl.DataFrame:
    """Return the table ``formats``: a row per format of the registry, in name order."""
    columns = {column.name: POLARS_TYPES[column.type] for column in FORMATS.columns}
    rows = [habits_of(fmt) for fmt in registry().values()]
    return pl.DataFrame(rows, schema=columns, orient="row")


def habits_of(fmt: Format) -> dict[str, object]:
    """Return the row of one format: its name, and the field of each habit."""
    names = (column.name for column in FORMATS.columns if column.name != "format")
    return {"format": fmt.name} | {name: _plain(getattr(fmt, name)) for name in names}


def _plain(value: object) -> object:
    """Return a tuple as a list, and everything else as it is."""
    return list(value) if isinstance(value, tuple) else value
