"""Activities of a device → where its time went: computing, communicating, copying, idle.

Times are whole nanoseconds from the beginning of the first activity. A moment at which the device computes
counts as computing, whatever else it does; else as communication; else as copying; else it idles. So the
exposed times of all rows add up to the span exactly, and busy times do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COMPUTE, COMMUNICATION, COPY = range(3)
NAMES = ("compute", "communication", "copy")

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Activities:
    """What a device did, one item an activity, in any order.

    Attributes:
        start, end: in nanoseconds.
        work: computing, communication or copying.
        kind: number of a kind of work.
        bytes: what was moved, or -1 where that is not told.
        launch: when a processor asked for it, or -1.
    """

    start: Ints
    end: Ints
    work: Ints
    kind: Ints
    bytes: Ints
    launch: Ints


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the time of a device.

    Attributes:
        work: ``compute``, ``communication``, ``copy`` or ``idle``.
        kind: number of the kind, or for idle time -1 (late launch), -2 (queued) or -3 (not known).
        busy_ns: time with such an activity, whatever else went on.
        exposed_ns: time with nothing of more use; adds up over all shares.
        calls: activities, or stretches of idle time.
        bytes: what they moved, or None where none of them tells.
    """

    work: str
    kind: int
    busy_ns: int
    exposed_ns: int
    calls: int
    bytes: int | None


#: Kinds of idle time: the processor asked late for what came next; it had asked, and the device did not
#: begin, because it waited for something or because beginning takes its time; nothing tells when it asked.
LATE_LAUNCH, QUEUED, NOT_KNOWN = -1, -2, -3


def shares_of(done: Activities) -> Iterator[Share]:
    """Yield the shares of the span from the first activity to the last."""
    order = np.lexsort((done.kind, done.end, done.start))
    done = Activities(
        *(getattr(done, name)[order] for name in ("start", "end", "work", "kind", "bytes", "launch"))
    )
    before: tuple[Ints, Ints] = (np.empty(0, np.int64), np.empty(0, np.int64))
    for work, name in enumerate(NAMES):
        mine = done.work == work
        start, end = done.start[mine], done.end[mine]
        union = _union(start, end)
        # Of several at a time the one that began first has it.
        reached = np.maximum.accumulate(np.concatenate([[np.iinfo(np.int64).min], end]))[:-1]
        begin = np.minimum(np.maximum(start, reached), end)
        exposed = end - begin - (_covered(before, end) - _covered(before, begin))
        for kind in np.unique(done.kind[mine]):
            own = done.kind[mine] == kind
            moved = done.bytes[mine][own]
            first, last = _union(start[own], end[own])
            yield Share(
                name,
                int(kind),
                int((last - first).sum()),
                int(exposed[own].sum()),
                int(own.sum()),
                int(moved[moved >= 0].sum()) if (moved >= 0).any() else None,
            )
        before = _union(np.concatenate([before[0], union[0]]), np.concatenate([before[1], union[1]]))
    yield from _idle(done, before)


def _idle(done: Activities, busy: tuple[Ints, Ints]) -> Iterator[Share]:
    """Yield the idle time between stretches of work, by what was waited for."""
    begin, end = busy[1][:-1], busy[0][1:]
    # Of what begins at the end of a gap, the one that was asked for first.
    at = np.searchsorted(done.start, end, side="left")
    launch = done.launch[at] if len(at) else np.empty(0, np.int64)
    known = launch >= 0
    late = np.where(known, np.clip(launch - begin, 0, end - begin), 0)
    gaps = end - begin
    for kind, time in (
        (LATE_LAUNCH, late),
        (QUEUED, np.where(known, gaps - late, 0)),
        (NOT_KNOWN, np.where(known, 0, gaps)),
    ):
        total = int(time.sum())
        if total:
            yield Share("idle", kind, total, total, int((time > 0).sum()), None)


def _union(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the stretches that intervals cover together, in order and apart from each other."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    if not len(start):
        return start, end
    first = np.concatenate([[True], start[1:] > end[:-1]])
    last = np.concatenate([first[1:], [True]])
    return start[first], end[last]


def _covered(stretches: tuple[Ints, Ints], at: Ints) -> Ints:
    """Return how much of the time before some moments stretches cover."""
    start, end = stretches
    if not len(start):
        return np.zeros(len(at), np.int64)
    total = np.concatenate([[0], np.cumsum(end - start)])
    place = np.searchsorted(start, at, side="right")
    inside = np.maximum(end[np.maximum(place - 1, 0)] - at, 0)
    return total[place] - np.where(place > 0, inside, 0)
