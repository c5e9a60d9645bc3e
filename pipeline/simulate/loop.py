"""Invents the loop of an attempt: steps, saves, evaluations, and what it waits for."""

from __future__ import annotations

from random import Random

from pipeline.simulate.plan import Plan, Range
from pipeline.simulate.story import SECOND, Attempt, Save, Stall, Step

#: Checkpoints that can be restored, oldest first: step, and the attempt that saved it.
Disk = list[tuple[int, int]]

#: Steps within which the next line is printed, and some more.
_TELLING = 24

_NEVER = 2**62


def train(it: Attempt, limit: int, until_us: int, plan: Plan, rng: Random, disk: Disk) -> int:
    """Add steps to an attempt; return when the last thing of its loop ended.

    The loop ends before step ``limit``, and before the step that would end after ``until_us``. A save may be
    torn there, but the last one of a run that completes; an evaluation that would be is not begun.
    """
    return _Loop(it, until_us, plan, rng, disk).run(limit)


def train_and_save(
    it: Attempt, limit: int, until_us: int, plan: Plan, rng: Random, disk: Disk
) -> tuple[int, int | None]:
    """Add steps as `train` does, and a save after the last of them.

    Return when that save ended, and when, inside the last step, the trainer was told to stop: None where the
    loop did not come so far.
    """
    loop = _Loop(it, until_us, plan, rng, disk)
    loop.leaves_after = limit - 1
    now = loop.run(limit)
    if not it.steps or it.steps[-1].number < loop.leaves_after:
        return now, None
    step = it.steps[-1]
    return now, min(-(-(step.start_us + step.end_us) // 2 // SECOND) * SECOND, step.end_us)


class _Loop:
    """The loop of an attempt while it is invented."""

    def __init__(self, it: Attempt, until_us: int, plan: Plan, rng: Random, disk: Disk) -> None:
        assert it.loop_us is not None
        self.it, self.until_us, self.plan, self.rng, self.disk = it, until_us, plan, rng, disk
        self.now = it.loop_us
        #: A save in the background: which of the attempt's, and when it will be whole.
        self.pending: tuple[int, int] | None = None
        #: The step after which the trainer saves and leaves; 0 where it does not.
        self.leaves_after = 0
        #: Steps of a slow stretch that are still to come, and how many times as long as others they take.
        self.slow_steps, self.slower = 0, 1.0

    def _pace(self, number: int) -> float:
        """Return how many times as long as a clean one a step takes."""
        plan, rng = self.plan, self.rng
        if plan.throttle is not None and plan.throttle.holds(number):
            return plan.throttle.slower
        if plan.slow and not self.slow_steps and rng.random() < plan.slow:
            self.slow_steps, self.slower = rng.randint(*plan.slow_for), rng.uniform(*plan.slower)
        if not self.slow_steps:
            return 1.0
        self.slow_steps -= 1
        return self.slower

    def run(self, limit: int) -> int:
        """Make steps."""
        it, plan, rng = self.it, self.plan, self.rng
        for number in range(it.first_step, limit):
            begin = self.now
            length = round(it.step_us * self._pace(number) * (1 + plan.jitter * (2 * rng.random() - 1)))
            if not it.steps:
                length += it.warmup_us
            if begin + length > self.until_us:
                break
            self.now = begin + length
            it.steps.append(Step(number, begin, self.now))
            if self.pending is not None and self.now >= self.pending[1]:
                self._finish()
            if number == self.leaves_after:
                # Who leaves by itself is left the time to save.
                self.until_us = _NEVER
                if plan.save_every:
                    self._save(number)
                    # A process that leaves waits for what it writes in the background.
                    self._drain(number)
                break
            quiet = True
            if plan.save_every and number % plan.save_every == 0 and number < plan.target:
                self._save(number)
                quiet = False
            if plan.save_every and plan.saves_last and number == plan.target and not plan.goes_on:
                # A run that made its last step completes, and so it has its last save behind it.
                self.until_us = _NEVER
                self._save(number)
                self._drain(number)
            if plan.eval_every and number % plan.eval_every == 0 and number < plan.target:
                self._stall("evaluation", number, self._us(plan.eval_s))
                quiet = False
            # Only the line of a later step can tell that the loop stood still; what comes before the second
            # line of an attempt nobody can tell from its warm-up.
            quiet = quiet and it.first_step + _TELLING <= number < limit - _TELLING
            quiet = quiet and self.now + _TELLING * it.step_us < self.until_us
            if quiet and rng.random() < plan.data_stall:
                self._stall("data_stall", number, self._us(plan.data_stall_s))
            elif quiet and rng.random() < plan.loop_gap:
                self._stall("loop_gap", number, self._us(plan.data_stall_s))
        return self.now

    def _save(self, number: int) -> None:
        """Save after a step; a save that has not ended yet is waited for."""
        blocked = self._us(self.plan.save_s)
        if self.pending is not None:
            waited = self.pending[1] - self.now
            if self.now + waited + blocked > self.until_us:
                return
            self._stall("checkpoint_stall", number, waited)
            self._finish()
        start = self.now
        if start + blocked > self.until_us:
            self._stall("checkpoint_stall", number, self.until_us - start)
            self.it.saves.append(Save(number, start, None, None))
            return
        self._stall("checkpoint_stall", number, blocked)
        self.it.saves.append(Save(number, start, self.now, None))
        self.pending = (len(self.it.saves) - 1, self.now)
        if self.plan.save_async:
            self.pending = (self.pending[0], self.now + self._us(self.plan.background_s))
        else:
            self._finish()

    def _drain(self, number: int) -> None:
        """Wait until the save in the background is whole."""
        if self.pending is None:
            return
        save = self.it.saves[-1]
        self._stall("checkpoint_stall", number, self.pending[1] - self.now)
        self.it.saves[-1] = Save(save.step, save.start_us, self.now, None)
        self._finish()

    def _finish(self) -> None:
        """Note that the save in the background can be restored from now on."""
        assert self.pending is not None
        save = self.it.saves[self.pending[0]]
        self.it.saves[self.pending[0]] = Save(save.step, save.start_us, save.blocked_us, self.now)
        self.disk.append((save.step, self.it.number))
        self.pending = None

    def _stall(self, category: str, after: int, length: int) -> None:
        """Let the loop stand still from now on."""
        if length > 0 and self.now + length <= self.until_us:
            self.it.stalls.append(Stall(category, after, self.now, self.now + length))
            self.now += length

    def _us(self, seconds: Range) -> int:
        """Return a length within a range, in microseconds."""
        return round(self.rng.uniform(*seconds) * SECOND)
