"""Habits of programs: fields of their formats, rows of the store, and all that SQL knows of a format."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
from sql_cases import TESTS, all_relations
from stores import write_store

from pipeline.config import EMPTY_CONFIG
from pipeline.errors import GoodputError
from pipeline.formats import registry
from pipeline.formats.format import Format
from pipeline.habits import FORMATS
from pipeline.ingest import ingest
from pipeline.ingest.habits import habits_of
from pipeline.ledger.build import classify, sql_folder
from pipeline.ledger.relations import Relation
from pipeline.windows import WindowOptions

HABITS = [column.name for column in FORMATS.columns if column.name != "format"]
RELATIONS = sorted(all_relations().values(), key=lambda r: r.full_name)
PLAIN = Format(name="plain", title="", link="", role="trainer", patterns=())

#: Comparison of a column that is called `format`, or ends so, with a text or a list.
_COMPARED = re.compile(
    r"\bformats?\b[^\n,]{0,12}?\s*"
    r"(?:=|<>|!=|\bin\b|\blike\b|\bilike\b|\bdistinct from\b|\bsimilar to\b)\s*\(?\s*'"
)


def code_of(text: str) -> str:
    """The text of a SELECT without comments."""
    return re.sub(r"--[^\n]*", "", text)


def names_in(sql: str) -> list[str]:
    """The formats that a SELECT names; a scheduler may be called like the format of its records."""
    rows = [row for row in code_of(sql).splitlines() if "scheduler" not in row]
    texts = {text for row in rows for text in re.findall(r"'([^']*)'", row)}
    return sorted(texts & registry().keys())


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.full_name)
def test_no_query_names_a_format(relation: Relation) -> None:
    assert names_in(relation.sql) == []
    assert _COMPARED.findall(code_of(relation.sql)) == []


@pytest.mark.parametrize("path", sorted((sql_folder() / "queries").glob("*.sql")), ids=lambda p: p.stem)
def test_no_query_of_the_project_names_a_format(path: Path) -> None:
    assert names_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select * from events.steps where format = 'megatron'",
        "select * from events.steps as e where e.format in ('megatron', 'nemo')",
        "select coalesce(format like 'slurm_sacct%', false) from events.allocations",
        "select format is distinct from 'lightning' from events.steps",
    ],
)
def test_a_query_that_names_a_format_is_seen(sql: str) -> None:
    assert names_in(sql) or _COMPARED.findall(code_of(sql))
    assert _COMPARED.findall(code_of(sql))


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_a_field_that_a_format_has_and_a_query_asks_for(habit: str) -> None:
    assert habit in {field.name for field in fields(Format)}
    assert not getattr(PLAIN, habit), "without a word a program has no habit"
    assert any(getattr(fmt, habit) for fmt in registry().values())
    assert any(re.search(rf"\b{habit}\b", code_of(relation.sql)) for relation in RELATIONS)


@pytest.mark.parametrize("name", sorted(name for name, fmt in registry().items() if fmt.degrees))
def test_degrees_are_facts_that_the_format_reads(name: str) -> None:
    golden = (TESTS / "formats" / name / "events.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(row) for row in golden.splitlines()]
    read = {row["key"] for row in rows if row["table"] == "facts"}
    # A mesh of two axes is the least that has a product.
    assert len(read & set(registry()[name].degrees)) >= 2


def test_ingest_writes_the_habits_of_every_format(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "notes.txt").write_text("nothing that anybody knows\n")
    ingest([str(logs)], tmp_path / "store", EMPTY_CONFIG, workers=1)
    rows = pl.read_parquet(tmp_path / "store" / "events" / "formats" / "*.parquet").to_dicts()
    assert rows == [habits_of(fmt) for fmt in registry().values()]
    found = {row["format"]: row for row in rows}
    assert (found["lightning"]["elapsed_per_epoch"], found["megatron"]["elapsed_per_epoch"]) == (True, False)
    assert found["nanotron"]["degrees"] == [
        "pipeline_parallel",
        "data_parallel",
        "context_parallel",
        "tensor_parallel",
    ]
    assert (found["lightning_csv"]["second_hand"], found["lightning"]["second_hand"]) == (2, 0)


def test_a_store_that_knows_no_formats_is_refused(tmp_path: Path) -> None:
    source = {"source_id": "a", "path": "heron/1.out", "format": "megatron", "role": "trainer", "lines": 1}
    store = write_store(tmp_path / "store", {"sources": [source], "formats": []})
    with pytest.raises(GoodputError, match="does not say which formats") as caught:
        classify(store, EMPTY_CONFIG, WindowOptions())
    assert "ingest the same logs into it again" in str(caught.value)
