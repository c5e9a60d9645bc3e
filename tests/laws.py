"""Laws that hold of any run: a twin of it, a week later on other hosts, of which one thing is otherwise.

A twin lies in the folder of its run, so that a law costs a few lines more and no ledger of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from pipeline.simulate.invent import host_name, invent
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import trainers
from pipeline.simulate.story import HOUR, SECOND, Attempt, End, Maintenance, Run
from tests.kept import KEPT
from tests.simulated import ledger, secured
from tests.together import Account, Told, Way, moved

WEEK_US = 7 * 24 * HOUR

#: Lengths, and no times.
_LENGTHS = ("step_us", "warmup_us")

#: Figures that are sums, and such as are ratios.
_SUMS = ("capacity", "productive", "infrastructure", "framework", "planned", "unknown", "provisional")
_RATIOS = ("training_time_goodput", "g_known", "g_infra", "g_framework", "productive_share")

#: What happens to the folder of a run.
Change = Callable[[Path, Run], object]


@dataclass(frozen=True)
class Twin:
    """A run that differs in one thing from another one.

    Attributes:
        law: what must be true of both.
        run: the twin.
        way: how it is printed, and what happens to its lines.
        change: what happens to its files; nothing where it is told.
        is_true: False where it lacks what its truth cannot be told without.
    """

    law: str
    run: Run
    way: Way
    change: Change | None = None
    is_true: bool = True


#: What makes a twin: of a run, what invents it again by a changed plan, how it is told, and numbers to draw.
Making = Callable[[Run, Callable[..., Run], Way, Random], Twin]


def kept(run: Run, again: Callable[..., Run], way: Way, rng: Random) -> Twin:
    """What is kept in other files, in another order, packed, or twice, is the same."""
    how = rng.choice(sorted(KEPT))
    style, worn = way
    files = rng.choice(["job", "attempt", "run"])
    twin = replace(worn, files=files, together=rng.random() < 0.5, compression="none", rotate_bytes=0)
    return Twin("kept", run, (style, twin), lambda folder, _: KEPT[how](folder))


def worn_otherwise(run: Run, again: Callable[..., Run], way: Way, rng: Random) -> Twin:
    """What is cut into parts, packed, or told by every rank is the same."""
    style, worn = way
    twin = replace(
        worn,
        rotate_bytes=rng.choice([3000, 20_000]),
        compression=rng.choice(["none", "gzip", "zstd"]),
        every_rank=worn.every_rank or (run.gpus == 16 and rng.random() < 0.3),
    )
    return Twin("kept", run, (style, twin))


def noisy(run: Run, again: Callable[..., Run], way: Way, rng: Random) -> Twin:
    """What ranks print beside changes nothing."""
    style, worn = way
    return Twin("kept", run, (style, replace(worn, noise_mb=rng.choice([0.05, 0.3]))))


def wider(run: Run, again: Callable[..., Run], way: Way, rng: Random) -> Twin:
    """Twice the GPUs of a host cost twice as much, and change no ratio."""
    return Twin("wider", again(gpus=2 * run.gpus, gpus_per_host=2 * run.gpus_per_host), way)


def shorter(run: Run, again: Callable[..., Run], way: Way, rng: Random) -> Twin:
    """A log that goes on leaves what it said of earlier times tiled as it was."""
    looped = [attempt for attempt in run.attempts if attempt.steps]
    at = rng.choice(looped)
    return Twin("shorter", so_far(run, at, rng.randrange(1, len(at.steps) + 1)), way)


def fewer(run: Run, again: Callable[..., Run], way: Way, rng: Random) -> Twin:
    """With a source less nothing more of a run is secured, but where that held a restore."""
    style, worn = way
    losses: list[dict[str, Any]] = [{"kernel_lost": 1.0}, {"no_errors": True}]
    if len(run.attempts) > 1:
        losses += [{"lost_console": attempt.number} for attempt in run.attempts if attempt.restore is None]
    lost = rng.choice(losses)
    change: Change | None = None
    # Where no trainer says on how many GPUs it runs, accounting is the one word about a job that got fewer.
    if trainers()[run.trainer].shows_world and rng.random() < 0.3:
        lost, change = {}, without_accounting
    return Twin("fewer", run, (style, replace(worn, **lost)), change, is_true=False)


MAKINGS: tuple[Making, ...] = (kept, worn_otherwise, noisy, wider, shorter, fewer)

#: Those of which each line of the twin is one of the run.
SAME_LINES = (kept, worn_otherwise, noisy, wider)


def twin_of(
    making: Making,
    run: Run,
    plans: Sequence[Plan],
    place: int,
    seed: int,
    maintenance: tuple[Maintenance, ...],
    way: Way,
) -> Twin:
    """Return the twin of a run of a story, as ``making`` has it, a week later on other hosts."""

    def again(**changes: object) -> Run:
        others = [replace(p, **changes) if at == place else p for at, p in enumerate(plans)]  # type: ignore[arg-type]
        return invent(seed, tuple(others), maintenance).runs[place]

    twin = making(run, again, way, Random(f"{seed}/{place}/{making.__name__}"))
    hosts = sorted({host for job in twin.run.jobs for host in job.hosts}, key=lambda name: (len(name), name))
    others = {host: host_name(2000 + 100 * place + at) for at, host in enumerate(hosts)}
    there = moved(twin.run, f"{run.name}-twin", others, 100_000 + 1000 * place)
    return replace(twin, run=later(there))


def later(thing: Any) -> Any:
    """Return what happened a week later: all times in it are moved, lengths stay."""
    if isinstance(thing, list | tuple):
        return type(thing)(later(part) for part in thing)
    if not is_dataclass(thing) or isinstance(thing, type):
        return thing
    changes = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if isinstance(value, int) and field.name.endswith("_us") and field.name not in _LENGTHS:
            changes[field.name] = value + WEEK_US
        elif isinstance(value, list | tuple) or is_dataclass(value):
            changes[field.name] = later(value)
    return replace(thing, **changes)


def so_far(run: Run, at: Attempt, count: int) -> Run:
    """Return a run as it was when an attempt had just made so many of its steps, and went on."""
    steps = at.steps[:count]
    now = steps[-1].end_us
    saves = [
        replace(save, durable_us=save.durable_us if (save.durable_us or now + 1) <= now else None)
        for save in at.saves
        if save.step < steps[-1].number
    ]
    stalls = [stall for stall in at.stalls if stall.end_us <= now]
    end = End("in_progress", now, now, now, at.hosts[0])
    last = replace(at, steps=steps, stalls=stalls, saves=saves, end=end)
    job = run.jobs[at.job]
    export = -(-(now + 5 * SECOND) // SECOND) * SECOND
    removed = tuple(gone for gone in job.removed if gone.time_us < at.process_us)
    jobs = [
        *run.jobs[: at.job],
        replace(job, end_us=export, state="RUNNING", exit_code="0:0", removed=removed),
    ]
    return replace(run, jobs=jobs, attempts=[*run.attempts[: at.number - 1], last])


def without_accounting(folder: Path, run: Run) -> None:
    """Take the jobs of a run out of the accounting beside its folder."""
    jobs = {str(job.job_id) for job in run.jobs}
    text, records = folder.parent / "sacct.txt", folder.parent / "sacct.json"
    if text.exists():
        lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.split("|")[0].split(".")[0] not in jobs]
        assert len(kept) < len(lines)
        text.write_text("".join(kept), encoding="utf-8")
        return
    told = json.loads(records.read_text(encoding="utf-8"))
    whole = len(told["jobs"])
    told["jobs"] = [job for job in told["jobs"] if str(job["job_id"]) not in jobs]
    assert len(told["jobs"]) < whole
    records.write_text(json.dumps(told), encoding="utf-8")


def broken(told: Told, runs: Sequence[Run], twins: Sequence[Twin], accounts: Account) -> Iterator[str]:
    """Yield each law that a ledger breaks."""
    yield from _windows(told)
    safe = secured(told.folder)
    for run, twin in zip(runs, twins, strict=True):
        one, other = accounts[run.name], [_earlier(row) for row in accounts.get(twin.run.name, [])]
        if twin.law == "kept" and one != other:
            yield f"{run.name}: kept otherwise {_first(one, other)}"
        if twin.law == "wider":
            twice = [(*row[:5], 2 * row[5], *row[6:]) for row in one]  # type: ignore[operator]
            if twice != other:
                yield f"{run.name}: on twice the GPUs {_first(twice, other)}"
            yield from _scaled(told, run.name, twin.run.name)
        if twin.law == "shorter":
            yield from _untiled(run.name, one, other)
        if twin.law == "fewer":
            jitter = 0.01 * max(attempt.step_us for attempt in run.attempts) / SECOND
            had, has = safe[run.name], safe.get(twin.run.name, 0.0)
            if has > had + jitter * run.gpus * len(run.attempts):
                yield f"{run.name}: with a source less {has:,.1f} GPU-seconds are secured, not {had:,.1f}"


def _earlier(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return an interval of a twin as one of the run that it is a twin of."""
    run, attempt, part, start, end, *rest = row
    week = timedelta(microseconds=WEEK_US)
    return (str(run).removesuffix("-twin"), attempt, part, start - week, end - week, *rest)  # type: ignore[operator]


def _first(one: Sequence[object], other: Sequence[object]) -> str:
    """Return the first interval that differs."""
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if a != b]
    return f"{pairs[0][1]} in place of {pairs[0][0]}" if pairs else f"{len(other)} intervals, not {len(one)}"


def _windows(told: Told) -> Iterator[str]:
    """Yield the runs whose windows do not add up to their intervals."""
    query = "select run_id, part, category, sum(gpu_us)::hugeint from {} group by all order by all"
    with ledger(told.folder) as con:
        whole = con.execute(query.format("ledger.intervals")).fetchall()
        cut = con.execute(query.format("ledger.window_intervals")).fetchall()
        sums = ", ".join(f"sum({name}_gpu_s)" for name in _SUMS[:-1])
        windows = con.execute(
            f"select run_id, {sums} from marts.goodput group by all order by all"
        ).fetchall()
        names = ", ".join(f"{name}_gpu_s" for name in _SUMS[:-1])
        period = con.execute(
            f"select run_id, {names} from marts.period where run_id <> '(all)' order by run_id"
        ).fetchall()
    if whole != cut:
        yield f"windows: {_first(whole, cut)}"
    for (run, *one), (_, *other) in zip(windows, period, strict=True):
        if any(abs((a or 0.0) - (b or 0.0)) > 1e-3 for a, b in zip(one, other, strict=True)):
            yield f"{run}: windows add up to {one}, and the period is {other}"


def _scaled(told: Told, run: str, twin: str) -> Iterator[str]:
    """Yield the figures of a run that do not scale with its GPUs."""
    with ledger(told.folder) as con:
        query = "select * from marts.period where run_id = ?"
        one, other = (con.execute(query, [name]).fetchone() for name in (run, twin))
        names = [column[0] for column in con.description or ()]
    assert one is not None
    assert other is not None
    for factor, columns in ((2.0, [f"{name}_gpu_s" for name in _SUMS]), (1.0, _RATIOS)):
        for column in columns:
            small, large = one[names.index(column)], other[names.index(column)]
            if (small is None) != (large is None) or abs(factor * (small or 0.0) - (large or 0.0)) > 1e-6:
                yield f"{run}: {column} on twice the GPUs is {large}, not {factor} times {small}"


def _untiled(run: str, whole: Sequence[tuple[Any, ...]], part: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    """Yield where a longer log leaves out, or widens, what a shorter one had tiled."""
    short = [row for row in part if row[2] == "active"]
    if not short:
        yield f"{run}: nothing is told of it so far"
        return
    end = max(row[4] for row in short)
    long = [(*row[:4], min(row[4], end), *row[5:]) for row in whole if row[2] == "active" and row[3] < end]
    for rows, how in ((short, "so far"), (long, "as it went on")):
        at = min(row[3] for row in short)
        for row in sorted(rows, key=lambda row: (row[3], row[4])):
            if row[3] != at:
                yield f"{run}: {how} nothing, or two things, from {min(at, row[3])} to {max(at, row[3])}"
                return
            at = row[4]
        if at != end:
            yield f"{run}: {how} nothing from {at} to {end}"
            return
    if not {row[1] for row in short} - {None} <= {row[1] for row in long}:
        yield f"{run}: other attempts as it went on"


def judged_otherwise(told: Told, twins: Sequence[Twin]) -> Iterator[str]:
    """Yield what differs from the truth of runs and twins that it can be told of."""
    if told.said:
        yield told.said
    silent = {twin.run.name for twin in twins if not twin.is_true}
    for run in told.found.whole_us:
        if run not in silent:
            yield from told.differences(run)
