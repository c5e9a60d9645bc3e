"""Hosts that are left out or taken out of an allocation that goes on: who pays for them, and from when."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

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
from tests.long_run import alone_tells_width
from tests.simulated import THROUGH_ALL, ledger
from tests.together import Told, side_by_side, tell, write_apart


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


def test_the_widest_launch_alone_tells_that_later_ones_left_a_host_out() -> None:
    # On four hosts, on three, and on two: without the first nobody knows that the second left one out.
    (run,) = story_of("gpu_off_bus_hang").runs
    assert [it.number for it in run.attempts if alone_tells_width(run, it.number)] == [1]


def test_a_host_that_is_taken_out_is_missing_from_then_on() -> None:
    story = story_of("node_lost")
    job = story.runs[0].jobs[0]
    assert job.removed
    missing = [piece for piece in true_ledger(story).pieces if piece.part == "missing"]
    assert (missing[0].start_us, missing[0].incident) == (job.removed[0].time_us, 1)


#: Runs of one cluster. Each launch gets so far that every trainer has told of it.
SHRINKING = {
    **{
        f"two-ends-{trainer.replace('_', '-')}": story_of(
            *("node_lost", "double_bit_ecc"), trainer=trainer, steps_between=(12, 24)
        )
        for trainer in THROUGH_ALL
    },
    "left-out": story_of("gpu_off_bus_hang", trainer="torchtitan", steps_between=(12, 24)),
    "taken-out": story_of("node_lost", steps_between=(12, 24)),
    "spares-are-used-up-first": story_of(
        *("node_lost", "gpu_off_bus_hang"), seed=8, spares=1, restart_inside=1.0
    ),
    "held": story_of("node_lost", "double_bit_ecc"),
    "blind": story_of("gpu_off_bus_hang", trainer="torchtitan", failed_start=0.6, seed=9),
    "of-one-time": story_of("gpu_off_bus_hang"),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Return the cluster, read."""
    folder = tmp_path_factory.mktemp("shrinking")
    write_apart(side_by_side(SHRINKING), folder, {})
    return tell(folder)


@pytest.mark.parametrize("run", SHRINKING)
def test_the_ledger_of_a_run_that_shrinks_is_its_truth(run: str, told: Told) -> None:
    assert told.differences(run) == []


def test_held_hours_agree_with_accounting(told: Told) -> None:
    with ledger(told.folder) as con:
        query = "select comparison, status from marts.reconciliation where run_id = 'held'"
        found = con.execute(query).fetchall()
    assert {("held_vs_accounting", "agrees"), ("attempts_vs_restarts", "agrees")} <= set(found)


def test_a_start_that_failed_before_it_told_its_width_is_a_blind_spot() -> None:
    (run,) = SHRINKING["blind"].runs
    slack = slack_of(run, Style())
    narrower = [
        it
        for before, it in pairwise(run.attempts)
        if it.job == before.job and len(it.hosts) < len(before.hosts) and it.init_us is None
    ]
    assert [span[0] for span in slack.blind] == [it.process_us for it in narrower] != []


def test_what_two_ends_took_of_one_time_is_compared_end_by_end(told: Told) -> None:
    truth = read_truth(told.folder)
    own = pl.col("run_id") == "of-one-time"
    taken = truth.intervals.filter(own & (pl.col("part") == "missing"))
    assert taken["incident"].n_unique() > 1
    # Another truth: what the second end took is missing from it.
    other = own & (pl.col("part") == "missing") & (pl.col("incident") == 2)
    less = replace(truth, intervals=truth.intervals.filter(other.not_().fill_null(True)))
    with ledger(told.folder) as con:
        spans = judge(con, less).spans
    assert {(span.truth, span.ledger.incident) for span in spans if span.ledger is not None} == {(None, 2)}
