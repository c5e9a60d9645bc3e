"""The console of a program on DeepSpeed that prints no steps itself: those of the engine have a time."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import Trainer, _deepspeed
from pipeline.simulate.story import Attempt, Job, Run


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _deepspeed.launch(run, job, attempt, style)
    built = _deepspeed.built_us(attempt)
    if built is not None:
        yield from _deepspeed.configuration(run, built, style)
        yield from _deepspeed.load(run, attempt, style)
        assert attempt.loop_us is not None
        yield _deepspeed.say(attempt.loop_us, "***** Running training *****")
        lines = [*_steps(run, attempt, style), *_deepspeed.saves(run, attempt, style)]
        yield from sorted(lines, key=lambda line: line.time_us)
    yield from _deepspeed.leave(run, attempt, style)


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of each interval, and the timers of each step where they are on."""
    for step in attempt.steps:
        if step.number % style.log_interval == 0:
            yield from _deepspeed.step(step.number, step.end_us, style)
        if run.split is not None:
            yield from _deepspeed.wall_clock(run, attempt, step, run.split, style)


TRAINER = Trainer(
    "deepspeed",
    render,
    frozenset({"checkpoint_stall"}),
    exact=frozenset({"checkpoint_stall"}),
    suits=_deepspeed.suits,
    shows_exit=True,
    tells=frozenset({"exposed_comm"}),
)
