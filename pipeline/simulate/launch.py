"""Invents an attempt: its start-up, its loop, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from pipeline.simulate.faults import BY_NAME, Fault
from pipeline.simulate.loop import Disk, train, train_and_save
from pipeline.simulate.plan import Plan, Range
from pipeline.simulate.story import SECOND, Attempt, End, Restore

_NEVER = 2**62


@dataclass(slots=True)
class Clock:
    """The time of a run while it is invented, and the numbers that decide what comes next."""

    rng: Random
    now: int

    def us(self, seconds: Range) -> int:
        """Return a length within a range, in microseconds."""
        return round(self.rng.uniform(*seconds) * SECOND)


def whole(time_us: int) -> int:
    """Return the next whole second: schedulers know no other."""
    return -(-time_us // SECOND) * SECOND


@dataclass(slots=True)
class Launcher:
    """Starts the attempts of a run one after the other."""

    plan: Plan
    clock: Clock
    attempts: list[Attempt] = field(default_factory=list)
    disk: Disk = field(default_factory=list)
    lemon: str = ""

    def start(self, job: int, hosts: list[str], stop_us: int = _NEVER) -> tuple[Fault, End]:
        """Add an attempt that begins now, and return how it ended.

        Args:
            job: index of the allocation.
            hosts: those that it trains on, in the order of ranks.
            stop_us: when it is stopped by a person, should it run so long.
        """
        plan, clock = self.plan, self.clock
        number = len(self.attempts) + 1
        width = len(hosts) * plan.gpus_per_host / plan.gpus
        it = Attempt(number, job, tuple(hosts), clock.now, round(plan.step_s * SECOND / width))
        self.attempts.append(it)
        fault, limit, loop_s = self._fate(number)
        if self._fails_at_start(fault, number):
            clock.now += clock.us(plan.init_s) // 2
            return fault, self._close(it, fault, _NEVER)
        it.init_us = clock.now = clock.now + clock.us(plan.init_s)
        clock.now += clock.us(plan.setup_s)
        it.restore = self._restore()
        it.built_us = clock.now
        it.loop_us = clock.now = clock.now + clock.us(plan.data_setup_s)
        it.warmup_us = clock.us(plan.warmup_s)
        if fault.grace and loop_s is not None:
            limit, loop_s = max(1, round(loop_s / plan.step_s)), None
        if limit is not None:
            limit += it.first_step
        until = it.loop_us + round(loop_s * SECOND) if loop_s is not None else _NEVER
        if fault.notice == "planned" and until < _NEVER:
            until = whole(until)
        if stopped := stop_us < until:
            until = max(stop_us, whole(it.loop_us))
        last = plan.target + 1
        if fault.grace and limit is not None and limit < last:
            clock.now, told = train_and_save(it, limit, until, plan, clock.rng, self.disk)
            if told is not None:
                return fault, self._close(it, fault, _NEVER, told)
        else:
            clock.now = train(it, min(limit or last, last), until, plan, clock.rng, self.disk)
        if it.steps and it.steps[-1].number == plan.target:
            fault = BY_NAME["in_progress" if plan.goes_on else "completed"]
        elif limit is not None and it.first_step + len(it.steps) == limit:
            until = _NEVER
        elif stopped:
            fault = BY_NAME["operator_stop"]
        return fault, self._close(it, fault, until)

    def _fate(self, number: int) -> tuple[Fault, int | None, float | None]:
        """Return how an attempt will end, after how many steps, or after how many seconds of its loop."""
        plan, rng = self.plan, self.clock.rng
        if plan.script:
            if number > len(plan.script):
                return BY_NAME["completed"], None, None
            ending = plan.script[number - 1]
            return BY_NAME[ending.fault], None, ending.after_s
        if number >= plan.max_attempts:
            return BY_NAME["completed"], None, None
        names, weights = zip(*sorted(plan.ends.items()), strict=True)
        fault = BY_NAME[rng.choices(names, weights)[0]]
        if rng.random() < plan.by_time:
            low, high = plan.steps_between
            return fault, None, rng.uniform(low, high) * plan.step_s
        return fault, rng.randint(*plan.steps_between), None

    def _restore(self) -> Restore | None:
        """Return the checkpoint that is read now, or None where there is none."""
        plan, clock, disk = self.plan, self.clock, self.disk
        if not disk:
            return None
        back = 1
        if len(disk) > 1 and clock.rng.random() < plan.roll_back:
            back = clock.rng.randint(2, min(3, len(disk)))
        step, saved_by = disk[-back]
        # What was saved after it belongs to a future that did not come.
        del disk[len(disk) - back + 1 :]
        begin = clock.now
        clock.now += clock.us(plan.restore_s)
        return Restore(step, saved_by, begin, clock.now)

    def _fails_at_start(self, fault: Fault, number: int) -> bool:
        """Return whether the end comes before the first step."""
        if fault.when != "any":
            return fault.when == "start"
        return number > 1 and fault.kind == "unplanned" and self.clock.rng.random() < self.plan.failed_start

    def _close(self, it: Attempt, fault: Fault, until_us: int, told_us: int | None = None) -> End:
        """End an attempt and return how: at a time, where it was told to stop, or inside its next step."""
        plan, clock, rng = self.plan, self.clock, self.clock.rng
        stop = clock.now
        if fault.kind not in ("completed", "ongoing") and told_us is None:
            if until_us < _NEVER:
                stop = max(stop, until_us)
            else:
                stop += round(it.step_us * (0.1 + 0.8 * rng.random()))
            if fault.notice == "planned":
                stop = whole(stop)
        waited = (fault.waits_s or plan.watchdog_s) if fault.notice == "watchdog" else 0.0
        detected = stop + round((waited or rng.uniform(*fault.delay_s)) * SECOND)
        if fault.notice in ("scheduler", "person"):
            detected = whole(detected)
        left = detected + clock.us(fault.teardown_s)
        at = rng.randrange(len(it.hosts)) if fault.kind == "unplanned" else 0
        if fault.kind == "unplanned" and self.lemon in it.hosts and rng.random() < plan.lemon:
            at = it.hosts.index(self.lemon)
        gpu = rng.randrange(plan.gpus_per_host)
        rank = at * plan.gpus_per_host + gpu
        it.end = End(fault.name, stop, detected, left, it.hosts[at], rank, gpu, waited, told_us)
        clock.now = left
        return it.end
