"""How programs would have told of a story: one module for each kind of log that can be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.story import Attempt, Job, Run


class Render(Protocol):
    """Yields what one attempt of a run prints, in order of time, without its last words."""

    def __call__(self, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
        """Yield the lines."""


@dataclass(frozen=True, slots=True)
class Trainer:
    """A trainer whose console can be invented.

    Attributes:
        name: of the format that reads it.
        render: writes it.
        shows: categories of stalls that can be seen in it.
        suffix: how its files end.
        shows_exit: True where the last process stamps that it leaves.
        stamped: categories of stalls whose begin and end are stamped.
    """

    name: str
    render: Render
    shows: frozenset[str]
    suffix: str = "out"
    shows_exit: bool = False
    stamped: frozenset[str] = frozenset()


@cache
def trainers() -> dict[str, Trainer]:
    """Return the trainers by the name of their format."""
    found = {}
    for module in iter_modules(__path__):
        trainer = getattr(import_module(f"{__name__}.{module.name}"), "TRAINER", None)
        if isinstance(trainer, Trainer):
            found[trainer.name] = trainer
    return dict(sorted(found.items()))
