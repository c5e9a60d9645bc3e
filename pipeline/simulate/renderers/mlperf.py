"""MLLOG lines of a benchmark, as language models print them since round 5.1: rank 0 tells of everything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run, Stall

_SEQUENCE = 8192
#: Metadata of a line.
_Facts = dict[str, object]


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints; times are UTC, whatever the clock on the wall shows."""
    yield from _start(run, job, attempt)
    if attempt.loop_us is None:
        return
    yield from sorted([*_steps(run, attempt, style), *_blocks(run, attempt)], key=lambda line: line.time_us)
    end = attempt.end
    if end is not None and end.fault == "completed":
        done = attempt.steps[-1].number * run.batch
        yield _line(end.stop_us, "run_stop", None, {"samples_count": done, "status": "success"})


def suits(plan: Plan) -> Plan:
    """Return a plan in which one phase holds the whole start, warm-up included, and nothing is saved."""
    starts = (plan.init_s, plan.setup_s, plan.data_setup_s, plan.warmup_s)
    start = (sum(shortest for shortest, _ in starts), sum(longest for _, longest in starts))
    nothing = (0.0, 0.0)
    return replace(
        plan, init_s=start, setup_s=nothing, data_setup_s=(0.002, 0.004), warmup_s=nothing, save_every=0
    )


def _line(time_us: int, key: str, value: object, metadata: _Facts | None = None) -> Printed:
    """Return an MLLOG line of rank 0; its time is in milliseconds."""
    edge = {"start": "INTERVAL_START", "stop": "INTERVAL_END"}.get(key.rpartition("_")[2], "POINT_IN_TIME")
    record = {
        "namespace": "",
        "time_ms": time_us // 1000,
        "event_type": edge,
        "key": key,
        "value": value,
        "metadata": {"file": "/workspace/llm/train.py", "lineno": 118, **(metadata or {})},
    }
    return Printed(time_us, 0, "out", f":::MLLOG {json.dumps(record)}")


def _start(run: Run, job: Job, attempt: Attempt) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    begin = attempt.process_us
    yield _line(begin, "cache_clear", True)
    yield _line(begin, "init_start", None)
    facts = {
        "submission_benchmark": run.name,
        "submission_division": "closed",
        "submission_platform": f"{len(job.hosts)}xHERON GX",
        "seed": 20117,
        "global_batch_size": run.batch,
        "gradient_accumulation_steps": 1,
        "max_sequence_length": _SEQUENCE,
        "max_steps": run.target,
        "init_checkpoint_step": 0,
        "opt_base_learning_rate": 0.0001,
    }
    for key, value in facts.items():
        yield _line(begin + SECOND, key, value)
    if attempt.init_us is None:
        return
    warm = {"warmup_time": round((attempt.init_us - begin) / SECOND / 3, 4)}
    yield _line(attempt.init_us, "tracked_stats", warm, {"step": 0})
    yield _line(attempt.init_us, "init_stop", None)
    if attempt.loop_us is not None:
        yield _line(attempt.loop_us, "run_start", None)


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for each interval; the printed time is a mean over its steps."""
    spent = count = 0
    for step in attempt.steps:
        spent += step.end_us - step.start_us
        count += 1
        if step.number % style.log_interval:
            continue
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        stats = {"train_step_time": spent / count / SECOND, "reduced_train_loss": round(loss, 5)}
        facts: _Facts = {"step": float(step.number), "samples_count": float(step.number * run.batch)}
        yield _line(step.end_us, "tracked_stats", stats, facts)
        spent = count = 0


def _blocks(run: Run, attempt: Attempt) -> Iterator[Printed]:
    """Yield the lines of blocks of training, and of the evaluations between them."""
    assert attempt.loop_us is not None
    yield _line(attempt.loop_us, "block_start", None, _samples(run, attempt.first_step - 1))
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            yield from _evaluation(run, stall)
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _line(end.stop_us, "block_stop", None, _samples(run, attempt.steps[-1].number))


def _evaluation(run: Run, stall: Stall) -> Iterator[Printed]:
    """Yield the lines of an evaluation and of the ends of the blocks on either side of it."""
    facts = _samples(run, stall.after)
    yield _line(stall.start_us, "block_stop", None, facts)
    yield _line(stall.start_us, "eval_start", None, facts)
    spent = {"validation_time": (stall.end_us - stall.start_us) / SECOND}
    yield _line(stall.end_us, "eval_accuracy", 5.6012, facts)
    yield _line(stall.end_us, "tracked_stats", spent, {"step": stall.after})
    yield _line(stall.end_us, "eval_stop", None, facts)
    yield _line(stall.end_us, "block_start", None, facts)


def _samples(run: Run, step: int) -> _Facts:
    """Return how a line counts what was trained up to a step."""
    return {"samples_count": step * run.batch}


TRAINER = Trainer(
    "mlperf",
    render,
    frozenset({"evaluation", "loop_gap"}),
    exact=frozenset({"evaluation"}),
    suits=suits,
    shows_world=False,
)
