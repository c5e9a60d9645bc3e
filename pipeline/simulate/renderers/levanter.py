"""The log of Levanter with its JSON tracker: steps count from 0, and times are whole seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style, in_order
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_SEQUENCE = 4096
_PARAMETERS = 6_738_415_616
#: Values of a record.
_Facts = dict[str, object]


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, attempt, style)
    if attempt.loop_us is not None:
        yield from in_order(_steps(run, attempt, style), _evaluations(attempt, style))


def suits(plan: Plan) -> Plan:
    """Return a plan in which nothing lies before the first line."""
    provisioning = (plan.provisioning_s[0] + plan.init_s[0], plan.provisioning_s[1] + plan.init_s[1])
    return replace(plan, provisioning_s=provisioning, init_s=(0.001, 0.004))


def _say(time_us: int, where: str, text: str, style: Style) -> Printed:
    """Return a line of the logger of the first process."""
    stamp = style.local(time_us).strftime("%Y-%m-%dT%H:%M:%S")
    return Printed(time_us, 0, "out", f"{stamp} - 0 - levanter.{where} - INFO :: {text}")


def _record(time_us: int, event: str, facts: _Facts, style: Style) -> Printed:
    """Return a record of the tracker."""
    record = {"tracker": "json_logger", "event": event, **facts}
    return _say(time_us, "json_logger - json_logger.py:72", json.dumps(record), style)


def _start(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    at = attempt.init_us
    if at is None:
        return
    trainer: _Facts = {"num_train_steps": run.target, "train_batch_size": run.batch}
    yield _record(at, "hparams", {"hparams": {"trainer": trainer, "model": {"seq_len": _SEQUENCE}}}, style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    yield _say(
        attempt.built_us,
        "main.train_lm - train_lm.py:175",
        "No checkpoint found. Starting from scratch.",
        style,
    )
    facts: _Facts = {"parameter_count": _PARAMETERS}
    yield _record(attempt.built_us, "summary", {"metrics": facts}, style)
    yield _say(attempt.loop_us, "main.train_lm - train_lm.py:262", "Resuming training from step 0", style)


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the records of each step: loss, throughput once its hooks are done, and their time."""
    pauses = {stall.after: stall.end_us - stall.start_us for stall in attempt.stalls}
    for step in attempt.steps:
        label, spent = step.number - 1, step.end_us - step.start_us
        loss = round(2.0 + 9.0 / (1.0 + step.number / 40.0), 4)
        hook_us = pauses.get(step.number, 0)
        rate = run.batch * SECOND / spent
        records: list[tuple[int, _Facts]] = [
            (0, {"train/loss": loss, "global_step": label, "run_progress": step.number / run.target}),
            (
                hook_us,
                {
                    "throughput/total_tokens": step.number * run.batch * _SEQUENCE,
                    "throughput/examples_per_second": rate,
                    "throughput/tokens_per_second": rate * _SEQUENCE,
                    "throughput/duration": spent / SECOND,
                },
            ),
            (hook_us, {"optim/learning_rate": 0.0003, "throughput/hook_time": hook_us / SECOND}),
        ]
        for after, metrics in records:
            if after and (attempt.end is None or step.end_us + after > attempt.end.stop_us):
                continue
            yield _record(step.end_us + after, "log", {"step": label, "metrics": metrics}, style)


def _evaluations(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the line that ends each evaluation."""
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            yield _say(stall.end_us, "callbacks - __init__.py:86", "validation loss: 2.612", style)


TRAINER = Trainer(
    "levanter",
    render,
    frozenset({"evaluation"}),
    exact=frozenset({"evaluation"}),
    suits=suits,
    resolution_us=SECOND,
    dates_start=False,
    shows_world=False,
)
