"""The console of Megatron-DeepSpeed, by fork: steps without a time, which hold all since the line before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import _deepspeed
from pipeline.simulate.renderers._deepspeed import say
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_SEQUENCE = 2048


@dataclass(frozen=True, slots=True)
class Fork:
    """What the forks print differently.

    Attributes:
        seconds: whether step lines count in seconds.
        engine: whether lines of DeepSpeed stand between Megatron's, and the launcher is its own.
    """

    seconds: bool = False
    engine: bool = True

    def render(self, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
        """Yield what one attempt prints."""
        yield from _start(self, run, job, attempt, style)
        if attempt.loop_us is not None:
            lines = [*_steps(self, run, job, attempt, style), *_saves(self, run, job, attempt)]
            if self.engine:
                lines += _deepspeed.saves(run, attempt, style)
            yield from sorted(lines, key=lambda line: line.time_us)
        end = attempt.end
        if end is not None and end.fault == "completed":
            yield _datetime(end.stop_us, "after training is done", style)
        elif end is not None and end.told_us is not None:
            yield _datetime(end.stop_us, BY_NAME[end.fault].farewell, style)


def _datetime(time_us: int, what: str, style: Style) -> Printed:
    """Return a line that says what time it is."""
    return say(time_us, f"[{what}] datetime: {style.local(time_us).strftime('%Y-%m-%d %H:%M:%S')} ")


def _timer(fork: Fork, time_us: int, name: str, length_us: int, rank: int) -> Iterator[Printed]:
    """Yield one timer: of the last rank, or the shortest and the longest time of any, in milliseconds."""
    spent = length_us / 1000
    if fork.seconds:
        yield say(time_us, f"time (ms) | {name}: {spent:.2f}", rank)
        return
    yield say(time_us, "(min, max) time across ranks (ms):", rank)
    yield say(time_us, f"    {name} {'.' * (47 - len(name))}: ({0.999 * spent:.2f}, {spent:.2f})", rank)


def _start(fork: Fork, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    if fork.engine:
        yield from _deepspeed.launch(run, job, attempt, style)
    begin, last = attempt.process_us, job.gpus - 1
    yield say(begin, "**** Git info for Megatron: git_hash=3c5d1f0 git_branch=main ****")
    yield say(begin, "------------------------ arguments ------------------------")
    arguments = {
        "deepspeed": True,
        "global_batch_size": run.batch,
        "log_interval": style.log_interval,
        "seq_length": _SEQUENCE,
        "train_iters": run.target,
        "world_size": job.gpus,
    }
    for name, value in arguments.items():
        yield say(begin, f"  {name} {'.' * (48 - len(name))} {value}")
    yield say(begin, "-------------------- end of arguments ---------------------")
    yield say(begin, "> initializing torch distributed ...")
    if attempt.init_us is None:
        return
    spent = (attempt.init_us - begin) / SECOND
    yield say(attempt.init_us, f"time to initialize megatron (seconds): {spent:.3f}")
    yield _datetime(attempt.init_us, "after megatron is initialized", style)
    yield say(attempt.init_us, "building GPT model ...")
    if attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    built = read.start_us if read is not None else attempt.built_us
    yield say(built, "DeepSpeed is enabled.")
    if fork.engine:
        yield from _deepspeed.configuration(run, built, style)
        yield from _deepspeed.load(run, attempt, style)
    if read is not None:
        yield say(
            read.start_us, f" loading checkpoint from {_deepspeed.folder(run)} at iteration {read.step}"
        )
        yield say(
            read.end_us,
            f"  successfully loaded checkpoint from {_deepspeed.folder(run)} at iteration {read.step}",
        )
        yield from _timer(fork, read.end_us, "load-checkpoint", read.end_us - read.start_us, last)
    else:
        yield say(built, "    will not load any checkpoints and will start from random")
    yield _datetime(attempt.built_us, "after model, optimizer, and learning rate scheduler are built", style)
    yield _datetime(attempt.loop_us, "after dataloaders are built", style)
    yield say(attempt.loop_us, "done with setup ...")
    yield say(attempt.loop_us, "training ...")
    yield _datetime(attempt.loop_us, "before the start of training step", style)


def _steps(fork: Fork, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of each interval; the printed time is all since the line before, stalls and all."""
    assert attempt.loop_us is not None
    since, count = attempt.loop_us, 0
    for step in attempt.steps:
        count += 1
        if step.number % style.log_interval:
            continue
        spent = (step.end_us - since) / count
        rate = SECOND * run.batch / spent
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        length = f"(s): {spent / SECOND:.2f}" if fork.seconds else f"(ms): {spent / 1000:.1f}"
        more = f" tokens per gpu per second (tgs): {rate * _SEQUENCE / job.gpus:.3f} |"
        if fork.engine:
            yield from _deepspeed.step(step.number, step.end_us, style)
        yield say(
            step.end_us,
            f" iteration {step.number:8d}/{run.target:8d} | consumed samples: {step.number * run.batch:12d} |"
            f" consumed tokens: {step.number * run.batch * _SEQUENCE:12d} |"
            f" elapsed time per iteration {length} | learning rate: 1.000E-04 |"
            f" global batch size: {run.batch:5d} | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 0.412 |"
            " num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 |"
            f" samples per second: {rate:.3f} |{'' if fork.seconds else more} TFLOPs: 160.77 |",
            job.gpus - 1,
        )
        since, count = step.end_us, 0


def _saves(fork: Fork, run: Run, job: Job, attempt: Attempt) -> Iterator[Printed]:
    """Yield Megatron's own lines of saves, which carry no time."""
    for save in attempt.saves:
        where = f"at iteration {save.step:7d} to {_deepspeed.folder(run)}"
        yield say(save.start_us, f"saving checkpoint {where}")
        if save.blocked_us is None or save.durable_us is None:
            continue
        spent = save.blocked_us - save.start_us
        yield say(save.durable_us, f"  successfully saved checkpoint {where}")
        if not fork.seconds:
            speed = 106.625 / (spent / SECOND)
            text = f"Checkpoint Save GB: 106.625, GB/Sec: {speed:.1f}, Latency(second): {spent / SECOND:.3f}"
            yield say(save.durable_us, text)
        yield from _timer(fork, save.durable_us, "save-checkpoint", spent, job.gpus - 1)
