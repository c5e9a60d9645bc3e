"""Short logs of trainers, written by hand, with what each second of them was spent on.

A story is one text file: a head of ``key = value`` lines in TOML, with the reason and the arithmetic in its
comments, and files that each begin with ``==== path``. ``[seconds]`` holds the seconds of every category that
the ledger of the run has, ``saves`` of each save its step, the seconds that the loop stood still for it (-1
where nothing tells), and whether it is durable, ``restored`` the steps at which its attempts began anew,
``gpus`` how many it ran on, and ``causes`` why each of its attempts ended.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions

STORIES = {path.stem: path for path in sorted((Path(__file__).parent / "trainer_stories").glob("*.txt"))}
each_story = pytest.mark.parametrize("name", STORIES)


def read_story(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the head of a story, and its files by path."""
    head, *parts = re.split(r"^==== (\S+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return tomllib.loads(head), dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """One ledger of all stories: each lies in a folder of its own, and none knows of the others."""
    root = tmp_path_factory.mktemp("stories")
    for name, path in STORIES.items():
        for file, text in read_story(path)[1].items():
            target = root / "logs" / name / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    logs = [str(root / "logs")]
    config = load_config(logs, None)
    ingest(logs, root / "store", config, workers=1)
    summary = classify(root / "store", config, WindowOptions())
    assert summary.violations == ()
    with open_store(root / "store") as con:
        yield con


@each_story
def test_every_second_is_where_the_story_says(ledger: duckdb.DuckDBPyConnection, name: str) -> None:
    expected = read_story(STORIES[name])[0]["seconds"]
    spent = ledger.execute(
        "select category, sum(seconds) from ledger.intervals"
        " where run_id = ? and part = 'active' group by category order by category",
        [name],
    ).fetchall()
    assert expected == {category: pytest.approx(seconds, abs=1e-6) for category, seconds in spent}


@pytest.mark.parametrize("name", [name for name, path in STORIES.items() if "gpus" in read_story(path)[0]])
def test_a_run_has_the_gpus_that_the_story_says(ledger: duckdb.DuckDBPyConnection, name: str) -> None:
    expected = read_story(STORIES[name])[0]["gpus"]
    assert ledger.execute("select gpus from ledger.runs where run_id = ?", [name]).fetchall() == [(expected,)]


@each_story
def test_saves_are_what_the_story_says(ledger: duckdb.DuckDBPyConnection, name: str) -> None:
    expected = read_story(STORIES[name])[0].get("saves", [])
    saves = ledger.execute(
        "select step, coalesce(round(blocking_s, 6), -1), durable from ledger.saves"
        " where run_id = ? order by attempt, ord",
        [name],
    ).fetchall()
    assert [tuple(save) for save in expected] == saves


@each_story
def test_attempts_begin_at_the_steps_that_the_story_says(
    ledger: duckdb.DuckDBPyConnection, name: str
) -> None:
    expected = read_story(STORIES[name])[0].get("restored", [])
    restored = ledger.execute(
        "select step from ledger.restores where run_id = ? and not cold and step is not null"
        " order by attempt",
        [name],
    ).fetchall()
    assert expected == [step for (step,) in restored]


@pytest.mark.parametrize("name", [name for name, path in STORIES.items() if "causes" in read_story(path)[0]])
def test_attempts_end_for_the_causes_that_the_story_says(
    ledger: duckdb.DuckDBPyConnection, name: str
) -> None:
    expected = read_story(STORIES[name])[0]["causes"]
    causes = ledger.execute(
        "select cause from ledger.incidents where run_id = ? order by attempt", [name]
    ).fetchall()
    assert expected == [cause for (cause,) in causes]
