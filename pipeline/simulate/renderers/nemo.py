"""The console of NeMo 2.4 with a progress bar: whole seconds in headers, and a clock in the bar.

Where nobody looks at it, it prints lines without a time instead of the bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.story import SECOND, Attempt, Job, Run

#: Yields the lines of steps.
Steps = Callable[[Run, Attempt, Style], Iterator[Printed]]


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from render_with(_bars, run, job, attempt, style)


def render_with(steps: Steps, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints, with steps in one of the two ways."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is not None:
        yield from sorted(
            [*steps(run, attempt, style), *_saves(run, attempt, style)], key=lambda line: line.time_us
        )


def suits(plan: Plan) -> Plan:
    """Return a plan in which data are set up before the checkpoint is read, and saves are asynchronous.

    Of another save nothing tells that it was durable.
    """
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    return replace(plan, setup_s=setup, data_setup_s=(0.001, 0.004), save_async=True)


def _say(time_us: int, place: str, text: str, style: Style) -> Printed:
    """Return a line of NeMo's logger."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S")
    return Printed(time_us, 0, "out", f"[NeMo I {stamp} {place}] {text}")


def _folder(run: Run, step: int) -> str:
    """Return the folder of a checkpoint, in whose name steps count from 0."""
    return f"/results/{run.name}/checkpoints/{run.name}--step={step - 1}-last"


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    text = f"Experiments will be logged at /results/{run.name}"
    yield _say(attempt.process_us, "nemo_logger:145", text, style)
    text = f"Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/{job.gpus}"
    yield Printed(attempt.process_us, 0, "out", text)
    if attempt.init_us is None:
        return
    at = attempt.init_us
    text = f"All distributed processes registered. Starting with {job.gpus} processes"
    yield Printed(at, 0, "out", text)
    yield _say(at, "megatron_init:463", "Ranks 0 has data parallel rank: 0", style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    built = read.start_us if read is not None else attempt.built_us
    text = " > number of parameters on (tensor, pipeline) model parallel rank (0 ,0): 8030261248"
    yield _say(built, "megatron_parallel:606", text, style)
    if read is not None:
        spent = (read.end_us - read.start_us) / SECOND
        text = (
            f"Global Checkpoint Load : Rank : 0 : Start time : {read.start_us / SECOND:.3f}s :"
            f" Time spent in load_checkpoint: {spent:.3f}s"
        )
        yield _say(read.end_us, "pl:298", text, style)


def _bars(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the bar as it is written over after each interval; its clock began with the loop."""
    assert attempt.loop_us is not None
    for step in attempt.steps:
        if step.number % style.log_interval:
            continue
        elapsed = (step.end_us - attempt.loop_us) // SECOND
        spent = (step.end_us - step.start_us) / SECOND
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        share = 100 * step.number // run.target
        yield Printed(
            step.end_us,
            0,
            "out",
            f"\rEpoch 0: : {share:3}%|{'#' * (share // 10):10}| {step.number}/{run.target}"
            f" [{_clock(elapsed)}<{_clock(4711)}, v_num=, reduced_train_loss={loss:.3f},"
            f" global_step={step.number - 1}.0, train_step_timing in s={spent:.3f}]",
        )


def _clock(seconds: int) -> str:
    """Return seconds as a bar shows them."""
    minutes, hours = seconds // 60 % 60, seconds // 3600
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes:02}:{seconds % 60:02}"


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves: one when the loop goes on, which tells how long it stood still."""
    for save in attempt.saves:
        start, folder = begin_of_wait(attempt, save), _folder(run, save.step)
        if save.blocked_us is not None:
            text = (
                f"Global Checkpoint Save : Rank: 0 : Iteration: {save.step - 1} : Start time:"
                f" {start / SECOND:.3f}s : Save duration: {(save.blocked_us - start) / SECOND:.3f}s"
            )
            yield _say(save.blocked_us, "pl:221", text, style)
            text = f"Scheduled async checkpoint save for {folder}"
            yield _say(save.blocked_us, "model_checkpoint:632", text, style)
        if save.durable_us is not None:
            text = f"Async checkpoint save for step {save.step} ({folder}) finalized successfully."
            yield _say(save.durable_us, "model_checkpoint:657", text, style)


TRAINER = Trainer(
    "nemo",
    render,
    frozenset({"checkpoint_stall"}),
    suits=suits,
    resolution_us=SECOND,
    world_late=True,
    dates_steps=False,
)
