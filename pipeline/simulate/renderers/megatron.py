"""The console of Megatron-LM, core 0.16 on: rank 0 tells of start-up and saves, the last rank of steps."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import Attempt, Job, Run


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    style, last = style.at(job.hosts[0]), style.at(job.hosts[-1])
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is not None:
        yield from sorted(
            [*_steps(run, job, attempt, last), *_saves(run, attempt, style), *_evaluations(run, attempt)],
            key=lambda line: line.time_us,
        )
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _datetime(end.stop_us, "after training is done", style)
    elif end is not None and end.told_us is not None:
        yield _datetime(end.stop_us, BY_NAME[end.fault].farewell, style)


def _stamp(time_us: int, style: Style) -> str:
    """Return a time as the trainer prints it."""
    return style.local(time_us).strftime("%Y-%m-%d %H:%M:%S.%f")


def _say(time_us: int, text: str, rank: int = 0) -> Printed:
    """Return a line on the standard output of a rank."""
    return Printed(time_us, rank, "out", text)


def _datetime(time_us: int, what: str, style: Style) -> Printed:
    """Return a line that says what time it is."""
    return _say(time_us, f"[{what}] datetime: {_stamp(time_us, style)} ")


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    begin = attempt.process_us
    world = attempt.gpus(run)
    tensor = min(8, world)
    yield _say(
        begin,
        f"using world size: {world}, data-parallel size: {world // tensor}, context-parallel size: 1,"
        f" hierarchical context-parallel sizes: None, tensor-model-parallel size: {tensor},"
        " pipeline-model-parallel size: 1",
    )
    yield _say(begin, "------------------------ arguments ------------------------")
    arguments = {
        "async_save": run.save_async,
        "global_batch_size": run.batch,
        "log_interval": style.log_interval,
        "seq_length": 4096,
        "train_iters": run.target,
        "world_size": world,
    }
    for name, value in arguments.items():
        yield _say(begin, f"  {name} {'.' * (48 - len(name))} {value}")
    yield _say(begin, "-------------------- end of arguments ---------------------")
    yield _datetime(begin, "before library-setup", style)
    yield _say(begin, "> initializing torch distributed ...")
    if attempt.init_us is None:
        return
    yield _datetime(attempt.init_us, "after megatron is initialized", style)
    yield _say(attempt.init_us, "building GPT model ...")
    if attempt.built_us is None or attempt.loop_us is None:
        return
    last, read = world - 1, attempt.restore
    if read is None:
        yield _say(attempt.built_us, "    will not load any checkpoints and will start from random")
    else:
        yield _say(
            read.start_us, f" loading distributed checkpoint from {_folder(run)} at iteration {read.step}"
        )
        yield _say(
            read.end_us,
            f"  successfully loaded checkpoint from {_folder(run)} [ t 1/{tensor}, p 1/1 ]"
            f" at iteration {read.step}",
        )
        spent = (read.end_us - read.start_us) / 1000
        yield _say(read.end_us, "(min, max) time across ranks (ms):", last)
        yield _say(
            read.end_us,
            f"    load-checkpoint ................................: ({spent - 1.5:.2f}, {spent:.2f})",
            last,
        )
    yield _datetime(attempt.built_us, "after model, optimizer, and learning rate scheduler are built", style)
    yield _say(attempt.built_us, "> building train, validation, and test datasets ...")
    yield _datetime(attempt.loop_us, "after dataloaders are built", style)
    yield _say(attempt.loop_us, "done with setup ...")
    yield _say(attempt.loop_us, "training ...")
    yield _datetime(attempt.loop_us, "before the start of training step", style)


def _steps(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the step lines: one for the first step of a process, then one for each interval."""
    spent = count = 0
    for step in attempt.steps:
        spent += step.end_us - step.start_us
        count += 1
        if step is not attempt.steps[0] and step.number % style.log_interval:
            continue
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        stamp = f"[{_stamp(step.end_us, style)}] " if style.stamps else ""
        yield _say(
            step.end_us,
            f" {stamp}iteration {step.number:8d}/{run.target:8d} |"
            f" consumed samples: {step.number * run.batch:12d} |"
            f" elapsed time per iteration (ms): {spent / count / 1000:.1f} |"
            f" learning rate: 1.000000E-04 | global batch size: {run.batch:5d} | lm loss: {loss:.6E} |"
            " loss scale: 1.0 | grad norm: 0.412 | number of skipped iterations:   0 |"
            " number of nan iterations:   0 |",
            attempt.gpus(run) - 1,
        )
        spent = count = 0


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves."""
    for save in attempt.saves:
        where = f"at iteration {save.step:7d} to {_folder(run)}"
        yield _say(
            save.start_us, f"[{_stamp(save.start_us, style)}] saving checkpoint {where} in torch_dist format"
        )
        if run.save_async and save.blocked_us is not None:
            yield _say(
                save.blocked_us,
                f"  [{_stamp(save.blocked_us, style)}] scheduled an async checkpoint save {where}",
            )
        if save.durable_us is not None:
            yield _say(
                save.durable_us,
                f"  [{_stamp(save.durable_us, style)}] successfully saved checkpoint"
                f" from iteration {save.step:7d} to {_folder(run)} [ t 1/8, p 1/1 ]",
            )


def _evaluations(run: Run, attempt: Attempt) -> Iterator[Printed]:
    """Yield the lines of evaluations, which carry no time but say how long they took."""
    last = attempt.gpus(run) - 1
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            spent = (stall.end_us - stall.start_us) / 1000
            yield _say(stall.end_us, "(min, max) time across ranks (ms):", last)
            yield _say(stall.end_us, f"    evaluate {'.' * 39}: ({spent - 0.71:.2f}, {spent:.2f})", last)
            yield _say(
                stall.end_us,
                f" validation loss at iteration {stall.after} on validation set |"
                " lm loss value: 2.113377E+00 | lm loss PPL: 8.276128E+00 | ",
            )


def _folder(run: Run) -> str:
    """Return the folder of the checkpoints."""
    return f"/lustre/ckpt/{run.name}"


TRAINER = Trainer(
    "megatron",
    render,
    frozenset({"checkpoint_stall", "evaluation", "loop_gap"}),
    exact=frozenset({"checkpoint_stall"}),
)
