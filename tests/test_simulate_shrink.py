"""Hosts that are left out or taken out of an allocation that goes on: who pays for them, and from when."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from pipeline.simulate.invent import invent
from pipeline.simulate.judge import judge
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.slack import slack_of
from pipeline.simulate.story import Story
from pipeline.simulate.truth import true_ledger
from pipeline.simulate.written import read_truth
from tests.simulated import THROUGH_ALL, ledger, violations


def story_of(*ends: str, seed: int = 7, steps_between: tuple[int, int] = (3, 8), **more: object) -> Story:
    """Return a small story in which every host that fails is left out."""
    plan = Plan(
        gpus=32,
        target=60,
        save_every=10,
        steps_between=steps_between,
        max_attempts=4,
        shrink=1.0,
        ends=dict.fromkeys(ends, 1.0),
        **more,  # type: ignore[arg-type]
    )
    return invent(seed, (plan,))


def test_what_is_left_out_is_missing_and_its_end_pays() -> None:
    story = story_of("gpu_off_bus_hang")
    (run,) = story.runs
    inside = [attempt for attempt in run.attempts if attempt.job == 0]
    assert [len(attempt.hosts) for attempt in inside[:3]] == [4, 3, 2]
    missing = [piece for piece in true_ledger(story).pieces if piece.part == "missing"]
    assert (missing[0].start_us, missing[0].gpus, missing[0].incident) == (inside[1].process_us, 8, 1)
    held = sum((job.end_us - job.start_us) * job.gpus for job in run.jobs)
    own = [
        piece for piece in true_ledger(story).pieces if piece.attempt is not None or piece.part == "missing"
    ]
    assert sum(piece.gpu_us for piece in own) == held


def test_a_host_that_is_taken_out_is_missing_from_then_on() -> None:
    story = story_of("node_lost")
    job = story.runs[0].jobs[0]
    assert job.removed
    missing = [piece for piece in true_ledger(story).pieces if piece.part == "missing"]
    assert (missing[0].start_us, missing[0].incident) == (job.removed[0].time_us, 1)


@pytest.mark.parametrize(
    ("ends", "trainer"),
    [
        *((("node_lost", "double_bit_ecc"), trainer) for trainer in THROUGH_ALL),
        (("gpu_off_bus_hang",), "torchtitan"),
        (("node_lost",), "megatron"),
    ],
)
def test_the_ledger_of_a_run_that_shrinks_is_its_truth(
    ends: tuple[str, ...], trainer: str, tmp_path: Path
) -> None:
    """Each launch gets so far that every trainer has told of it."""
    story = story_of(*ends, trainer=trainer, steps_between=(12, 24))
    assert violations(story, tmp_path, Style()) == []


def test_spares_are_used_up_first(tmp_path: Path) -> None:
    story = story_of("node_lost", "gpu_off_bus_hang", seed=8, spares=1, restart_inside=1.0)
    assert violations(story, tmp_path, Style()) == []


def test_held_hours_agree_with_accounting(tmp_path: Path) -> None:
    assert violations(story_of("node_lost", "double_bit_ecc"), tmp_path, Style()) == []
    with ledger(tmp_path) as con:
        found = con.execute("select comparison, status from marts.reconciliation").fetchall()
    assert {("held_vs_accounting", "agrees"), ("attempts_vs_restarts", "agrees")} <= set(found)


def test_a_start_that_failed_before_it_told_its_width_is_a_blind_spot(tmp_path: Path) -> None:
    story = story_of("gpu_off_bus_hang", trainer="torchtitan", failed_start=0.6, seed=9)
    (run,) = story.runs
    slack = slack_of(run, Style())
    narrower = [
        it
        for before, it in pairwise(run.attempts)
        if it.job == before.job and len(it.hosts) < len(before.hosts) and it.init_us is None
    ]
    assert [span[0] for span in slack.blind] == [it.process_us for it in narrower] != []
    assert violations(story, tmp_path, Style()) == []


def test_what_two_ends_took_of_one_time_is_compared_end_by_end(tmp_path: Path) -> None:
    story = story_of("gpu_off_bus_hang")
    assert violations(story, tmp_path, Style()) == []
    path = tmp_path / "truth" / "intervals.parquet"
    true = pl.read_parquet(path)
    taken = true.filter(pl.col("part") == "missing")
    assert taken["incident"].n_unique() > 1
    # Another truth: what the second end took is missing from it.
    other = (pl.col("part") == "missing") & (pl.col("incident") == 2)
    true.filter(other.not_().fill_null(True)).write_parquet(path)
    with ledger(tmp_path) as con:
        spans = judge(con, read_truth(tmp_path)).spans
    assert {(span.truth, span.ledger.incident) for span in spans if span.ledger is not None} == {(None, 2)}
