"""The console of NeMo 2.4 without a terminal: a line without a time for each interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers.nemo import render_with, suits
from pipeline.simulate.story import SECOND, Attempt, Job, Run


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from render_with(_lines, run, job, attempt, style)


def suits_lines(plan: Plan) -> Plan:
    """Return a plan that does not go on: nothing would date its end."""
    return replace(suits(plan), goes_on=False)


def _lines(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each interval, whose values but the step are means; steps count from 0 in it."""
    spent: list[int] = []
    for step in attempt.steps:
        spent.append(step.end_us - step.start_us)
        if step.number % style.log_interval:
            continue
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        mean = sum(spent) / len(spent) / SECOND
        yield Printed(
            step.end_us,
            0,
            "out",
            f"Training epoch 0, iteration {step.number - 1}/{run.target - 1} | lr: 0.0001 |"
            f" global_batch_size: {run.batch} | global_step: {step.number - 1} |"
            f" reduced_train_loss: {loss:.4} | train_step_timing in s: {mean:.4} |"
            f" consumed_samples: {step.number * run.batch}",
        )
        spent = []


TRAINER = Trainer(
    "nemo_lines",
    render,
    frozenset({"checkpoint_stall"}),
    suits=suits_lines,
    dialect_of="nemo",
    resolution_us=SECOND,
    world_late=True,
    dates_steps=False,
)
