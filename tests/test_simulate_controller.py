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
from tests.test_simulate_laws import account

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


def written(story: Story, folder: Path, worn: Blemishes = CLEAN) -> Path:
    """Write a story and classify it."""
    write_story(story, folder, Style(), worn)
    assert classify(folder) == ""
    return folder


@pytest.mark.parametrize(
    ("seed", "ends", "more"),
    [
        (
            1,
            ("node_lost", "machine_check", "prolog_failed", "double_bit_ecc"),
            {"shrink": 0.5, "requeue": 0.5},
        ),
        (136, (*STOPS, "silent_hang", "oom_killer", "put_back"), {"requeue": 0.5}),
    ],
)
def test_it_changes_nothing_that_accounting_tells(
    seed: int, ends: tuple[str, ...], more: dict[str, float], tmp_path: Path
) -> None:
    story = story_of(*ends, seed=seed, **more)
    assert {attempt.end.fault for attempt in story.runs[0].attempts if attempt.end} >= set(ends)
    without = written(story, tmp_path / "without", Blemishes(no_controller=True))
    assert account(written(story, tmp_path / "with")) == account(without)


def test_each_of_its_lines_is_known(tmp_path: Path) -> None:
    ends = ("node_lost", "prolog_failed", "time_limit", "operator_stop", "preempted", "double_bit_ecc")
    folder = written(story_of(*ends, requeue=0.5, shrink=0.5), tmp_path)
    lines = (folder / "logs" / "slurmctld.log").read_text(encoding="utf-8").splitlines()
    with ledger(folder) as con:
        row = con.execute(
            "select format, role, lines, parsed_lines, unknown_lines from events.sources"
            " where path = 'slurmctld.log'"
        ).fetchone()
        runs = con.execute("select count(*) from ledger.runs").fetchone()
    assert row == ("slurmctld", "scheduler", len(lines), len(lines), 0)
    assert runs == (1,)


def test_it_tells_of_a_limit_where_nothing_else_does(tmp_path: Path) -> None:
    story = story_of("time_limit")
    alone = Blemishes(no_accounting=True, no_errors=True)
    causes = {}
    for name, worn in {"with": alone, "without": replace(alone, no_controller=True)}.items():
        with ledger(written(story, tmp_path / name, worn)) as con:
            causes[name] = con.execute("select cause from ledger.incidents where attempt = 1").fetchone()
    assert causes == {"with": ("time_limit",), "without": ("unknown",)}
