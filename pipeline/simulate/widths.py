"""How wide an allocation was at each time: what was held and trained on, and which ends took the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.simulate.story import Run


@dataclass(frozen=True, slots=True)
class Width:
    """A stretch of an allocation in which its width did not change.

    Attributes:
        held: GPUs that the scheduler gave.
        active: GPUs of these that the run trained on, or was about to; never more than it asks for.
        taken: number of each attempt whose end took GPUs away, with how many.
    """

    start_us: int
    end_us: int
    held: int
    active: int
    taken: tuple[tuple[int, int], ...] = ()


def widths(run: Run, place: int, end_us: int) -> Iterator[Width]:
    """Yield the widths of an allocation in order: it narrows where a host is taken out or left out."""
    job = run.jobs[place]
    own = [attempt for attempt in run.attempts if attempt.job == place]
    changes: list[tuple[int, int, int | None]] = [
        (gone.time_us, -run.gpus_per_host, None) for gone in job.removed
    ]
    changes += [(attempt.process_us, 0, attempt.gpus(run)) for attempt in own[1:]]
    held, trained = job.gpus, min(job.gpus, run.gpus)
    at = job.start_us
    active = trained
    taken: list[tuple[int, int]] = []
    for time_us, fewer, world in sorted(changes, key=lambda change: change[0]):
        yield Width(at, time_us, held, active, tuple(taken))
        held += fewer
        trained = world if world is not None else trained
        if (now := min(held, trained)) < active:
            ended = max(attempt.number for attempt in own if attempt.process_us < time_us)
            taken.append((ended, active - now))
            active = now
        at = time_us
    yield Width(at, end_us, held, active, tuple(taken))
