"""Job records of ml-goodput-measurement and Orbax statistics, as an export of one log store holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.story import SECOND, Attempt, Job, Run, Save
from pipeline.simulate.transports import RECORDS

#: What side activities inside the loop are called.
_EVENTS = {"evaluation": "eval_step", "loop_gap": "sdc_check"}


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the records of one attempt; only process 0 writes them, and their times are UTC."""
    yield from _start(run, attempt)
    if attempt.loop_us is None:
        return
    yield from sorted(
        [*_steps(run, attempt, style), *_saves(run, attempt), *_events(run, attempt)],
        key=lambda line: line.time_us,
    )
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _record(run, end.stop_us, job_end_time=end.stop_us)


def suits(plan: Plan) -> Plan:
    """Return a plan in which the preparation of the training holds the set-up of the data."""
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    return replace(plan, setup_s=setup, data_setup_s=(0.0, 0.0))


def _record(run: Run, at_us: int, **fields: object) -> Printed:
    """Return an entry of the log store; whatever is called a time is given in microseconds."""
    payload = {
        key: _seconds(value) if key.endswith("_time") and isinstance(value, int) else value
        for key, value in fields.items()
    }
    stamp = datetime.fromtimestamp(at_us / SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    entry = {
        "insertId": f"{at_us:x}",
        "jsonPayload": {"job_name": run.name, **payload},
        "logName": f"projects/heron-ml/logs/goodput_{run.name}",
        "severity": "INFO",
        "timestamp": stamp,
    }
    return Printed(at_us, -1, RECORDS, json.dumps(entry))


def _seconds(time_us: int) -> float:
    """Return microseconds in seconds."""
    return time_us / SECOND


def _start(run: Run, attempt: Attempt) -> Iterator[Printed]:
    """Yield the records up to the loop."""
    begin = attempt.process_us
    yield _record(run, begin, job_start_time=begin)
    yield _record(run, begin, tpu_init_start_time=begin)
    if attempt.init_us is None:
        return
    yield _record(run, attempt.init_us, tpu_init_end_time=attempt.init_us)
    yield _record(run, attempt.init_us, training_prep_start_time=attempt.init_us)
    if attempt.built_us is None:
        return
    read = attempt.restore
    if read is not None:
        spent = _seconds(read.end_us - read.start_us)
        yield _record(
            run,
            read.end_us,
            step=read.step,
            event_type="restore",
            directory=_folder(run),
            checkpointer_start_time=read.start_us + 1000,
            checkpointer_duration_secs=spent - 0.002,
            checkpoint_manager_start_time=read.start_us,
            checkpoint_manager_duration_secs=spent,
        )
    yield _record(run, attempt.built_us, training_prep_end_time=attempt.built_us)


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a record for the first step and for each interval, and the load of a batch before each step.

    The step in which the attempt ended had begun as well, unless it was told to stop.
    """
    begun = [(step.number, step.start_us) for step in attempt.steps]
    end = attempt.end
    assert end is not None
    if attempt.steps and end.fault != "completed" and end.told_us is None:
        last = max([attempt.steps[-1].end_us, *(stall.end_us for stall in attempt.stalls)])
        begun.append((attempt.steps[-1].number + 1, last))
    for number, start in begun:
        yield _record(run, start - 2000, data_loading_start_time=start - 2000)
        yield _record(run, start - 1000, data_loading_end_time=start - 1000)
        if number == attempt.first_step or number % style.log_interval == 0:
            yield _record(run, start, step_count=float(number), step_start_time=start)


def _saves(run: Run, attempt: Attempt) -> Iterator[Printed]:
    """Yield the records of saves: their blocking part, the wait for the save before included."""
    for save in attempt.saves:
        if save.blocked_us is not None:
            yield _save(run, save, begin_of_wait(attempt, save), save.blocked_us)


def _save(run: Run, save: Save, start: int, blocked: int) -> Printed:
    """Return the record of a save that stopped the loop from ``start`` to ``blocked``."""
    return _record(
        run,
        blocked,
        step=save.step,
        event_type="save",
        directory=_folder(run),
        reached_preemption=False,
        preemption_received_at=None,
        synchronous=not run.save_async,
        wait_for_prev_start_time=start,
        wait_for_prev_duration_secs=_seconds(save.start_us - start),
        checkpointer_blocking_start_time=save.start_us,
        checkpointer_blocking_duration_secs=_seconds(blocked - save.start_us),
        get_old_steps_start_time=blocked,
        get_old_steps_duration_secs=0.0,
        checkpoint_manager_blocking_start_time=start,
        checkpoint_manager_blocking_duration_secs=_seconds(blocked - start),
    )


def _events(run: Run, attempt: Attempt) -> Iterator[Printed]:
    """Yield the records of whatever else the loop stood still for."""
    for stall in attempt.stalls:
        if stall.category in _EVENTS:
            what = _EVENTS[stall.category]
            yield _record(
                run,
                stall.start_us,
                custom_badput_event_type=what,
                custom_badput_event_start_time=stall.start_us,
            )
            yield _record(
                run,
                stall.end_us,
                custom_badput_event_type=what,
                custom_badput_event_end_time=stall.end_us,
            )


def _folder(run: Run) -> str:
    """Return the folder of the checkpoints."""
    return f"gs://heron-ckpt/{run.name}/checkpoints"


TRAINER = Trainer(
    "goodput_records",
    render,
    frozenset({"checkpoint_stall", "evaluation", "loop_gap"}),
    exact=frozenset({"checkpoint_stall", "evaluation", "loop_gap"}),
    suits=suits,
    begins=True,
    shows_world=False,
)
