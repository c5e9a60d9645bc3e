"""The log of nanotron 0.4: no line says when a save is over, and times are whole seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_SEQUENCE = 4096
_PARAMETERS = 6_738_415_616


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is not None:
        yield from _steps(run, job, attempt, style)


def suits(plan: Plan) -> Plan:
    """Return a plan in which nothing lies before the first line."""
    provisioning = (plan.provisioning_s[0] + plan.init_s[0], plan.provisioning_s[1] + plan.init_s[1])
    return replace(plan, provisioning_s=provisioning, init_s=(0.001, 0.004))


def _say(time_us: int, text: str, job: Job, style: Style, rank: int = 0, level: str = "INFO") -> Printed:
    """Return a line of the logger of a rank, with its place among replicas, stages and tensor ranks."""
    stamp = style.local(time_us).strftime("%m/%d/%Y %H:%M:%S")
    host = job.hosts[rank // max(1, job.gpus // len(job.hosts))]
    place = f"DP={rank // min(8, job.gpus)}|PP=0|TP={rank % min(8, job.gpus)}"
    return Printed(time_us, rank, "out", f"{stamp} [{level}|{place}|{host}]: {text}")


def _human(number: float) -> str:
    """Return a number with three digits and a unit behind it."""
    digits = float(f"{number:.3g}")
    units = ["", "K", "M", "G", "T"]
    while digits >= 1000 and len(units) > 1:
        digits /= 1000
        units.pop(0)
    return f"{digits:f}".rstrip("0").rstrip(".") + units[0]


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    at = attempt.init_us
    if at is None:
        return
    tensor = min(8, job.gpus)
    yield _say(at, "Config:", job, style)
    yield Printed(at, 0, "out", f"       parallelism=ParallelismArgs(dp={job.gpus // tensor},")
    yield Printed(at, 0, "out", "                                   pp=1,")
    yield Printed(at, 0, "out", f"                                   tp={tensor},")
    if attempt.built_us is None or attempt.loop_us is None:
        return
    built = attempt.built_us
    yield _say(built, f"Total number of parameters: {_human(_PARAMETERS)} (12857.02MiB)", job, style)
    yield _say(built, "[After model building] Memory usage: 1612.02MiB.", job, style)
    yield _say(built, "No checkpoint path provided.", job, style)
    clock = style.local(attempt.loop_us).strftime("%Y-%m-%d %H:%M:%S.%f")
    yield _say(
        attempt.loop_us,
        f"[Start training] datetime: {clock} | mbs: 1 | grad_accum: 1 | global_batch_size: {run.batch}"
        f" | sequence_length: {_SEQUENCE} | train_steps: {run.target} | start_iteration_step: 0"
        " | consumed_train_samples: 0",
        job,
        style,
    )


def _steps(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for the first step and every so many after it, with the time of that step alone."""
    for step in attempt.steps:
        if (step.number - 1) % style.log_interval:
            continue
        spent = step.end_us - step.start_us
        rate = run.batch * _SEQUENCE * SECOND / spent
        fields = {
            "consumed_tokens": _human(step.number * run.batch * _SEQUENCE),
            "elapsed_time_per_iteration_ms": _human(spent / 1000),
            "tokens_per_sec": _human(rate),
            "tokens_per_sec_per_gpu": _human(rate / job.gpus),
            "global_batch_size": _human(run.batch),
            "lm_loss": _human(2.0 + 9.0 / (1.0 + step.number / 40.0)),
            "lr": "0.0003",
            "model_tflops_per_gpu": _human(6.4 * _PARAMETERS * rate / job.gpus / 1e12),
            "hardware_tflops_per_gpu": _human(6.4 * _PARAMETERS * rate / job.gpus / 1e12),
            "grad_norm": "0.412",
        }
        text = " | ".join(f"{name}: {value}" for name, value in fields.items())
        yield _say(step.end_us, f"iteration: {step.number} / {run.target} | {text}", job, style)


TRAINER = Trainer(
    "nanotron",
    render,
    frozenset(),
    suits=suits,
    resolution_us=SECOND,
    dates_start=False,
    world_late=True,
)
