"""What a story cost: the true ledger, from what happened and from nothing that was written about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.story import Attempt, Maintenance, Run, Story
from pipeline.simulate.survival import overwritten_by, survival
from pipeline.simulate.widths import Width, widths


@dataclass(frozen=True, slots=True)
class Piece:
    """A true interval of a run.

    Attributes:
        attempt: number of the attempt, or None between two.
        incident: number of the attempt whose end brought it about, or None.
        was: what lost work would have been, else empty.
        part: ``active``, ``missing`` or ``spare``.
    """

    run: str
    attempt: int | None
    start_us: int
    end_us: int
    category: str
    gpus: int
    incident: int | None = None
    was: str = ""
    part: str = "active"

    @property
    def gpu_us(self) -> int:
        """GPU-microseconds."""
        return (self.end_us - self.start_us) * self.gpus


@dataclass(frozen=True, slots=True)
class Incident:
    """The true end of an attempt."""

    run: str
    attempt: int
    kind: str
    cause: str
    host: str
    stop_us: int | None
    detected_us: int | None
    released_us: int
    lost_steps: int


@dataclass(frozen=True, slots=True)
class Truth:
    """The true ledger of a story."""

    pieces: tuple[Piece, ...]
    incidents: tuple[Incident, ...]


def true_ledger(story: Story) -> Truth:
    """Return the true ledger: its pieces tile the life of each run, in order."""
    pieces: list[Piece] = []
    incidents: list[Incident] = []
    for run in story.runs:
        survives = survival(run)
        lost = Counter(
            overwritten_by(run, attempt, step.number)
            for attempt in run.attempts
            for step in attempt.steps
            if step.number > survives[attempt.number]
        )
        found = [piece for piece in _pieces(run, survives) if piece.end_us > piece.start_us]
        pieces += _declared(found, story.maintenance)
        incidents += [_incident(run, attempt, lost[attempt.number], story) for attempt in run.attempts]
    return Truth(tuple(pieces), tuple(incidents))


def _pieces(run: Run, survives: dict[int, int]) -> Iterator[Piece]:
    """Yield the pieces of a run in order, some of them empty."""
    for place, job in enumerate(run.jobs):
        own = [attempt for attempt in run.attempts if attempt.job == place]
        before = own[0].number - 1 or None
        if place:
            previous = run.jobs[place - 1]
            ended = run.attempts[own[0].number - 2].end
            assert ended is not None
            planned = BY_NAME[ended.fault].kind == "planned"
            gap = "planned_stop" if planned else "unscheduled_gap"
            waited = "requeue_delay" if job.restart else "queue_wait"
            yield Piece(run.name, None, previous.end_us, job.submit_us, gap, run.gpus, before)
            yield Piece(run.name, None, job.submit_us, job.eligible_us, waited, run.gpus, before)
            yield Piece(run.name, None, job.eligible_us, job.start_us, "queue_wait", run.gpus, before)
        end_us = _life_end(run, job.end_us) if place == len(run.jobs) - 1 else job.end_us
        wide = list(widths(run, place, end_us))
        for width in wide:
            yield from _beside(run, width)
        active = [Piece(run.name, own[0].number, job.start_us, own[0].process_us, "provisioning", 0, before)]
        for attempt, following in zip(own, [*own[1:], None], strict=True):
            until = following.process_us if following is not None else job.end_us
            active += _attempt(run, attempt, survives, until)
        for piece in active:
            for width in wide:
                start, end = max(piece.start_us, width.start_us), min(piece.end_us, width.end_us)
                if start < end:
                    yield replace(piece, start_us=start, end_us=end, gpus=width.active)


def _beside(run: Run, width: Width) -> Iterator[Piece]:
    """Yield what is missing of a run in a stretch of an allocation, and what is held beyond its size."""

    def piece(category: str, gpus: int, incident: int | None, part: str) -> Piece:
        return Piece(run.name, None, width.start_us, width.end_us, category, gpus, incident, "", part)

    for incident, gpus in width.taken:
        yield piece("capacity_missing", gpus, incident, "missing")
    never = run.gpus - width.active - sum(gpus for _, gpus in width.taken)
    if never:
        yield piece("capacity_missing", never, None, "missing")
    if width.held > run.gpus:
        yield piece("spare_held", width.held - run.gpus, None, "spare")


def _attempt(run: Run, it: Attempt, survives: dict[int, int], until_us: int) -> Iterator[Piece]:
    """Yield the pieces of an attempt from its first process to its release."""
    end = it.end
    assert end is not None
    fault = BY_NAME[end.fault]
    before = it.number - 1 or None

    def piece(start: int, stop: int, category: str, incident: int | None, was: str = "") -> Piece:
        return Piece(run.name, it.number, start, stop, category, 0, incident, was)

    stop = end.stop_us
    init = it.init_us if it.init_us is not None else stop
    yield piece(it.process_us, init, "init", before)
    if it.init_us is not None and it.built_us is not None and it.loop_us is not None:
        read = it.restore
        if read is None:
            yield piece(init, it.loop_us, "setup", before)
        else:
            yield piece(init, read.start_us, "setup", before)
            yield piece(read.start_us, read.end_us, "restore", before)
            yield piece(read.end_us, it.loop_us, "setup", before)
        yield from _loop(run, it, survives[it.number])
    if fault.kind == "ongoing":
        return
    if fault.kind == "completed":
        yield piece(stop, end.left_us, "shutdown", it.number)
        yield piece(end.left_us, until_us, "idle_held", it.number)
        return
    if it.steps:
        progress = max([it.steps[-1].end_us, *(stall.end_us for stall in it.stalls)])
        yield piece(progress, stop, "lost_work", it.number, "productive")
    elif it.loop_us is not None:
        # What made no step is a start that failed.
        yield piece(it.loop_us, stop, "setup", before)
    yield piece(stop, end.detected_us, "hang", it.number)
    yield piece(end.detected_us, until_us, "teardown", it.number)


def _loop(run: Run, it: Attempt, to: int) -> Iterator[Piece]:
    """Yield the steps and stalls of an attempt; what lies beyond its last surviving step is lost."""
    before = it.number - 1 or None
    assert it.end is not None
    goes_on = it is run.attempts[-1] and BY_NAME[it.end.fault].kind in ("completed", "ongoing")
    is_cut = not goes_on
    things: list[tuple[int, int, int, str]] = [
        (step.start_us, step.end_us, step.number, "productive") for step in it.steps
    ]
    things += [(stall.start_us, stall.end_us, stall.after, stall.category) for stall in it.stalls]
    for start, end, step, category in sorted(things):
        # The loop waits for its next step, and saves or evaluates the one before.
        waits = category in ("data_stall", "loop_gap")
        lost = step > to or (step == to and waits and is_cut)
        payer = overwritten_by(run, it, step + waits) if lost else None
        if category == "productive" and step == it.steps[0].number:
            warm = start + it.warmup_us
            if lost:
                yield Piece(run.name, it.number, start, warm, "lost_work", 0, payer, "warmup")
            else:
                yield Piece(run.name, it.number, start, warm, "warmup", 0, before)
            start = warm
        if lost:
            yield Piece(run.name, it.number, start, end, "lost_work", 0, payer, category)
        else:
            yield Piece(run.name, it.number, start, end, category, 0)


def _life_end(run: Run, end_us: int) -> int:
    """Return when the life of a run ends: at its release, or at the last that was seen of it."""
    last = run.attempts[-1]
    if last.end is not None and BY_NAME[last.end.fault].kind == "ongoing":
        return last.end.stop_us
    return end_us


def _declared(pieces: Iterable[Piece], maintenance: Iterable[Maintenance]) -> list[Piece]:
    """Return the pieces in which declared maintenance explains why nothing was held, or why it idled."""
    explained = ("unscheduled_gap", "planned_stop", "queue_wait", "requeue_delay", "idle_held")
    found = list(pieces)
    for entry in maintenance:
        if entry.declared_us > entry.start_us:
            continue  # what is written down afterwards was not planned
        cut: list[Piece] = []
        for piece in found:
            start, end = max(piece.start_us, entry.start_us), min(piece.end_us, entry.end_us)
            if piece.category not in explained or start >= end:
                cut.append(piece)
                continue
            parts = (
                replace(piece, end_us=start),
                replace(piece, start_us=start, end_us=end, category="planned_stop"),
                replace(piece, start_us=end),
            )
            cut += [part for part in parts if part.end_us > part.start_us]
        found = cut
    return found


def _incident(run: Run, it: Attempt, lost_steps: int, story: Story) -> Incident:
    """Return the true end of an attempt."""
    end = it.end
    assert end is not None
    fault = BY_NAME[end.fault]
    kind, cause = fault.kind, fault.cause
    # When the person came; the loop may have stood still for hours before.
    came_us = end.detected_us if end.told_us is None else end.told_us
    if cause == "operator_stop" and any(
        m.start_us - 60_000_000 <= came_us <= m.end_us for m in story.maintenance
    ):
        cause = "maintenance"
    ended = kind not in ("completed", "ongoing")
    return Incident(
        run.name,
        it.number,
        kind,
        cause,
        end.host if kind == "unplanned" and not fault.is_shared else "",
        end.stop_us if ended else None,
        end.detected_us if ended else None,
        run.jobs[it.job].end_us,
        lost_steps,
    )
