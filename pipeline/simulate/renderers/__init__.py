"""How programs would have told of a story: one module for each kind of log that can be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.split import FLOPS_PER_TOKEN, Told
from pipeline.simulate.story import Attempt, Job, Run


class Render(Protocol):
    """Yields what one attempt of a run prints, in order of time, without its last words."""

    def __call__(self, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
        """Yield the lines."""


#: Everything that a log can tell of how a step divides.
ALL_PARTS: frozenset[Told] = frozenset({"data_wait", "exposed_comm", "bubble", "memory_copy", "flops"})

#: An end that every log can tell.
_ANY_END = {"collective_hang": 1.0}


def as_it_is(plan: Plan) -> Plan:
    """Return a plan unchanged."""
    return plan


@dataclass(frozen=True, slots=True)
class Trainer:
    """A trainer whose console can be invented.

    Attributes:
        name: of the module that writes it; what a plan calls it.
        render: writes it.
        shows: categories of stalls that can be seen in it; a plan loses the others.
        exact: categories of which it stamps begin and end.
        suits: changes a plan to what such a trainer does.
        dialect_of: the format that reads it, where that has another name.
        resolution_us: of its stamps, in microseconds.
        farewells: True where it says why it leaves.
        dates_start: True where what it prints before its first step has a time.
        dates_steps: True where its step lines have one.
        begins: True where a step is logged when it begins, so that none is known to have ended.
        tells_late: True where another thread prints a step line, later, and not at all once it is killed.
        shows_exit: True where the last process stamps that it leaves.
        shows_world: True where it tells on how many GPUs it runs.
        world_late: True where it tells that only when its communicators are ready.
        tells: parts of a step that it tells, of a run whose steps divide as somebody asked.
        flops_per_token: what it counts for a token of such a run.
    """

    name: str
    render: Render
    shows: frozenset[str]
    exact: frozenset[str] = frozenset()
    suits: Callable[[Plan], Plan] = as_it_is
    dialect_of: str = ""
    resolution_us: int = 1000
    farewells: bool = False
    dates_start: bool = True
    dates_steps: bool = True
    begins: bool = False
    tells_late: bool = False
    shows_exit: bool = False
    shows_world: bool = True
    world_late: bool = False
    tells: frozenset[Told] = frozenset()
    flops_per_token: int = FLOPS_PER_TOKEN

    @property
    def format(self) -> str:
        """Name of the format that reads it."""
        return self.dialect_of or self.name

    def fit(self, plan: Plan) -> Plan:
        """Return a plan without what could not be seen in such a log."""
        plan = self.suits(plan)
        return replace(
            plan,
            save_every=plan.save_every if "checkpoint_stall" in self.shows else 0,
            eval_every=plan.eval_every if "evaluation" in self.shows else 0,
            data_stall=plan.data_stall if "data_stall" in self.shows else 0.0,
            loop_gap=plan.loop_gap if "loop_gap" in self.shows else 0.0,
            shows_exit=self.shows_exit,
            shows_world=self.shows_world,
            ends={name: weight for name, weight in plan.ends.items() if self._can_end(name)} or _ANY_END,
        )

    def _can_end(self, name: str) -> bool:
        """Return whether an end of this kind can be told from others in such a log."""
        fault = BY_NAME[name]
        if fault.farewell and not self.farewells:
            return False
        return self.dates_start or fault.when != "start"


#: Formats that a story is written in beside those of trainers; all others say why none is.
BESIDE = frozenset(
    {
        "kernel",
        "journal_json",
        "python_traceback",
        "pytorch_nccl",
        "slurm_messages",
        "slurm_sacct",
        "slurm_sacct_json",
        "slurmctld",
        "slurmd",
        "torchrun",
    }
)


@cache
def trainers() -> dict[str, Trainer]:
    """Return the trainers by name."""
    found = {}
    for module in iter_modules(__path__):
        trainer = getattr(import_module(f"{__name__}.{module.name}"), "TRAINER", None)
        if isinstance(trainer, Trainer):
            found[trainer.name] = trainer
    return dict(sorted(found.items()))
