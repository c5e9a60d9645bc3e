"""The log of OLMo-core 2.5: rank 0 tells of everything, and metrics come a moment after their step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style, in_order
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_PARAMETERS = 32_233_522_176
_SEQUENCE = 8192
#: Metrics are collected, and printed, at every so many lines.
_COLLECT = 5
#: How long another thread needs for that.
_LATE = 300_000


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    end = attempt.end
    if attempt.loop_us is None:
        return
    lines = in_order(_steps(run, job, attempt, style), _saves(run, job, attempt, style))
    yield from in_order(lines, _evaluations(job, attempt, style))
    if end is not None and end.fault == "completed":
        yield _say(end.left_us, "trainer:764", "Training complete", job, style)


def suits(plan: Plan) -> Plan:
    """Return a plan in which nothing lies before the first line, and the last step is saved."""
    provisioning = (plan.provisioning_s[0] + plan.init_s[0], plan.provisioning_s[1] + plan.init_s[1])
    return replace(
        plan,
        provisioning_s=provisioning,
        init_s=(0.001, 0.004),
        failed_start=0.0,
        saves_last=True,
    )


def _say(time_us: int, where: str, text: str, job: Job, style: Style) -> Printed:
    """Return a line of the logger of rank 0: its fields stand between tabs."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    logger = f"olmo_core.train{'' if where.startswith(':') else '.'}{where}"
    return Printed(time_us, 0, "out", f"{stamp}\t{job.hosts[0]}:0\t{logger}\tINFO\t{text}")


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""

    def say(time_us: int, where: str, text: str) -> Printed:
        return _say(time_us, where, text, job, style)

    at = attempt.init_us
    if at is None:
        return
    yield say(at, ":148", "Using distributed backend cpu:gloo,cuda:nccl")
    shards = min(8, job.gpus)
    mesh = f"dp_replicate={job.gpus // shards}, dp_shard={shards}"
    yield say(at, "train_module.parallel:246", f"Built 2D device mesh with shape ({mesh})")
    yield say(at, "train_module.transformer.train_module:141", f"Data parallel world size = {job.gpus}")
    yield Printed(
        at, 0, "out", f"Total parameters:                {_PARAMETERS:,d} ({_PARAMETERS:,d} active)"
    )
    if attempt.built_us is None or attempt.loop_us is None:
        return
    yield say(at, "train_module.transformer.train_module:198", "Building optimizer...")
    read = attempt.restore
    folder = _folder(run)
    if read is None:
        text = f"No checkpoint found in save folder ('{folder}') or load path ('None')"
        yield say(attempt.built_us, "trainer:711", f"{text}, will train from scratch...")
    else:
        yield say(read.start_us, "trainer:902", f"Loading checkpoint from '{folder}/step{read.step}'...")
        yield say(read.end_us, "trainer:836", f"Will resume training from step {read.step}, epoch 1")
        yield say(read.end_us, "trainer:923", "Checkpoint successfully loaded")
    yield say(attempt.built_us, "trainer:719", f"Training for {run.target:,d} steps")
    device = "Device: NVIDIA H100 80GB HBM3, Device peak Flops/s: 989500000000000"
    yield say(attempt.built_us, "callbacks.speed_monitor:114", device)
    yield say(attempt.built_us, "trainer:1462", "Starting forward/backward dry-run batch...")
    yield say(attempt.loop_us, "trainer:1464", "Dry-run complete")
    yield say(attempt.loop_us, "trainer:1469", "Starting epoch 1...")


def _steps(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each step of the interval, behind its save; some come with metrics, and late."""
    saved = {save.step: save for save in attempt.saves}
    for at, step in enumerate(attempt.steps):
        save = saved.get(step.number)
        progress = f"[step={step.number}/{run.target},epoch=1"
        if step.number == 1 or step.number % (_COLLECT * style.log_interval) == 0:
            # A save has what is known so far printed, and what is measured around it is printed afterwards.
            times = [step.end_us + _LATE] if save is None else [save.start_us]
            times += [save.blocked_us] if save is not None and save.blocked_us is not None else []
            stop = attempt.end.stop_us if attempt.end is not None else attempt.steps[-1].end_us
            for time_us in times:
                if time_us <= max(stop, attempt.steps[-1].end_us):
                    yield from _metrics(time_us, f"{progress},eta=4d7h11m]", attempt, at, job, style, run)
        elif step.number % style.log_interval == 0:
            if save is None:
                yield _say(step.end_us, "callbacks.console_logger:61", f"{progress}]", job, style)
            elif save.blocked_us is not None:
                yield _say(save.blocked_us, "callbacks.console_logger:61", f"{progress}]", job, style)


def _metrics(
    time_us: int, progress: str, attempt: Attempt, at: int, job: Job, style: Style, run: Run
) -> Iterator[Printed]:
    """Yield a line with the metrics of a step below it."""
    step = attempt.steps[at]
    rate = run.batch * _SEQUENCE * SECOND / (step.end_us - step.start_us) / job.gpus
    yield _say(time_us, "callbacks.console_logger:68", progress, job, style)
    metrics = {
        "train/CE loss": f"{2.0 + 9.0 / (1.0 + step.number / 40.0):.3f}",
        "optim/total grad norm": "0.4120",
        "throughput/device/data loading (s)": "0.0041",
        "throughput/device/TPS": f"{int(rate):,d}",
        "throughput/device/MFU": f"{100 * 6.4 * _PARAMETERS * rate / 989.5e12:.2f}",
    }
    for name, value in metrics.items():
        yield Printed(time_us, 0, "out", f"    {name}={value}")


def _saves(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves; the loop waits for the last one, and for the save before none has to wait."""
    for save in attempt.saves:
        text = f"Saving checkpoint for step {save.step} to '{_folder(run)}/step{save.step}'"
        if run.save_async and save.step != run.target:
            yield _say(save.start_us, "trainer:1008", f"{text} asynchronously...", job, style)
            if save.durable_us is not None:
                done = f"Checkpoint for step {save.step} saved successfully"
                yield _say(save.durable_us, "trainer:1031", done, job, style)
        else:
            yield _say(save.start_us, "trainer:970", f"{text}...", job, style)
            if save.blocked_us is not None:
                yield _say(save.blocked_us, "trainer:990", "Checkpoint saved", job, style)


def _evaluations(job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of evaluations."""
    where = "callbacks.evaluator_callback"
    for stall in attempt.stalls:
        if stall.category != "evaluation":
            continue
        spent = (stall.end_us - stall.start_us) / SECOND
        yield _say(stall.start_us, f"{where}:134", "Running lm evals...", job, style)
        yield _say(
            stall.end_us, f"{where}:178", f"Finished lm evals in {spent:.1f} seconds. Metrics:", job, style
        )
        yield Printed(stall.end_us, 0, "out", "    heron_val/CE loss=2.411")


def _folder(run: Run) -> str:
    """Return the folder of a run."""
    return f"/lustre/ckpt/{run.name}"


TRAINER = Trainer(
    "olmo_core",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    exact=frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    dates_start=False,
    tells_late=True,
    shows_exit=True,
    world_late=True,
)
