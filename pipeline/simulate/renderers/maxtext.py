"""The console of MaxText of 2026-08: process 0 tells of everything, steps count from 0 and come one late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._absl import orbax_load, orbax_save, say
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_SEQUENCE = 8192
_BILLIONS = 69.503
#: FLOPs of a token, in units of 10^12.
_TERAFLOPS = 6 * _BILLIONS / 1000
#: Stalls that lie between a step and its line.
_LATE = ("checkpoint_stall", "evaluation")


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is None:
        return
    yield from sorted(
        [*_steps(run, job, attempt, style), *_saves(run, attempt, style), *_evaluations(attempt, style)],
        key=lambda line: line.time_us,
    )


def suits(plan: Plan) -> Plan:
    """Return a plan in which data are set up before the checkpoint is read."""
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    return replace(plan, setup_s=setup, data_setup_s=(0.001, 0.004))


def _folder(run: Run) -> str:
    """Return the folder of the checkpoints."""
    return f"gs://heron-ckpt/{run.name}/checkpoints"


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    begin = attempt.process_us
    text = "Attempting to initialize the jax distributed system for GPU backend..."
    yield say(begin, "max_utils.py:271", text, style)
    if attempt.init_us is None:
        return
    at = attempt.init_us
    yield say(at, "max_utils.py:273", "Jax distributed system initialized on GPU!", style)
    yield say(at, "max_utils.py:832", "System Information: Jax Version: 0.9.2", style)
    parameters = {
        "async_checkpointing": run.save_async,
        "emb_dim": 8192,
        "global_batch_size_to_train_on": run.batch,
        "max_target_length": _SEQUENCE,
        "run_name": run.name,
        "steps": run.target,
    }
    for name, value in parameters.items():
        yield say(at, "pyconfig.py:584", f"Config param {name}: {value}", style)
    yield say(
        at, "maxtext_utils.py:2274", f"Num_devices: {job.gpus}, shape (1, 1, 1, {job.gpus}, 1, 1)", style
    )
    yield say(at, "checkpointing.py:388", "Creating checkpoint manager with ocdbt=True and zarr3=True", style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    if read is None:
        text = "No existing checkpoints found, not restoring checkpoint."
        yield say(attempt.built_us, "checkpointing.py:681", text, style)
    else:
        text = f"restoring from this run's directory step {read.step - 1}"
        yield say(read.start_us, "checkpointing.py:525", text, style)
        yield from orbax_load(read, str(read.step - 1), _folder(run), style)
    loop = attempt.loop_us
    flops = run.batch * _SEQUENCE / job.gpus * _TERAFLOPS
    for text in ("Per train step:", f" Total TFLOPs: {flops:.2f} "):
        yield Printed(loop, 0, "out", text)
    text = (
        "Total estimated memory size: 71.2 GB, estimated output size: 21.4 GB, estimated temp size: 49.8 GB,"
        " estimated argument size: 21.4 GB, host temp size: 0.0 GB."
    )
    yield say(loop, "max_utils.py:821", text, style)
    yield say(loop, "metric_logger.py:374", f"number parameters: {_BILLIONS:.3f} billion", style)


def _steps(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each step: at its end, or after what the loop stood still for behind it."""
    assert attempt.loop_us is not None
    late = {stall.after: stall.end_us for stall in attempt.stalls if stall.category in _LATE}
    before = attempt.loop_us
    for step in attempt.steps:
        at = max(step.end_us, late.get(step.number, 0))
        spent = max(1, at - before) / SECOND
        tokens = run.batch * _SEQUENCE / job.gpus / spent
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        yield say(
            at,
            "metric_logger.py:226",
            f"completed step: {step.number - 1}, seconds: {spent:.3f},"
            f" TFLOP/s/device: {tokens * _TERAFLOPS:.3f}, Tokens/s/device: {tokens:.3f},"
            f" total_weights: {run.batch * _SEQUENCE}, loss: {loss:.3f}, lm_loss: {loss:.3f},"
            f" perplexity: {18.412:.3f}",
            style,
        )
        before = at


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves."""
    for save in attempt.saves:
        start, label = begin_of_wait(attempt, save), save.step - 1
        yield say(
            start, "checkpointing.py:968", f"Waiting for step {label} to finish before checkpoint...", style
        )
        text = f"Waited 0.0031 seconds for step {label} to finish before starting checkpointing."
        yield say(start, "checkpointing.py:972", text, style)
        yield from orbax_save(save, start, str(label), _folder(run), run.save_async, style)
        if save.blocked_us is None:
            continue
        text = (
            f"Started an asynchronous checkpoint save for step {label}"
            if run.save_async
            else f"Saved a checkpoint at step {label}."
        )
        yield say(save.blocked_us, "checkpointing.py:451", text, style)


def _evaluations(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of evaluations."""
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            label = stall.after - 1
            yield say(stall.start_us, "train.py:879", f"Starting eval after train step {label}", style)
            text = (
                f"Completed eval after train step {label}, loss=2.381, perplexity=10.816,"
                " total_weights=16777216, avg_z_loss=0.000"
            )
            yield say(stall.end_us, "metric_logger.py:258", text, style)


TRAINER = Trainer(
    "maxtext",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    exact=frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    world_late=True,
)
