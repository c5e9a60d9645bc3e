"""Training events of DLRover as text: begin and end of whatever rank 0 does, with the time of its clock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.story import Attempt, Job, Run, Save


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the events of one attempt."""
    writer = _Writer(40_000 + 7 * attempt.number, style)
    yield from _start(run, attempt, writer)
    if attempt.loop_us is None:
        return
    yield writer.event(attempt.loop_us, "#train", "BEGIN")
    yield from sorted(
        [*_steps(attempt, writer), *_saves(run, attempt, writer), *_evaluations(attempt, writer)],
        key=lambda line: line.time_us,
    )
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield writer.event(end.stop_us, "#train", "END", success=True)
        yield writer.event(end.left_us, "#finish", "INSTANT")


def suits(plan: Plan) -> Plan:
    """Return a plan in which data are set up before the checkpoint is read."""
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    return replace(plan, setup_s=setup, data_setup_s=(0.0, 0.0))


class _Writer:
    """Writes events of one process."""

    def __init__(self, pid: int, style: Style) -> None:
        self.pid, self.style = pid, style
        self.begun: dict[str, str] = {}

    def event(
        self, at_us: int, name: str, kind: str, target: str = "AtorchTrainerV2", **content: object
    ) -> Printed:
        """Return the line of an event; begin and end of a span share an identity."""
        fresh = f"{(at_us // 1000 * 31 + len(name)) & 0xFFFFFF:06x}"
        identity = self.begun.pop(name, fresh) if kind == "END" else fresh
        if kind == "BEGIN":
            self.begun[name] = identity
        stamp = self.style.local(at_us).strftime("%Y-%m-%dT%H:%M:%S.%f")
        text = f"[{stamp}] [{self.pid}] [{identity}] [{target}] [{name}] [{kind}] {json.dumps(content)}"
        return Printed(at_us, 0, "out", text)

    def agent(self, at_us: int, text: str) -> Printed:
        """Return a line of the agent beside the process."""
        stamp = self.style.local(at_us).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        return Printed(at_us, 0, "out", f"[{stamp}] [INFO] [training.py:830:_rendezvous] {text}")


def _start(run: Run, attempt: Attempt, writer: _Writer) -> Iterator[Printed]:
    """Yield the events up to the loop."""
    yield writer.event(attempt.process_us, "#start", "INSTANT", params={"run": run.name})
    yield writer.agent(attempt.process_us + 1000, "[worker] Rendezvous complete for workers. Result:")
    if attempt.init_us is None:
        return
    yield writer.event(attempt.init_us, "#init", "BEGIN")
    if attempt.built_us is None:
        return
    read = attempt.restore
    if read is not None:
        yield writer.event(read.start_us, "#load_ckpt", "BEGIN")
        yield writer.event(read.end_us, "#load_ckpt", "END", global_step=read.step, success=True)
    yield writer.event(attempt.built_us, "#init", "END", success=True)


def _steps(attempt: Attempt, writer: _Writer) -> Iterator[Printed]:
    """Yield begin and end of each step."""
    for step in attempt.steps:
        yield writer.event(step.start_us, "#step", "BEGIN", global_step=step.number)
        yield writer.event(step.end_us, "#step", "END", global_step=step.number, success=True)


def _saves(run: Run, attempt: Attempt, writer: _Writer) -> Iterator[Printed]:
    """Yield the events of saves: the part that stops the loop, and that beside it."""
    for save in attempt.saves:
        yield writer.event(begin_of_wait(attempt, save), "#save", "BEGIN", global_step=save.step)
        if save.blocked_us is not None:
            yield writer.event(save.blocked_us, "#save", "END", global_step=save.step, success=True)
            yield from _persisted(run, save, save.blocked_us, writer)


def _persisted(run: Run, save: Save, blocked_us: int, writer: _Writer) -> Iterator[Printed]:
    """Yield the events of the agent that writes what lies in memory."""
    told = {"global_step": save.step, "path": f"/ckpt/{run.name}/{save.step}", "size": 0}
    yield writer.event(blocked_us, "#persist_ckpt", "BEGIN", "AsyncSaver", **told)
    if save.durable_us is not None:
        yield writer.event(save.durable_us, "#persist_ckpt", "END", "AsyncSaver", **told, success=True)


def _evaluations(attempt: Attempt, writer: _Writer) -> Iterator[Printed]:
    """Yield begin and end of each evaluation."""
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            yield writer.event(stall.start_us, "#evaluate", "BEGIN", global_step=stall.after)
            yield writer.event(stall.end_us, "#evaluate", "END", global_step=stall.after, success=True)


TRAINER = Trainer(
    "dlrover",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    exact=frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    shows_exit=True,
    shows_world=False,
)
