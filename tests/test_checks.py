"""A check that returns no rows is only believed once it has been seen to return some."""

from __future__ import annotations

from pathlib import Path

import pytest
from sql_cases import TESTS, open_case

from pipeline.ledger.build import connect, sql_folder
from pipeline.ledger.check import run_check, run_checks
from pipeline.ledger.relations import Relation, read_relations

CHECKS = read_relations(sql_folder(), ("checks",))


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.name)
def test_check_fires(check: Relation) -> None:
    case = TESTS / "checks" / check.name
    with open_case(case, check) as con:
        rows, example = run_check(con, check)
        assert rows >= 1
        assert example
        columns = [(d[0], str(d[1])) for d in con.execute(check.sql).description]
    assert columns == [("run_id", "VARCHAR"), ("what", "VARCHAR"), ("example", "VARCHAR")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.name)
def test_check_stays_silent_on_a_clean_case(check: Relation) -> None:
    case = TESTS / "checks" / check.name / "clean"
    assert list(case.glob("given_*.csv")), "a clean case without rows proves nothing"
    with open_case(case, check) as con:
        assert run_check(con, check) == (0, None)


def test_every_folder_belongs_to_a_check() -> None:
    folders = {p.name for p in (TESTS / "checks").iterdir() if p.is_dir()}
    assert {c.name for c in CHECKS} == folders


def test_the_outcome_of_each_check_is_kept() -> None:
    check = CHECKS[0]
    con = connect(Path(":memory:"))
    with open_case(TESTS / "checks" / check.name, check) as case:
        # Checks run in sessions of their own, which see what is committed.
        for name in check.reads:
            con.register("rows", case.sql(f"from {name}").to_arrow_table())
            con.execute(f"create schema if not exists {name.partition('.')[0]}")
            con.execute(f"create table {name} as from rows")
    violations = run_checks(con, [check])
    kept = con.execute('select "check", law, rows > 0 from checks.results').fetchall()
    assert [v.check for v in violations] == [check.name]
    assert kept == [(check.name, check.comment(()), True)]
