"""The laws of the ledger: queries of ``sql/checks`` that must return no rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from pipeline.errors import GoodputError
from pipeline.ledger.events import quoted
from pipeline.ledger.relations import Relation
from pipeline.ledger.sessions import in_sessions


@dataclass(frozen=True, slots=True)
class Violation:
    """One law that the data break.

    Attributes:
        check: name of the check.
        rows: how many rows it returned.
        example: the first of them, as text.
    """

    check: str
    rows: int
    example: str


def run_checks(con: duckdb.DuckDBPyConnection, checks: Iterable[Relation]) -> tuple[Violation, ...]:
    """Run every check, keep the outcome of each in ``checks.results``, and return the broken ones.

    A check has the columns ``run_id``, ``what`` and ``example``, all text.

    Raises:
        GoodputError: a check cannot be run; names its file.
    """
    con.execute("create schema if not exists checks")
    con.execute('create table checks.results ("check" varchar, law varchar, rows bigint, example varchar)')
    grain = "one row per law of the ledger; rows is 0 where it holds"
    con.execute(f"comment on table checks.results is {quoted(grain)}")
    ordered = sorted(checks, key=lambda c: c.name)
    violations = []
    for check, (rows, example) in zip(ordered, in_sessions(con, run_check, ordered), strict=True):
        con.execute(
            "insert into checks.results values (?, ?, ?, ?)", [check.name, check.comment(()), rows, example]
        )
        if rows:
            violations.append(Violation(check.name, rows, example or ""))
    return tuple(violations)


def run_check(con: duckdb.DuckDBPyConnection, check: Relation) -> tuple[int, str | None]:
    """Return how many rows a check returns, and the first of them as text (None when there is none)."""
    try:
        row = con.execute(
            f"select count(*), min(concat(run_id || ': ', what, ' (' || example || ')')) from ({check.sql}\n)"
        ).fetchone()
    except duckdb.Error as error:
        raise GoodputError(
            f"check `{check.name}` cannot be run", where=str(check.path), why=str(error)
        ) from error
    return (int(row[0]), row[1]) if row else (0, None)
