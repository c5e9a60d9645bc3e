"""What a log does not hold is known by how it was printed and kept, and asked of no ledger."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import cache

import pytest

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.slack import slack_of
from pipeline.simulate.story import Story


@cache
def story(attempts: int = 2, **changes: object) -> Story:
    plan = Plan(gpus=16, target=80, steps_between=(15, 30), save_every=10, max_attempts=attempts)
    return invent(7, (replace(plan, **changes),))


@pytest.mark.parametrize(("interval", "count"), [(5, 0), (10, 1)])
def test_a_cut_line_hides_a_save_after_which_no_step_was_told(interval: int, count: int) -> None:
    # Killed in step 17; the last save was that of step 10, and step 15 is told by each fifth line only. Where
    # each tenth step is told, the line that is cut is the only one of the attempt.
    run = story().runs[0]
    blind = slack_of(run, Style(interval), Blemishes(torn=True)).blind
    first = run.attempts[0]
    assert first.end is not None
    own = [span for span in blind if span[0] < first.end.left_us]
    assert own == [(start, first.end.stop_us) for start in (first.loop_us, first.stalls[-1].start_us)] * count
    assert slack_of(run, Style(interval), CLEAN).blind == ()


@pytest.mark.parametrize(("trainer", "count"), [("nemo_lines", 1), ("megatron", 0)])
def test_a_loop_that_no_line_begins_is_known_by_its_first_step_line(trainer: str, count: int) -> None:
    # Stopped in step 7 of ten that make a line: NeMo prints nothing between a load and that, Megatron does.
    run = deepcopy(story(3, trainer=trainer).runs[0])
    it = run.attempts[1]
    assert it.loop_us is not None
    assert it.end is not None
    it.steps, it.stalls, it.saves = it.steps[:6], [], []
    it.end = replace(it.end, stop_us=it.steps[-1].end_us + 3_000_000)
    told = slack_of(run, Style(10)).blind
    assert told == ((it.loop_us, it.end.stop_us),) * count


@pytest.mark.parametrize(("trainer", "count"), [("nanogpt", 1), ("torchft", 1), ("megatron", 0)])
def test_a_start_of_first_lines_alone_is_not_known_to_have_reached_its_loop(trainer: str, count: int) -> None:
    # Stopped in the first step: nanoGPT and torchft print nothing behind the lines with which they begin.
    run = deepcopy(story(trainer=trainer).runs[0])
    it = run.attempts[0]
    assert it.loop_us is not None
    assert it.end is not None
    it.steps, it.stalls, it.saves = [], [], []
    it.end = replace(it.end, stop_us=it.loop_us + 3_000_000)
    assert slack_of(run, Style()).blind == ((it.loop_us, it.end.stop_us),) * count


@pytest.mark.parametrize(("waited_us", "steps"), [(100_000, 2), (400_000, 1)])
def test_a_line_that_another_thread_prints_is_missing_of_a_step_that_was_killed_before(
    waited_us: int, steps: int
) -> None:
    # The metrics of each fifth step come 0.3 s after it.
    run = deepcopy(story(trainer="olmo_core").runs[0])
    it = run.attempts[0]
    assert it.end is not None
    it.steps, it.stalls, it.saves = [step for step in it.steps if step.number <= 15], [], []
    it.end = replace(it.end, stop_us=it.steps[-1].end_us + waited_us)
    assert it.steps[-1].number == 15
    assert slack_of(run, Style()).steps == steps
    assert slack_of(run, Style(), Blemishes(torn=True)).steps == steps + 1


@pytest.mark.parametrize("trainer", ["nemo_lines", "megatron"])
def test_a_cut_line_of_a_load_tells_it_from_nothing_before_it(trainer: str) -> None:
    # Killed in the first step: NeMo prints nothing between a load and a step, Megatron that its loop begins.
    run = deepcopy(story(3, trainer=trainer).runs[0])
    it = run.attempts[1]
    assert it.restore is not None
    assert it.loop_us is not None
    assert it.end is not None
    it.steps, it.stalls, it.saves = [], [], []
    it.end = replace(it.end, stop_us=it.loop_us + 3_000_000)
    begin = it.restore.start_us if trainer == "nemo_lines" else it.loop_us
    assert (begin, it.end.stop_us) in slack_of(run, Style(), Blemishes(torn=True)).blind
