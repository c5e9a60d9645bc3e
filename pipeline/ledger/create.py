"""Relations into a database, each as soon as what it reads is there, with their comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from graphlib import TopologicalSorter

import duckdb

from pipeline.errors import GoodputError
from pipeline.ledger.events import quoted, run_together
from pipeline.ledger.relations import Relation
from pipeline.ledger.sessions import sessions


def create_relations(
    con: duckdb.DuckDBPyConnection, relations: Sequence[Relation], glossary: dict[str, str]
) -> None:
    """Create every relation, each after those that it reads.

    Args:
        con: a database that holds what the relations read beside each other.
        relations: in an order in which each comes after what it reads.
        glossary: column name to meaning, for columns that a file does not document.

    Raises:
        GoodputError: DuckDB refuses a SELECT; names the file. Of several that fail before
            the others are stopped, the first one in order.
    """
    names = [relation.full_name for relation in relations]
    known = dict(zip(names, relations, strict=True))
    sorter = TopologicalSorter({r.full_name: [n for n in r.reads if n in known] for r in relations})
    sorter.prepare()
    failed: dict[str, BaseException] = {}

    def create(session: duckdb.DuckDBPyConnection, relation: Relation) -> None:
        create_relation(session, relation, glossary)

    with sessions(con, create) as submit:
        building: dict[Future[None], str] = {}
        while sorter.is_active():
            ready = () if failed else sorted(sorter.get_ready(), key=names.index)
            for name in ready:
                building[submit(known[name])] = name
            if not building:
                break
            done, _ = wait(building, return_when=FIRST_COMPLETED)
            for future in done:
                name = building.pop(future)
                error = future.exception()
                if error is not None:
                    failed[name] = error
                sorter.done(name)
    if failed:
        raise failed[min(failed, key=names.index)]


def create_relation(con: duckdb.DuckDBPyConnection, relation: Relation, glossary: dict[str, str]) -> None:
    """Create one relation, with comments from its file, else from ``glossary``.

    Raises:
        GoodputError: DuckDB refuses the SELECT; names the file.
    """
    name, kind = relation.full_name, "view" if relation.is_view else "table"
    try:
        con.execute(f"create {kind} {name} as {relation.sql}")
    except duckdb.Error as error:
        raise GoodputError(f"`{name}` cannot be built", where=str(relation.path), why=str(error)) from error
    columns = columns_of(con, name)
    meanings = {**glossary, **relation.column_meanings(columns)}
    comment_table(con, kind, name, relation.comment(columns), columns, meanings)


def columns_of(con: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Return the names of the columns of a table, in order."""
    return [column[0] for column in con.execute(f"from {name} limit 0").description or ()]


def comment_table(
    con: duckdb.DuckDBPyConnection,
    kind: str,
    name: str,
    grain: str,
    columns: Iterable[str],
    meanings: dict[str, str],
) -> None:
    """Comment a table or view, and those of its columns of which ``meanings`` knows what they mean."""
    comments = [f"comment on {kind} {name} is {quoted(grain)}"] if grain else []
    comments += [
        f'comment on column {name}."{column}" is {quoted(meanings[column])}'
        for column in columns
        if column in meanings
    ]
    run_together(con, comments)
