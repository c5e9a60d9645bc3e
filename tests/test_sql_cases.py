"""Every case below ``tests/sql/<relation>/``: given rows go in, exactly the expected rows come out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sql_cases import TESTS, all_relations, expected_rows, open_case, result_rows

CASES = sorted(p.parent for p in (TESTS / "sql").glob("*/*/expected.csv"))


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_case(case: Path) -> None:
    relation = all_relations()[case.parent.name]
    with open_case(case, relation) as con:
        header, expected = expected_rows(con, relation.sql, case / "expected.csv")
        assert expected == result_rows(con, relation.sql, header)


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_case_says_why_it_exists(case: Path) -> None:
    assert (case / "CASE.md").read_text(encoding="utf-8").strip()


def test_every_folder_is_a_case_of_a_relation() -> None:
    folders = {p for p in (TESTS / "sql").glob("*/*") if p.is_dir()}
    assert set(CASES) == folders
    assert {p.parent.name for p in folders} <= set(all_relations())
