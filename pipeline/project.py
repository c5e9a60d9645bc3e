"""Where the facts that people edit lie: the SQL folder of the checkout, and its seed tables."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from pipeline.errors import GoodputError

#: Folder of SELECT files and seeds, beside the package.
SQL_FOLDER = Path(__file__).resolve().parents[1] / "sql"


@cache
def read_seed(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of ``sql/seeds/<name>.csv`` as text by column name."""
    path = SQL_FOLDER / "seeds" / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return tuple(csv.DictReader(file))
    except FileNotFoundError:
        raise GoodputError(
            f"the table of {name} is missing",
            where=str(path),
            why="it belongs to the checkout, beside the package",
            now="install with `pip install -e .` from a checkout, or restore the file",
        ) from None
