"""Facts that people edit: ``sql/seeds/*.csv`` become tables of schema ``seeds``."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb

from pipeline.errors import GoodputError

#: Column types by name, so that a seed's types do not change with the rows that somebody edits.
#: Everything else is text.
_INTEGERS = frozenset({"precedence", "causal_rank", "rank", "ord"})
_DOUBLE_ENDINGS = ("_tflops", "_gib", "_gb_s", "_s", "_share", "_tolerance")

#: What one row of each seed is; the comment of its table.
GRAINS = {
    "categories": "one row per category of time, with its precedence and layer",
    "causes": "one row per cause of the failure taxonomy",
    "columns": "one row per column name that means the same in every relation",
    "definitions": "one row per definition of goodput: classes of time above and below its line",
    "devices": "one row per accelerator model: dense peaks and links",
    "models": "one row per benchmark whose rules fix the model: its shape",
    "metrics": "one row per figure: its definition, for people",
    "recovery_phases": "one row per phase of recovery: where it begins and ends, and who owns it",
    "timers": "one row per timer of a step: the part of the step that it measures, and the timers around it",
    "signals": "one row per fault signal: how it is recognised and which cause it points to",
    "zones": "one row per zone that stamps without one may be found to be of",
}


def load_seeds(con: duckdb.DuckDBPyConnection, folder: Path) -> list[str]:
    """Create ``seeds.<stem>`` for every CSV file of ``folder``.

    Empty cells are null; ``true`` and ``false`` stay text.

    Returns:
        the qualified names of the tables, sorted.

    Raises:
        GoodputError: a file is not a table of equal rows, or a number is not one; names the file.
    """
    con.execute("create schema if not exists seeds")
    names = []
    for path in sorted(folder.glob("*.csv")):
        name = f"seeds.{path.stem}"
        with path.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file), [])
        columns = ", ".join(f'cast("{c}" as {seed_type(c)}) as "{c}"' for c in header)
        try:
            con.execute(
                f"create table {name} as select {columns} from read_csv(?, header = true, "
                "all_varchar = true, delim = ',', quote = '\"', escape = '\"', strict_mode = true)",
                [str(path)],
            )
        except duckdb.Error as error:
            raise GoodputError(f"`{name}` cannot be read", where=str(path), why=first_line(error)) from error
        con.execute(f"comment on table {name} is '{GRAINS.get(path.stem, 'one row per line of the seed')}'")
        names.append(name)
    return names


def seed_type(column: str) -> str:
    """Return the SQL type of a seed column of this name."""
    if column in _INTEGERS:
        return "bigint"
    return "double" if column.endswith(_DOUBLE_ENDINGS) else "varchar"


def first_line(error: duckdb.Error) -> str:
    """Return the first line of DuckDB's message, without the picture that follows it."""
    return str(error).strip().splitlines()[0]
