"""The whole of the SQL on a whole story: saved queries run, and the same logs give the same rows anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger import build
from pipeline.ledger.build import classify, sql_folder
from pipeline.ledger.query import fetch, open_store
from pipeline.windows import WindowOptions
from tests.once import sample_store

STORY = Path(__file__).resolve().parents[1] / "data" / "samples" / "fallen-gpu"
QUERIES = sorted((sql_folder() / "queries").glob("*.sql"))


def build_story(store: Path) -> Path:
    config = load_config([str(STORY)], None)
    ingest([str(STORY)], store, config, workers=1)
    classify(store, config, WindowOptions())
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_store(tmp_path_factory, STORY.name)


@pytest.fixture
def con(store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_store(store) as connection:
        yield connection


@pytest.mark.parametrize("path", QUERIES, ids=lambda p: p.stem)
def test_a_saved_query_says_what_it_answers_and_runs(path: Path, con: duckdb.DuckDBPyConnection) -> None:
    text = path.read_text(encoding="utf-8")
    sentence = text.splitlines()[0]
    assert sentence.startswith("-- ")
    assert sentence.endswith(".")
    result = fetch(con, text)
    assert result.columns
    # Two ask for what a good week has nothing of.
    assert result.rows or path.stem in ("disagreements", "hosts_that_come_back")


def test_there_are_saved_queries() -> None:
    assert len(QUERIES) >= 8


def test_same_logs_give_the_same_rows_in_another_folder(store: Path, tmp_path: Path) -> None:
    assert_same_rows(store, build_story(tmp_path / "elsewhere" / "deep"), ordered=("",))


def test_threads_change_nothing_but_the_order_of_rows(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "PARALLEL_ROWS", 0)
    # What a review reads is in a fixed order even then.
    assert_same_rows(store, build_story(tmp_path / "store"), ordered=("marts.",))


def assert_same_rows(store: Path, again: Path, ordered: tuple[str, ...]) -> None:
    """Expect the same rows in every relation, and in the same order in those whose names begin so."""
    sql = (
        "select table_schema || '.' || table_name from information_schema.tables "
        "where table_schema not in ('events', 'checks') order by 1"
    )
    with open_store(store) as one, open_store(again) as two:
        names = [row[0] for row in fetch(one, sql).rows]
        assert names == [row[0] for row in fetch(two, sql).rows]
        for name in names:
            assert fetch(one, f"from {name} order by all") == fetch(two, f"from {name} order by all"), name
            if name.startswith(ordered):
                assert fetch(one, f"from {name}") == fetch(two, f"from {name}"), name


def test_every_law_holds_on_the_story(con: duckdb.DuckDBPyConnection) -> None:
    rows = fetch(con, 'select "check", rows from checks.results').rows
    assert len(rows) == len(list((sql_folder() / "checks").glob("*.sql")))
    assert [row for row in rows if row[1]] == []
