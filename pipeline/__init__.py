"""Offline accounting of every GPU-second of a training run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

__all__ = ["__version__", "open"]

__version__ = "0.1.0"


def open(store: str | Path) -> duckdb.DuckDBPyConnection:
    """Return a read-only connection to the ledger of a store: UTC, without access to files or network."""
    from pipeline.ledger.query import open_store  # a command that asks nothing should not load a database

    return open_store(store)
