"""How exactly logs can tell the truth about a run, and why not better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.lines import Style
from pipeline.simulate.renderers import trainers
from pipeline.simulate.story import SECOND, Attempt, Run
from pipeline.simulate.transports import LATEST


@dataclass(frozen=True, slots=True)
class RunSlack:
    """How far a boundary in logs may lie from the true one.

    Attributes:
        stamp_us: resolution of stamps, and what clocks of hosts differ by, in microseconds.
        interval_us: one log interval, in microseconds: between two step lines nothing is known.
        steps: counts of lost steps differ by less than this.
        intervals: log intervals that may be missing before an end.
        stamped: categories whose boundaries are stamped.
        blind: spans of which the only line is not in the logs.
        untold: spans of which no line tells when anything was.
        reasons: why it is not zero.
    """

    stamp_us: int
    interval_us: int
    steps: int
    intervals: int
    stamped: frozenset[str]
    blind: tuple[tuple[int, int], ...]
    untold: tuple[tuple[int, int], ...]
    reasons: tuple[str, ...]

    @property
    def boundary_us(self) -> int:
        """Slack of a boundary that is not stamped. Schedulers and kernels know whole seconds."""
        return SECOND + self.stamp_us + self.intervals * self.interval_us


def slack_of(run: Run, style: Style, blemishes: Blemishes = CLEAN) -> RunSlack:
    """Return the slack of a run in logs of a style."""
    trainer = trainers()[run.trainer]
    stamp = trainer.resolution_us
    reasons = ["stamps have a resolution"]
    interval = max(_longest(attempt, style.log_interval) for attempt in run.attempts)
    reasons.append("a step line stands for a whole log interval")
    hosts = {host for job in run.jobs for host in job.hosts}
    apart = max((abs(style.skew_us.get(host, 0)) for host in hosts), default=0)
    if apart:
        stamp += apart
        reasons.append("clocks of hosts differ, and no line says by how much")
    if blemishes.interleaved and blemishes.prefix == "kubectl" and trainer.resolution_us >= SECOND:
        stamp += LATEST
        reasons.append("a collector stamps a line when it comes, which is later than it was printed")
    if blemishes.kernel in ("ctime", "syslog"):
        stamp += SECOND
        reasons.append("this kernel log knows whole seconds, and may date a fault before its second")
    intervals, stamped = 1, trainer.exact
    if blemishes.torn:
        intervals += 1
        reasons.append("the last step line of a killed attempt is cut, and its step is not told")
    if trainer.tells_late and any(_unprinted(run, attempt, style) for attempt in run.attempts):
        intervals += 1
        reasons.append("an attempt was killed before its trainer printed the line of its last step")
    blind: list[tuple[int, int]] = []
    if blemishes.torn:
        blind = [span for attempt in run.attempts for span in _cut_off(run, attempt, style)]
    if blind:
        reasons.append(
            "the line of the last stall, of the first step, or of the last phase, of a killed attempt is cut"
        )
    unbegun = list(_unbegun(run, style))
    if unbegun:
        blind += unbegun
        reasons.append("a start stopped before its first step line, and no line says that its loop had begun")
    silent = list(_widthless(run)) if trainer.world_late else []
    if silent:
        blind += silent
        reasons.append("a start without one of its hosts failed before it said how many GPUs it had")
    untold = [] if trainer.dates_start else list(_untold(run))
    if untold:
        reasons.append("a start failed before its trainer printed a time: nobody saw what it was spent on")
        blind += _unparted(run)
    last = run.attempts[-1]
    if not trainer.dates_steps and last.end is not None and BY_NAME[last.end.fault].kind == "ongoing":
        blind.append((last.end.stop_us, run.jobs[last.job].end_us))
        reasons.append("steps without a time go on until the export of accounting, and no line says how far")
    # Where steps are logged as they begin, the open one may or may not have ended.
    steps = style.log_interval * intervals + trainer.begins
    return RunSlack(stamp, interval, steps, intervals, stamped, tuple(blind), tuple(untold), tuple(reasons))


def _last_word(run: Run, attempt: Attempt, style: Style) -> int:
    """Return when the trainer of an attempt printed its last line, in microseconds; 0 for none."""
    lines = trainers()[run.trainer].render(run, attempt.world(run), attempt, style)
    return max((line.time_us for line in lines), default=0)


def _unprinted(run: Run, attempt: Attempt, style: Style) -> bool:
    """Return whether nothing was printed any more when the last step that has a line was over."""
    ended = [step.end_us for step in attempt.steps if step.number % style.log_interval == 0]
    return bool(ended) and _last_word(run, attempt, style) < ended[-1]


def _widthless(run: Run) -> Iterator[tuple[int, int]]:
    """Yield the spans of starts that a launcher made narrower, and that failed before they told so."""
    for before, it in pairwise(run.attempts):
        narrower = it.job == before.job and len(it.hosts) < len(before.hosts)
        if narrower and it.init_us is None:
            last = next((a.process_us for a in run.attempts[it.number :] if a.job == it.job), None)
            yield it.process_us, last or run.jobs[it.job].end_us


def _untold(run: Run) -> Iterator[tuple[int, int]]:
    """Yield the spans of starts that failed before their communicators were ready, with what was before."""
    for it in run.attempts:
        if it.init_us is None:
            job = run.jobs[it.job]
            own = [other for other in run.attempts if other.job == it.job]
            after = next((other.process_us for other in own if other.number > it.number), job.end_us)
            yield (job.start_us if it is own[0] else it.process_us), after


def _unparted(run: Run) -> Iterator[tuple[int, int]]:
    """Yield the spans of such starts inside an allocation: what they leave first is the word of their end.

    No line parts them from the end of the start before them, which was over when its last process had gone.
    """
    for before, it in pairwise(run.attempts):
        if it.init_us is None and it.job == before.job and it.end is not None and before.end is not None:
            yield min(before.end.left_us, it.process_us), it.end.stop_us


def _unbegun(run: Run, style: Style) -> Iterator[tuple[int, int]]:
    """Yield the spans of loops of which no line tells that they had begun, warm-up included.

    They stopped within the first log interval, and what such a trainer prints last is of its set-up, or of
    its start, where nothing lies between that and the loop.
    """
    for it in run.attempts:
        if it.loop_us is None or it.end is None or len(it.steps) >= style.log_interval:
            continue
        last = _last_word(run, it, style)
        if last < it.loop_us or last == it.process_us:
            yield it.loop_us, it.end.stop_us


def _longest(attempt: Attempt, log_interval: int) -> int:
    """Return the longest time that the steps between two step lines took, in microseconds, warm-up apart."""
    spent: Counter[int] = Counter()
    for at, step in enumerate(attempt.steps):
        spent[-(-step.number // log_interval)] += (
            step.end_us - step.start_us - (0 if at else attempt.warmup_us)
        )
    return max(log_interval * attempt.step_us, *spent.values(), 0)


def _cut_off(run: Run, attempt: Attempt, style: Style) -> Iterator[tuple[int, int]]:
    """Yield the spans of which only the cut last line of a killed attempt told, up to where it stopped.

    That may be its last stall, or all of its loop, warm-up included, where it is the first step line, or the
    last phase of a start that did not come so far, or its restore.
    """
    end, log_interval = attempt.end, style.log_interval
    if end is None or BY_NAME[end.fault].kind in ("completed", "ongoing") or end.told_us is not None:
        return
    if not attempt.steps:
        reached = attempt.loop_us or attempt.built_us or attempt.init_us
        if reached is not None:
            yield _since(run, attempt, style, reached), end.stop_us
        return
    if attempt.loop_us is not None:
        first, last_step = attempt.steps[0].number, attempt.steps[-1].number
        if last_step // log_interval - (first - 1) // log_interval <= 1:
            yield attempt.loop_us, end.stop_us
    last = attempt.stalls[-1] if attempt.stalls else None
    if last is None or last.category not in ("checkpoint_stall", "evaluation"):
        return
    if last.after >= attempt.steps[-1].number // log_interval * log_interval:
        yield last.start_us, end.stop_us


def _since(run: Run, attempt: Attempt, style: Style, reached_us: int) -> int:
    """Return since when nothing is told of a start whose last line is cut.

    Where its trainer prints nothing behind the line of a load, that is the one: nothing tells a load from the
    set-up before it.
    """
    read = attempt.restore
    if read is None or read.end_us > reached_us:
        return reached_us
    return read.start_us if _last_word(run, attempt, style) <= read.end_us else reached_us
