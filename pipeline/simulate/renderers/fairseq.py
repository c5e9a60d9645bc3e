"""The log of fairseq 0.12: rank 0 tells of everything, metrics as JSON, times in whole seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style, in_order
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_SEQUENCE = 2048


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is None:
        return
    lines = in_order(_steps(run, attempt, style), _evaluations(attempt, style), _saves(run, attempt, style))
    yield from lines
    end = attempt.end
    if end is not None and end.fault == "completed":
        spent = (end.stop_us - attempt.loop_us) / SECOND
        yield _say(end.left_us, "fairseq_cli.train", f"done training in {spent:.1f} seconds", style)


def suits(plan: Plan) -> Plan:
    """Return a plan in which the loop waits for each save."""
    return replace(plan, save_async=False, saves_last=True)


def _say(time_us: int, logger: str, text: str, style: Style) -> Printed:
    """Return a line of a logger of rank 0."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S")
    return Printed(time_us, 0, "out", f"{stamp} | INFO | {logger} | {text}")


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    master = f"tcp://{job.hosts[0]}:13900"
    utils = "fairseq.distributed.utils"
    yield _say(attempt.process_us, utils, f"distributed init (rank 0): {master}", style)
    text = "Added key: store_based_barrier_key:1 to store for rank: 0"
    yield _say(attempt.process_us, "torch.distributed.distributed_c10d", text, style)
    at = attempt.init_us
    if at is None:
        return
    yield _say(at, utils, f"initialized host {job.hosts[0]} as rank 0", style)
    configuration = {
        "_name": None,
        "common": {"log_interval": style.log_interval},
        "optimization": {"max_update": run.target, "update_freq": [1]},
        "task": {"tokens_per_sample": _SEQUENCE},
    }
    yield _say(at, "fairseq_cli.train", str(configuration), style)
    yield _say(at, "fairseq_cli.train", f"training on {job.gpus} devices (GPUs/TPUs)", style)
    limits = "max tokens per device = 4096 and max sentences per device = None"
    yield _say(at, "fairseq_cli.train", limits, style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    built = attempt.built_us if read is None else read.start_us
    last = f"{_folder(run)}/checkpoint_last.pt"
    yield _say(built, "fairseq_cli.train", "criterion: CrossEntropyCriterion", style)
    if read is None:
        yield _say(built, "fairseq.trainer", f"No existing checkpoint found {last}", style)
    else:
        yield _say(read.start_us, "fairseq.trainer", f"Preparing to load checkpoint {last}", style)
        text = f"Loaded checkpoint {last} (epoch 1 @ {read.step} updates)"
        yield _say(read.end_us, "fairseq.trainer", text, style)
    yield _say(attempt.built_us, "fairseq.trainer", "loading train data for epoch 1", style)
    yield _say(attempt.loop_us, "fairseq.trainer", "begin training epoch 1", style)
    yield _say(attempt.loop_us, "fairseq_cli.train", "Start iterating over samples", style)


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each interval; its rate covers all since the line before."""
    since = attempt.loop_us or attempt.process_us
    spent = count = 0
    for step in attempt.steps:
        spent += step.end_us - step.start_us
        count += 1
        if step.number % style.log_interval:
            continue
        rate = count * SECOND / (step.end_us - since)
        metrics = {
            "epoch": 1,
            "update": round(step.number / run.target, 3),
            "loss": f"{2.0 + 9.0 / (1.0 + step.number / 40.0):.3f}",
            "wps": f"{rate * run.batch * _SEQUENCE:.1f}",
            "ups": f"{rate:.2f}",
            "wpb": f"{run.batch * _SEQUENCE}",
            "bsz": f"{run.batch}",
            "num_updates": f"{step.number}",
            "gnorm": "0.412",
            "train_wall": f"{spent / SECOND:.0f}",
            "wall": f"{(step.end_us - attempt.process_us) / SECOND:.0f}",
        }
        yield _say(step.end_us, "train_inner", json.dumps(metrics), style)
        since, spent, count = step.end_us, 0, 0


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves."""
    for save in attempt.saves:
        path = f"{_folder(run)}/checkpoint_1_{save.step}.pt"
        text = f"Preparing to save checkpoint for epoch 1 @ {save.step} updates"
        yield _say(save.start_us, "fairseq.checkpoint_utils", text, style)
        yield _say(save.start_us, "fairseq.trainer", f"Saving checkpoint to {path}", style)
        if save.blocked_us is not None:
            spent = (save.blocked_us - save.start_us) / SECOND
            yield _say(
                save.blocked_us,
                "fairseq.checkpoint_utils",
                f"Saved checkpoint {path} (epoch 1 @ {save.step} updates, score None)"
                f" (writing took {spent:.6f} seconds)",
                style,
            )


def _evaluations(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of evaluations."""
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            begin = 'begin validation on "valid" subset'
            yield _say(stall.start_us, "fairseq_cli.train", begin, style)
            stats = {"epoch": 1, "valid_loss": "3.52", "valid_num_updates": f"{stall.after}"}
            yield _say(stall.end_us, "valid", json.dumps(stats), style)


def _folder(run: Run) -> str:
    """Return the folder of a run."""
    return f"/lustre/ckpt/{run.name}"


TRAINER = Trainer(
    "fairseq",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    exact=frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    resolution_us=SECOND,
    shows_exit=True,
    world_late=True,
)
