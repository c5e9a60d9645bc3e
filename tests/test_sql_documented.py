"""Every relation says what one row is, and every column what it means: ad-hoc users see nothing else."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import duckdb
import pytest
from sql_cases import all_relations, empty_ledger

from pipeline.ledger.build import sql_folder
from pipeline.ledger.relations import Relation

RELATIONS = sorted(all_relations().values(), key=lambda r: r.full_name)


@pytest.fixture(scope="module")
def columns() -> list[tuple[str, str, str | None]]:
    """Relation, column and comment of everything that was built."""
    with duckdb.connect(str(empty_ledger()), read_only=True) as con:
        return con.execute(
            "select schema_name || '.' || table_name, column_name, comment from duckdb_columns() "
            "where not internal order by all"
        ).fetchall()


def test_every_column_has_a_meaning(columns: list[tuple[str, str, str | None]]) -> None:
    assert [f"{relation}.{column}" for relation, column, comment in columns if not comment] == []


def test_every_meaning_of_the_glossary_is_used(columns: list[tuple[str, str, str | None]]) -> None:
    with (sql_folder() / "seeds" / "columns.csv").open(encoding="utf-8", newline="") as file:
        known = [row["column"] for row in csv.DictReader(file)]
    assert known == sorted(set(known))
    assert set(known) - {column for _, column, _ in columns} == set()


def test_every_figure_of_goodput_is_a_metric(columns: list[tuple[str, str, str | None]]) -> None:
    with (sql_folder() / "seeds" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        metrics = {row["metric"] for row in csv.DictReader(file)}
    words = {"run_id", "window_start", "window_end", "gpus", "undefined_reason", "g_model_reason"}
    assert metrics == {column for relation, column, _ in columns if relation == "marts.goodput"} - words


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.full_name)
def test_a_relation_says_its_grain_and_how_not_to_sum_it(relation: Relation) -> None:
    assert relation.grain.startswith("one row ")
    assert len(relation.header) >= 2


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.full_name)
def test_keywords_are_lower_case(relation: Relation) -> None:
    code = re.sub(r"--.*|'[^']*'", "", relation.sql)
    assert re.findall(r"\b(?:SELECT|FROM|WHERE|JOIN|GROUP|ORDER|CASE|WITH|UNION|AND|OR|AS)\b", code) == []


def test_seeds_are_tables_of_equal_rows() -> None:
    for path in sorted((sql_folder() / "seeds").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}, Path(path).name
        assert len({row[0] for row in rows[1:]}) == len(rows) - 1, f"{path.name}: the first column is a key"
