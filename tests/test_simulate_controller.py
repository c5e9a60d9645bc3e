"""The log of the scheduler's controller: read, accounted for, and of no weight where accounting tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import Story
from pipeline.simulate.write import write_story
from tests.simulated import classify, ledger
from tests.together import Told, account, side_by_side, tell, write_apart

NODES = ("node_lost", "machine_check", "prolog_failed", "double_bit_ecc")
STOPS = ("time_limit", "operator_stop", "preempted", "preempted_with_grace", "stopped_with_grace")


def story_of(*ends: str, seed: int = 7, **more: object) -> Story:
    """Return a small story in which the kinds of ends have equal chances."""
    plan = Plan(
        gpus=32,
        target=90,
        save_every=10,
        steps_between=(3, 20),
        max_attempts=10,
        ends=dict.fromkeys(ends, 1.0),
        **more,  # type: ignore[arg-type]
    )
    return invent(seed, (plan,))


#: Runs of one cluster: the kinds of their ends, the seed with which each of them comes, and more.
RUNS: dict[str, tuple[tuple[str, ...], int, dict[str, object]]] = {
    "nodes": (NODES, 1, {"shrink": 0.5, "requeue": 0.5}),
    "stops": ((*STOPS, "silent_hang", "oom_killer", "put_back"), 136, {"requeue": 0.5}),
    "both": (
        ("node_lost", "prolog_failed", "time_limit", "operator_stop", "preempted", "double_bit_ecc"),
        7,
        {"requeue": 0.5, "shrink": 0.5},
    ),
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Told, Told]:
    """Return the cluster with the log of its controller and without, read."""
    stories = {name: story_of(*ends, seed=seed, **more) for name, (ends, seed, more) in RUNS.items()}
    folder = tmp_path_factory.mktemp("controller")
    for name, worn in {"with": CLEAN, "without": Blemishes(no_controller=True)}.items():
        write_apart(side_by_side(stories), folder / name, {}, (Style(), worn))
    return tell(folder / "with"), tell(folder / "without")


@pytest.mark.parametrize("name", ["nodes", "stops"])
def test_each_kind_of_end_comes(name: str) -> None:
    ends, seed, more = RUNS[name]
    story = story_of(*ends, seed=seed, **more)
    assert {attempt.end.fault for attempt in story.runs[0].attempts if attempt.end} >= set(ends)


def test_it_changes_nothing_that_accounting_tells(both: tuple[Told, Told]) -> None:
    told, without = both
    assert account(told) == account(without)


def test_each_of_its_lines_is_known(both: tuple[Told, Told]) -> None:
    told, _ = both
    lines = (told.folder / "logs" / "slurmctld.log").read_text(encoding="utf-8").splitlines()
    with ledger(told.folder) as con:
        row = con.execute(
            "select format, role, lines, parsed_lines, unknown_lines from events.sources"
            " where path = 'slurmctld.log'"
        ).fetchone()
        runs = con.execute("select run_id from ledger.runs order by run_id").fetchall()
    assert row == ("slurmctld", "scheduler", len(lines), len(lines), 0)
    assert runs == [(name,) for name in sorted(RUNS)]


def test_it_tells_of_a_limit_where_nothing_else_does(tmp_path: Path) -> None:
    story = story_of("time_limit")
    alone = Blemishes(no_accounting=True, no_errors=True)
    causes = {}
    for name, worn in {"with": alone, "without": replace(alone, no_controller=True)}.items():
        write_story(story, tmp_path / name, Style(), worn)
        assert classify(tmp_path / name) == ""
        with ledger(tmp_path / name) as con:
            causes[name] = con.execute("select cause from ledger.incidents where attempt = 1").fetchone()
    assert causes == {"with": ("time_limit",), "without": ("unknown",)}
