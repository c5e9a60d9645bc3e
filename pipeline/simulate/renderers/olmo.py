"""The log of OLMo: rank 0 tells of everything, and no line of a save's begin names its step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style, in_order
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_PARAMETERS = 7_298_011_136
_SEQUENCE = 4096


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is None:
        return
    lines = in_order(_steps(run, job, attempt, style), _saves(run, job, attempt, style))
    yield from in_order(lines, _evaluations(job, attempt, style))
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _say(end.left_us, "train:377", "Training complete", job, style)


def suits(plan: Plan) -> Plan:
    """Return a plan in which nothing lies before the first line, and the loop waits for each save."""
    provisioning = (plan.provisioning_s[0] + plan.init_s[0], plan.provisioning_s[1] + plan.init_s[1])
    return replace(
        plan,
        provisioning_s=provisioning,
        init_s=(0.001, 0.004),
        failed_start=0.0,
        save_async=False,
        saves_last=True,
    )


def _say(time_us: int, where: str, text: str, job: Job, style: Style) -> Printed:
    """Return a line of the logger of rank 0: its fields stand between tabs."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    return Printed(time_us, 0, "out", f"{stamp}\t{job.hosts[0]}:0\t{where}\tINFO\t{text}")


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    at = attempt.init_us
    if at is None:
        return
    yield _say(at, "train:417", "CLI environment prepared", job, style)
    yield _say(at, "train:97", "Configuration:", job, style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    built = attempt.built_us if read is None else read.start_us
    yield _say(built, "train:139", "Building model...", job, style)
    yield _say(built, "train:141", f"Total number of parameters: {_PARAMETERS:,d}", job, style)
    yield _say(built, "train:172", "Wrapping model with FSDP...", job, style)
    yield _say(built, "train:232", "Peak GPU Memory (MB) after fsdp: 1204", job, style)
    if read is not None:
        text = f"Loading checkpoint from {_folder(run)}/step{read.step}..."
        yield _say(read.start_us, "train:352", text, job, style)
        text = f"Data loader will start at instance index {read.step * run.batch:,d}"
        yield _say(read.end_us, "olmo.train:405", text, job, style)
        yield _say(read.end_us, "train:359", "Checkpoint successfully loaded", job, style)
    yield _say(attempt.loop_us, "train:375", "Starting training...", job, style)
    yield _say(attempt.loop_us, "olmo.train:1121", "Pre-train system metrics", job, style)


def _steps(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each step of the interval, with its metrics below it."""
    for step in attempt.steps:
        if step.number % style.log_interval:
            continue
        rate = run.batch * _SEQUENCE * SECOND / attempt.step_us / job.gpus
        text = f"[step={step.number}/{run.target},epoch=0]"
        yield _say(step.end_us, "olmo.train:979", text, job, style)
        metrics = {
            "train/CrossEntropyLoss": f"{2.0 + 9.0 / (1.0 + step.number / 40.0):.3f}",
            "throughput/total_tokens": f"{step.number * run.batch * _SEQUENCE:,d}",
            "throughput/device/tokens_per_second": f"{int(rate):,d}",
            "optim/total_grad_norm": "0.4120",
        }
        for name, value in metrics.items():
            yield Printed(step.end_us, 0, "out", f"    {name}={value}")


def _saves(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves."""
    for save in attempt.saves:
        last = "final " * (save.step == run.target)
        yield _say(save.start_us, "olmo.train:1271", f"Saving {last}checkpoint...", job, style)
        if save.blocked_us is not None:
            text = f"Checkpoint saved to {_folder(run)}/step{save.step}"
            yield _say(save.blocked_us, "olmo.train:1273", text, job, style)


def _evaluations(job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of evaluations."""
    for stall in attempt.stalls:
        if stall.category != "evaluation":
            continue
        text = "Running evaluation for 'heron-validation'..."
        yield _say(stall.start_us, "olmo.train:1018", text, job, style)
        yield _say(stall.end_us, "olmo.train:979", "heron-validation", job, style)
        yield Printed(stall.end_us, 0, "out", "    eval/heron-validation/CrossEntropyLoss=2.702")


def _folder(run: Run) -> str:
    """Return the folder of a run."""
    return f"/lustre/ckpt/{run.name}"


TRAINER = Trainer(
    "olmo",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    exact=frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    dates_start=False,
    shows_exit=True,
    shows_world=False,
)
