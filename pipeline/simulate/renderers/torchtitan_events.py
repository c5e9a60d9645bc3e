"""Structured events of torchtitan: what ranks write of themselves, in microseconds since the epoch.

Each rank has a file of its own. Rank 0 tells enough, but of hosts that differ one rank each is written out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from heapq import merge

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.split import parts_of
from pipeline.simulate.story import SECOND, Attempt, Job, Run, Split, Stall, Step
from pipeline.simulate.transports import RECORDS

_LONGEST_WAIT_S = 0.9
_LOGGER = "torchtitan.structured_logger"


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the records of one attempt, in order of time."""
    differ = run.split is not None and run.split.straggler_share > 0
    pid = 40_000 + 7 * attempt.number
    writers = [_Writer(job.hosts[0], pid, RECORDS)]
    if differ:
        ranks = range(0, job.gpus, run.gpus_per_host)
        writers = [
            _Writer(host, pid, f"rank{rank}.{RECORDS}", rank)
            for host, rank in zip(job.hosts, ranks, strict=True)
        ]
    yield from merge(*(_rank(run, attempt, writer) for writer in writers), key=lambda line: line.time_us)


def _rank(run: Run, attempt: Attempt, writer: _Writer) -> Iterator[Printed]:
    """Yield the records of one rank."""
    yield from _start(attempt, writer)
    if attempt.loop_us is None:
        return
    restored = attempt.first_step - 1
    for at, step in enumerate(attempt.steps):
        following = attempt.steps[at + 1] if at + 1 < len(attempt.steps) else None
        writer_of_step = writer.within(step.number, step.number - restored)
        yield from _step(run, attempt, step, following, writer_of_step)
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield from writer.span("torch_distributed_teardown", end.stop_us, end.left_us)


def suits(plan: Plan) -> Plan:
    """Return a plan in which data are set up before the checkpoint is read, and the last step is saved."""
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    step_s = plan.step_s
    if plan.split is not None and plan.split.data_wait:
        # A wait of a second or longer is a stall of the loop, and no part of its steps.
        step_s = min(step_s, _LONGEST_WAIT_S / plan.split.data_wait)
    return replace(plan, setup_s=setup, data_setup_s=(0.0, 0.0), saves_last=True, step_s=step_s)


class _Writer:
    """Writes records of one process; ``step`` 0 is before the first step."""

    def __init__(
        self, host: str, pid: int, stream: str, rank: int = 0, step: int = 0, relative: int = 0
    ) -> None:
        self.host, self.pid, self.stream = host, pid, stream
        self.rank, self.step, self.relative = rank, step, relative
        self.tags: list[str] = []

    def within(self, step: int, relative: int) -> _Writer:
        """Return a writer of the same process, in a step; its tags are those of the step."""
        return _Writer(self.host, self.pid, self.stream, self.rank, step, relative)

    def record(self, at_us: int, name: str, value_us: int | None = None, kind: str = "event") -> Printed:
        """Return a record; the length of a span in microseconds stands in its end."""
        fields: dict[str, object] = {
            "delta_ms": 0.1,
            "tid": self.pid,
            "rank": self.rank,
            "global_rank": self.rank,
            "local_rank": 0,
            "source": "training",
            "host_name": self.host,
            "pid": self.pid,
        }
        if self.step:
            fields |= {"step": self.step, "relative_step": self.relative}
        if self.tags:
            fields["step_tags"] = self.tags
        fields |= {
            "time": at_us // SECOND,
            "time_ms": at_us // 1000,
            "time_us": at_us,
            "log_type": kind,
            "log_type_name": name,
            "event_name": None,
        }
        if value_us is not None:
            fields["value"] = value_us / 1000
        fields |= {
            "caller": "torchtitan/trainer.py:859:train_step",
            "log_level": "INFO",
            "logger_name": _LOGGER,
            "message": f"[step {self.step or 'N/A'}] {name}",
        }
        return Printed(at_us, -1, self.stream, json.dumps(fields))

    def span(self, name: str, start_us: int, end_us: int, tag: str = "") -> Iterator[Printed]:
        """Yield begin and end of a span; a tag is set inside it."""
        yield self.record(start_us, f"{name}_start")
        if tag:
            self.tags = [*self.tags, tag]
        yield self.record(end_us, f"{name}_end", end_us - start_us)


def _start(attempt: Attempt, writer: _Writer) -> Iterator[Printed]:
    """Yield the records up to the loop."""
    begin = attempt.process_us
    yield writer.record(begin, "structured_logger_started", kind="instant")
    yield writer.record(begin, "torch_distributed_init_start")
    if attempt.init_us is None:
        return
    up = attempt.init_us
    yield writer.record(up, "torch_distributed_init_end", up - begin)
    yield writer.record(up, "model_parallelism_init_start")
    if attempt.built_us is None:
        return
    read = attempt.restore
    built, loaded = (read.start_us, read.end_us) if read is not None else (attempt.built_us, attempt.built_us)
    yield writer.record(built, "model_parallelism_init_end", built - up)
    yield writer.record(built, "training_start", kind="instant")
    # The span is there where nothing is loaded, too.
    yield from writer.span("checkpoint_load", built, loaded)


def _step(
    run: Run, attempt: Attempt, step: Step, following: Step | None, writer: _Writer
) -> Iterator[Printed]:
    """Yield the records of a step and of what comes after it."""
    stalls = [stall for stall in attempt.stalls if stall.after == step.number]
    before = [stall for stall in attempt.stalls if stall.after == step.number - 1]
    waits = [stall for stall in before if stall.category == "data_stall"]
    begin = waits[0].start_us if waits else step.start_us
    yield writer.record(begin, "step_start")
    if run.split is None:
        yield from _fetched(step, waits, writer)
        yield writer.record(step.start_us, "optim_start")
        yield writer.record(step.end_us, "optim_end", (step.end_us - step.start_us) // 10)
    else:
        yield from _divided(run, attempt, step, run.split, begin, writer)
    now = step.end_us
    save = next((save for save in attempt.saves if save.step == step.number), None)
    if save is None:
        yield from writer.span("checkpoint_save", now, now)
    else:
        start = begin_of_wait(attempt, save)
        if save.blocked_us is None:
            yield writer.record(start, "checkpoint_save_start")
            return
        # What is written in the background after the last step is waited for in the same span.
        now = max([save.blocked_us, *(s.end_us for s in stalls if s.category == "checkpoint_stall")])
        yield from writer.span("checkpoint_save", start, now, "checkpoint_save")
    for stall in stalls:
        if stall.category == "evaluation":
            yield from writer.span("eval", stall.start_us, stall.end_us, "eval")
            now = stall.end_us
    if following is not None:
        yield writer.record(now, "step_end", now - begin)


def _divided(
    run: Run, attempt: Attempt, step: Step, split: Split, begin: int, writer: _Writer
) -> Iterator[Printed]:
    """Yield the spans of a step that divides: its batch, both passes, and the update at its end."""
    parts = parts_of(run, attempt, step, split)
    fetched = step.start_us + round(parts.data_wait)
    # A host that computes faster waits for the slow one where gradients are clipped, inside the update.
    is_slow = split.straggler_share == 0 or writer.host == attempt.hosts[split.straggler]
    waits = 0.0 if is_slow else parts.compute - parts.compute_least
    passed = step.end_us - round(0.04 * parts.compute + waits)
    yield from writer.span("fetching_batch", begin, fetched)
    yield from writer.span("fwd_bwd", fetched, passed)
    yield from writer.span("optim", passed, step.end_us)


def _fetched(step: Step, waits: list[Stall], writer: _Writer) -> Iterator[Printed]:
    """Yield the record of the batch that the step waited for."""
    start = waits[0].start_us if waits else step.start_us
    yield from writer.span("fetching_batch", start, step.start_us)


TRAINER = Trainer(
    "torchtitan_events",
    render,
    frozenset({"checkpoint_stall", "evaluation", "data_stall"}),
    exact=frozenset({"checkpoint_stall", "evaluation", "data_stall"}),
    suits=suits,
    shows_exit=True,
    shows_world=False,
    tells=frozenset({"data_wait"}),
)
