"""Ad-hoc SQL over a built store: read-only, no files, no network, errors that say where and what now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline.errors import GoodputError, nearest
from pipeline.ledger.build import DATABASE
from pipeline.ledger.render import FORMATS, Result, csv_text, json_text, parquet_bytes, table_text

#: Statements that only read. A PIVOT without a list of values is more than one statement to DuckDB.
READING = frozenset({"SELECT", "EXPLAIN", "MULTI"})


def open_store(store: str | Path) -> duckdb.DuckDBPyConnection:
    """Open the ledger of a store: read-only, UTC, no access to other files or the network, settings locked.

    Raises:
        GoodputError: there is no ledger, or it cannot be opened.
    """
    path = Path(store) / DATABASE
    if not path.is_file():
        raise GoodputError(
            f"`{store}` holds no ledger",
            where=str(path),
            now="run `goodput classify --store DIR`, or name the folder that a report was written to",
        )
    settings: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        # As in the build: the same query gives the same last digit everywhere.
        "threads": 1,
    }
    try:
        con = duckdb.connect(str(path), read_only=True, config=settings)
    except duckdb.Error as error:
        raise GoodputError(
            "the ledger cannot be opened",
            where=str(path),
            why=str(error).strip().splitlines()[0],
            now="run `goodput classify --store DIR` again",
        ) from error
    con.execute("set TimeZone = 'UTC'")
    con.execute("set lock_configuration = true")
    return con


def run_sql(con: duckdb.DuckDBPyConnection, sql: str, form: str = "table") -> str | bytes:
    """Run one reading statement and return its result as ``table``, ``csv`` or ``json`` text, or as Parquet.

    Raises:
        GoodputError: the form is unknown, or the statement cannot be run; see `fetch`.
    """
    if form not in FORMATS:
        raise GoodputError(
            f"there is no format `{form}`",
            why=f"formats are {', '.join(FORMATS)}",
            now=nearest(form, FORMATS),
        )
    if form == "parquet":
        return parquet_bytes(_arrow(con, sql))
    return {"table": table_text, "csv": csv_text, "json": json_text}[form](fetch(con, sql))


def fetch(con: duckdb.DuckDBPyConnection, sql: str) -> Result:
    """Run one reading statement (SELECT, FROM, WITH, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN, PIVOT).

    Raises:
        GoodputError: it is not one reading statement, or DuckDB refuses it; says where, and the nearest name.
    """
    text = single_statement(con, sql)
    try:
        cursor = con.execute(text)
        rows = cursor.fetchall()
    except duckdb.Error as error:
        raise _explained(con, sql, error) from error
    head = cursor.description or []
    return Result(tuple(c[0] for c in head), tuple(str(c[1]) for c in head), rows)


def _arrow(con: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The rows of one SELECT as Arrow, which keeps types that text does not."""
    text = single_statement(con, sql, frozenset({"SELECT", "MULTI"}))
    try:
        return con.sql(text).to_arrow_table()
    except duckdb.Error:
        fetch(con, sql)  # raises the same with a place, which the messages of `sql` do not have
        raise


def single_statement(con: duckdb.DuckDBPyConnection, sql: str, kinds: frozenset[str] = READING) -> str:
    """Return ``sql`` when it is exactly one statement of ``kinds``.

    Raises:
        GoodputError: otherwise.
    """
    try:
        statements = con.extract_statements(sql)
    except duckdb.Error as error:
        raise _explained(con, sql, error) from error
    if len(statements) != 1:
        raise GoodputError(
            f"one statement is expected, not {len(statements)}", now='write for example: "from marts.period"'
        )
    kind = str(statements[0].type).rpartition(".")[2]
    if kind not in kinds:
        raise GoodputError(
            f"`{kind.lower()}` is not a query",
            why="the ledger is read-only: it is what the logs say",
            now="write a SELECT; to keep its result, use --format csv or parquet and redirect it to a file",
        )
    return sql


_LINE = re.compile(r"^LINE (\d+): ")
_MISSING_TABLE = re.compile(r"Table with name (\S+) does not exist")
_RELATION = re.compile(r"\b(?:from|join)\s+([a-z_]+\.[a-z_]+)", re.IGNORECASE)
_MISSING_COLUMN = re.compile(r'column "([^"]+)" not found|does not have a column named "([^"]+)"')


def _explained(con: duckdb.DuckDBPyConnection, sql: str, error: duckdb.Error) -> GoodputError:
    message = str(error).strip()
    why = message.splitlines()[0].partition("Error: ")[2] or message.splitlines()[0]
    return GoodputError(
        "the query cannot be run", where=_place(message), why=why, now=_advice(con, sql, message)
    )


def _place(message: str) -> str:
    """Line and column out of the picture at the end of DuckDB's message."""
    rows = message.splitlines()
    for row, below in pairwise(rows):
        found = _LINE.match(row)
        if found and "^" in below:
            column = below.index("^") - found.end() + 1
            return f"line {found[1]}, column {column}\n    {row[found.end() :]}\n    {below[found.end() :]}"
    return ""


def _advice(con: duckdb.DuckDBPyConnection, sql: str, message: str) -> str:
    table, column = _MISSING_TABLE.search(message), _MISSING_COLUMN.search(message)
    if table:
        known = _names(con, "select table_schema || '.' || table_name from information_schema.tables")
        written = re.search(rf"\w+\.{re.escape(table[1])}\b", sql)
        bare = {name.partition(".")[2]: name for name in known}
        hit = bare.get(table[1]) or nearest_name(written[0] if written else table[1], known)
        hit = hit or bare.get(nearest_name(table[1], list(bare)), "")
        return f"did you mean `{hit}`?" if hit else "`show all tables` lists them"
    if column:
        # Columns of the relations that the query names; the same name elsewhere is of no use.
        tables = _RELATION.findall(sql)
        listed = ", ".join("'" + name.replace("'", "") + "'" for name in tables) or "''"
        known = _names(
            con,
            "select distinct column_name from duckdb_columns() where not internal "
            f"and (schema_name || '.' || table_name in ({listed}) or {not tables})",
        )
        return nearest(column[1] or column[2], known) or "`describe SCHEMA.TABLE` lists the columns"
    return ""


def nearest_name(name: str, known: Sequence[str]) -> str:
    """Return the known name nearest to ``name``, or an empty string."""
    hint = nearest(name, known)
    return hint.split("`")[1] if hint else ""


def _names(con: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    return sorted(row[0] for row in con.execute(sql).fetchall())
