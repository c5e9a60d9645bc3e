"""The console of axlearn of 2026-07 with the checkpointer on Orbax: process 0 tells of everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._absl import orbax_load, orbax_save, say
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.story import Attempt, Job, Run

#: The first steps of a training have a line each.
_FIRST = 5


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is not None:
        yield from sorted(
            [*_steps(attempt, style), *_saves(run, attempt, style)], key=lambda line: line.time_us
        )
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _trainer(end.stop_us, run.target, f"Reached max_step={run.target}. Stopping", style)
        yield _trainer(end.stop_us, run.target, "Checkpointer flushed.", style)


def suits(plan: Plan) -> Plan:
    """Return a plan in which data are set up before the checkpoint is read."""
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    return replace(plan, setup_s=setup, data_setup_s=(0.001, 0.004))


def _trainer(time_us: int, step: int, text: str, style: Style) -> Printed:
    """Return a line of the trainer, which names process and step."""
    return say(time_us, "trainer.py:425", f"gpt_trainer process {0:3} step {step:8}] {text}", style)


def _folder(run: Run) -> str:
    """Return the folder of the checkpoints."""
    return f"gs://heron-axl/{run.name}/checkpoints"


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    yield say(attempt.process_us, "launch.py:112", "LIBTPU_INIT_ARGS=''", style)
    if attempt.init_us is None:
        return
    at = attempt.init_us
    yield say(at, "launch.py:146", "Local Devices: [CudaDevice(id=0), CudaDevice(id=1)]", style)
    yield _trainer(at, -1, f"Devices: global={job.gpus} local={run.gpus_per_host} ['gpu', 'gpu']", style)
    yield _trainer(at, -1, f"Mesh shape: (1, 1, 1, {job.gpus}, 1, 1)", style)
    yield _trainer(at, -1, "Total number of model params: 70,553,706,496", style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    if attempt.restore is None:
        text = f"Could not find any completed checkpoints under {_folder(run)}: no steps"
        yield say(attempt.built_us, "checkpointer_orbax.py:596", text, style)
    else:
        label = f"step_{attempt.restore.step:08}"
        yield from orbax_load(attempt.restore, label, _folder(run), style)
    yield say(attempt.loop_us, "trainer.py:629", "Starting loop...", style)


def _steps(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each of the first steps, and for each interval."""
    for step in attempt.steps:
        if step.number > _FIRST and step.number % style.log_interval:
            continue
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        text = f"loss={loss:.6f} aux={{'learner/gradient_norm': 0.412, 'perplexity': 13.5}}"
        yield _trainer(step.end_us, step.number, text, style)


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves."""
    for save in attempt.saves:
        start = begin_of_wait(attempt, save)
        yield from orbax_save(save, start, f"step_{save.step:08}", _folder(run), run.save_async, style)


TRAINER = Trainer(
    "axlearn",
    render,
    frozenset({"checkpoint_stall"}),
    exact=frozenset({"checkpoint_stall"}),
    suits=suits,
    world_late=True,
)
