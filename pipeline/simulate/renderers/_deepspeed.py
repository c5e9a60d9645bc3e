"""What DeepSpeed's launcher and engine print of an attempt, in the years in which they told of everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.split import parts_of
from pipeline.simulate.story import Attempt, Job, Run, Split, Step

#: Ranks of which the lines of files and loads are written out: enough to see that each prints its own.
_RANKS = 2

#: Micro steps of a step, as the configuration says.
_MICRO = 8


def say(time_us: int, text: str, rank: int = 0, host: str = "") -> Printed:
    """Return a line on the standard output of a rank."""
    return Printed(time_us, rank, "out", text, host)


def message(time_us: int, place: str, text: str, style: Style, rank: int = 0) -> Printed:
    """Return a message behind DeepSpeed's header; ``place`` is file, line and function."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return say(time_us, f"[{stamp}] [INFO] [{place}] {text}", rank)


def folder(run: Run) -> str:
    """Return the folder of the checkpoints of a run."""
    return f"/lustre/ckpt/{run.name}"


def launch(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what the launcher of the first node prints before it starts its processes."""
    begin, each = attempt.process_us, run.gpus_per_host
    names = ", ".join(f"'{host}': {list(range(each))}" for host in job.hosts[:2])
    yield message(begin, "launch.py:145:main", f"WORLD INFO DICT: {{{names}}}", style)
    sizes = f"nnodes={len(job.hosts)}, num_local_procs={each}, node_rank=0"
    yield message(begin, "launch.py:151:main", sizes, style)
    yield message(begin, "launch.py:163:main", f"dist_world_size={job.gpus}", style)
    devices = ",".join(map(str, range(each)))
    yield message(begin, "launch.py:165:main", f"Setting CUDA_VISIBLE_DEVICES={devices}", style)
    command = "['/opt/env/bin/python', '-u', 'train.py', '--local_rank=0']"
    yield message(begin, "launch.py:253:main", f"process 20117 spawned with command: {command}", style)


def configuration(run: Run, time_us: int, style: Style) -> Iterator[Printed]:
    """Yield the configuration that an engine prints when it is built."""
    place = "config.py:1004:print"
    yield message(time_us, "config.py:1000:print", "DeepSpeedEngine configuration:", style)
    values = {
        "gradient_accumulation_steps": _MICRO,
        "steps_per_print": style.log_interval,
        "train_batch_size": run.batch,
        "train_micro_batch_size_per_gpu": 4,
        "zero_optimization_stage": 1,
    }
    for name, value in values.items():
        dots = "." * (29 - len(name) - 1)
        yield message(time_us, place, f"  {name} {dots}{' ' * bool(dots)}{value}", style)


def load(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of a load, or of its absence."""
    read = attempt.restore
    if read is None:
        assert attempt.built_us is not None
        stamp = style.local(attempt.built_us).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        yield say(
            attempt.built_us,
            f"[{stamp}] [WARNING] [engine.py:2740:load_checkpoint] Unable to find latest file at"
            f" {folder(run)}/latest, if trying to load latest checkpoint please ensure this file exists "
            f"or pass"
            " an explicit checkpoint tag when loading a checkpoint.",
        )
        return
    place = "torch_checkpoint_engine.py:27:load"
    for rank in range(_RANKS):
        path = f"{folder(run)}/global_step{read.step}/mp_rank_{rank:02d}_model_states.pt"
        yield message(read.start_us, place, f"[Torch] Loading checkpoint from {path}...", style, rank)
        yield message(read.end_us, place, f"[Torch] Loaded checkpoint from {path}.", style, rank)


def saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves, as releases 0.7 to 0.17.0 print them: from each rank that writes."""
    for save in attempt.saves:
        tag = f"global_step{save.step}"
        text = f"[Rank 0] [Torch] Checkpoint {tag} is about to be saved!"
        yield message(save.start_us, "logging.py:128:log_dist", text, style)
        for rank in range(_RANKS):
            path = f"{folder(run)}/{tag}/mp_rank_{rank:02d}_model_states.pt"
            yield message(
                save.start_us,
                "engine.py:3500:save_checkpoint",
                f"Saving model checkpoint: {path}",
                style,
                rank,
            )
            yield message(
                save.start_us, "torch_checkpoint_engine.py:21:save", f"[Torch] Saving {path}...", style, rank
            )
        if save.durable_us is None:
            continue
        for rank in range(_RANKS):
            text = f"[Torch] Checkpoint {tag} is ready now!"
            yield message(save.durable_us, "torch_checkpoint_engine.py:33:commit", text, style, rank)


def step(number: int, time_us: int, style: Style) -> Iterator[Printed]:
    """Yield the two lines of the engine after a step."""
    text = f"[Rank 0] step={number}, skipped=0, lr=[0.0001, 0.0001], mom=[(0.9, 0.95), (0.9, 0.95)]"
    yield message(time_us, "logging.py:128:log_dist", text, style)
    yield message(
        time_us,
        "timer.py:264:stop",
        f"epoch=0/micro_step={_MICRO * number}/global_step={number},"
        " RunningAvgSamplesPerSec=61.80213374100951, CurrSamplesPerSec=59.11742033118904,"
        " MemAllocated=41.2GB, MaxMemAllocated=70.9GB",
        style,
    )


def wall_clock(run: Run, attempt: Attempt, it: Step, split: Split, style: Style) -> Iterator[Printed]:
    """Yield the breakdown of a step by the device of rank 0: of each micro step, then their sums.

    A batch is fetched before the first of the timers starts. Gradients are reduced in the last micro step.
    """
    parts = parts_of(run, attempt, it, split)
    warm = attempt.warmup_us if it is attempt.steps[0] else 0
    forward, backward = 0.32 * parts.compute + warm + parts.bubble, 0.64 * parts.compute
    update = 0.04 * parts.compute + parts.memory_copy
    begin = it.start_us + parts.data_wait
    each = (it.end_us - begin) / _MICRO
    for micro in range(_MICRO):
        is_last = micro == _MICRO - 1
        reduced = parts.comm * is_last
        timers = {
            "fwd_microstep": forward / _MICRO,
            "bwd_microstep": backward / _MICRO + reduced,
            "bwd_inner_microstep": backward / _MICRO,
            "bwd_allreduce_microstep": reduced,
            "step_microstep": update * is_last,
        }
        yield _timed(it.end_us if is_last else round(begin + (micro + 1) * each), timers, style)
    sums = {
        "fwd": forward,
        "bwd": backward + parts.comm,
        "bwd_inner": backward,
        "bwd_allreduce": parts.comm,
        "step": update,
    }
    yield _timed(it.end_us, sums, style)


def _timed(time_us: int, timers: dict[str, float], style: Style) -> Printed:
    """Return a line of timers, in milliseconds."""
    told = " | ".join(f"{name}: {spent / 1000:.2f}" for name, spent in timers.items())
    return message(time_us, "logging.py:128:log_dist", f"[Rank 0] time (ms) | {told}", style)


def leave(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what the launcher prints of processes that leave by themselves, the last one with the last "
    "line."""
    end = attempt.end
    if end is None or end.fault != "completed":
        return
    for process in range(run.gpus_per_host):
        time_us = end.left_us - 10_000 * (run.gpus_per_host - 1 - process)
        text = f"Process {20117 + process} exits successfully."
        yield message(max(time_us, end.stop_us), "launch.py:351:main", text, style)


def suits(plan: Plan) -> Plan:
    """Return a plan that an engine can tell: no line ends the initialisation but the load or the first step.

    The loop waits for each save, as it does without another engine for them.
    """
    starts = (plan.init_s, plan.setup_s, plan.data_setup_s)
    start = (sum(shortest for shortest, _ in starts), sum(longest for _, longest in starts))
    return replace(plan, init_s=start, setup_s=(0.0, 0.0), data_setup_s=(0.002, 0.004), save_async=False)


def built_us(attempt: Attempt) -> int | None:
    """Return when the engine was built and its configuration printed, or None where that was never so."""
    if attempt.loop_us is None:
        return None
    return attempt.restore.start_us if attempt.restore is not None else attempt.built_us
