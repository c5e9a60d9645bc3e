"""Cases of SQL as folders of data: given rows in, one SELECT run, rows out.

Cases that mix stamps with microseconds play in the first days of 1970, so that second 100 is 00:01:40
as a stamp and 100_000_000 as a number.
"""

from __future__ import annotations

import atexit
import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb
from stores import write_store

from pipeline.config import EMPTY_CONFIG
from pipeline.ledger.build import DATABASE, classify, connect, sql_folder
from pipeline.ledger.relations import BUILT_SCHEMAS, Relation, read_relations
from pipeline.windows import WindowOptions

TESTS = Path(__file__).resolve().parent


@cache
def empty_ledger() -> Path:
    """Build, once, the ledger of a store without any row; its tables lend their types to the cases."""
    folder = tempfile.TemporaryDirectory(prefix="empty-ledger-")
    atexit.register(folder.cleanup)
    classify(write_store(Path(folder.name)), EMPTY_CONFIG, WindowOptions())
    return Path(folder.name) / DATABASE


@cache
def all_relations() -> dict[str, Relation]:
    """Return every SELECT file of the project by qualified name, checks included."""
    relations = read_relations(sql_folder(), (*BUILT_SCHEMAS, "checks"))
    return {r.full_name: r for r in relations}


@cache
def case_database() -> duckdb.DuckDBPyConnection:
    """Open, once, a database in memory with every table; only seeds, settings and formats have rows."""
    con = connect(Path(":memory:"))
    con.execute(f"attach '{empty_ledger()}' as empty (read_only)")
    names = con.execute(
        "select table_schema, table_name from information_schema.tables "
        "where table_catalog = 'empty' and table_schema <> 'checks'"
    ).fetchall()
    for schema, table in names:
        keep = "" if schema in ("seeds", "config") or table == "formats" else "limit 0"
        con.execute(f"create schema if not exists {schema}")
        con.execute(f"create table {schema}.{table} as from empty.{schema}.{table} {keep}")
    con.execute("detach empty")
    return con


@contextmanager
def open_case(case: Path, relation: Relation) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database with what ``relation`` reads: the case's rows, else seeds, settings, formats."""
    given = {p.stem.removeprefix("given_"): p for p in sorted(case.glob("given_*.csv"))}
    strangers = set(given) - set(relation.reads)
    assert not strangers, f"{case}: {relation.full_name} does not read {sorted(strangers)}"
    con = case_database()
    con.execute("begin")
    try:
        for name, path in given.items():
            con.execute(f"delete from {name}")
            load_given(con, name, path)
        yield con
    finally:
        con.execute("rollback")


def load_given(con: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    """Insert the rows of a CSV file; empty cells and absent columns are null."""
    types = types_of(name)
    header, rows = read_csv(path)
    assert set(header) <= set(types), f"{path}: {name} has no {sorted(set(header) - set(types))}"
    columns = ", ".join(f'"{c}"' for c in header)
    casts = ", ".join(f"cast(? as {types[c]})" for c in header)
    if rows:
        con.executemany(f"insert into {name} ({columns}) values ({casts})", rows)


@cache
def types_of(table: str) -> dict[str, str]:
    """Return the types of the columns of a table or SELECT, which no row changes: to plan one takes long."""
    return {row[0]: row[1] for row in case_database().execute(f"describe {table}").fetchall()}


def read_csv(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """Return header and rows of a CSV file; an empty cell is None, two single quotes are the empty text."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    assert rows, f"{path} has no header"
    assert all(len(row) == len(rows[0]) for row in rows), f"{path}: rows of unequal length"
    return rows[0], [["" if cell == "''" else cell or None for cell in row] for row in rows[1:]]


def result_rows(con: duckdb.DuckDBPyConnection, sql: str, columns: list[str]) -> list[tuple[str | None, ...]]:
    """Run a SELECT and return the named columns as text, empty text as null, in the order of all."""
    chosen = ", ".join(f"nullif(cast(\"{c}\" as varchar), '')" for c in columns)
    return sorted(con.execute(f"select {chosen} from ({sql}\n)").fetchall(), key=_sort_key)


def expected_rows(
    con: duckdb.DuckDBPyConnection, sql: str, path: Path
) -> tuple[list[str], list[tuple[str | None, ...]]]:
    """Return the columns of ``expected.csv`` and its rows as text, normalised by the types of the result."""
    header, rows = read_csv(path)
    types = types_of(f"({sql}\n)")
    missing = [c for c in header if c not in types]
    assert not missing, f"{path}: the relation has no {missing}"
    casts = ", ".join(f"cast(cast(? as {types[c]}) as varchar)" for c in header)
    texts = [con.execute(f"select {casts}", row).fetchone() or () for row in rows]
    return header, sorted(texts, key=_sort_key)


def _sort_key(row: tuple[str | None, ...]) -> tuple[tuple[bool, str], ...]:
    return tuple((cell is None, cell or "") for cell in row)
