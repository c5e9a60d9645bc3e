"""Event tables from the Parquet parts of a store into schema ``events``, with their comments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb

from pipeline.errors import GoodputError
from pipeline.tables import EVENT_TABLES, Table, Type


def load_events(con: duckdb.DuckDBPyConnection, store: Path) -> list[str]:
    """Copy every event table of ``<store>/events`` into ``events.<table>``.

    Parts are read in name order and rows in file order, so that the copy does not depend on the machine.

    Returns:
        the qualified names of the tables, sorted.

    Raises:
        GoodputError: the folder is not a store, or a part does not have the table's columns.
    """
    folder = store / "events"
    if not folder.is_dir():
        raise GoodputError(
            f"`{store}` holds no event tables",
            where=str(folder),
            now="run `goodput ingest LOGS --store DIR` first, or name the store that it wrote",
        )
    con.execute("create schema if not exists events")
    for table in EVENT_TABLES.values():
        parts = [str(p) for p in sorted((folder / table.name).glob("*.parquet"))]
        columns = ", ".join(f'cast("{c.name}" as {SQL_TYPES[c.type]}) as "{c.name}"' for c in table.columns)
        if parts:
            source = "read_parquet(?, union_by_name = false, hive_partitioning = false)"
            arguments: list[object] = [parts]
        else:
            nulls = ", ".join(f'null as "{c.name}"' for c in table.columns)
            source, arguments = f"(select {nulls} where false)", []
        try:
            con.execute(f"create table events.{table.name} as select {columns} from {source}", arguments)
        except duckdb.Error as error:
            raise GoodputError(
                f"event table `{table.name}` cannot be read",
                where=str(folder / table.name),
                why=str(error).strip().splitlines()[0],
                now="remove the store and ingest again",
            ) from error
        _comment(con, table)
    _refuse_nameless(con, folder)
    return sorted(f"events.{name}" for name in EVENT_TABLES)


def _refuse_nameless(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Refuse a store with sources and without formats: what their lines mean could not be told.

    Raises:
        GoodputError: the store was written before formats were part of it.
    """
    row = con.execute(
        "select (select count(*) from events.sources) > 0 and (select count(*) from events.formats) = 0"
    ).fetchone()
    if row and row[0]:
        raise GoodputError(
            "the store does not say which formats its events are of",
            where=str(folder / "formats"),
            why="an earlier version wrote it",
            now="ingest the same logs into it again",
        )


#: Column types of the event tables as DuckDB names them.
SQL_TYPES: dict[Type, str] = {
    "string": "varchar",
    "bool": "boolean",
    "int32": "integer",
    "int64": "bigint",
    "double": "double",
    "timestamp": "timestamptz",
    "strings": "varchar[]",
}


def _comment(con: duckdb.DuckDBPyConnection, table: Table) -> None:
    run_together(
        con,
        (
            f"comment on table events.{table.name} is {quoted(table.grain)}",
            *(
                f'comment on column events.{table.name}."{column.name}" is {quoted(column.meaning)}'
                for column in table.columns
            ),
        ),
    )


def run_together(con: duckdb.DuckDBPyConnection, statements: Iterable[str]) -> None:
    """Run statements in one transaction; each by itself would wait for the disk."""
    con.execute(";\n".join(["begin transaction", *statements, "commit"]))


def quoted(text: str) -> str:
    """Return ``text`` as a SQL string literal; `comment on` takes no parameters."""
    return "'" + text.replace("'", "''") + "'"
