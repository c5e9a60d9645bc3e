"""Invents the life of a run: queue, allocations, restarts. Everything follows from the seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pipeline.simulate.faults import Fault
from pipeline.simulate.launch import Clock, Launcher, whole
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import trainers
from pipeline.simulate.story import HOUR, SECOND, End, Job, Maintenance, Removal, Run, Story

#: Starts of a launcher inside one allocation.
_MAX_INSIDE = 4


def invent(seed: int, plans: tuple[Plan, ...], maintenance: tuple[Maintenance, ...] = ()) -> Story:
    """Return a story of runs on a cluster, each as its plan says, as far as its trainer can tell of it."""
    runs = []
    declared = list(maintenance)
    host = 100
    for number, plan in enumerate(trainers()[plan.trainer].fit(plan) for plan in plans):
        life = _Life(Random(f"{seed}/{number}"), plan, 88_000 + 1_000 * number, host, maintenance)
        runs.append(life.run())
        declared += life.maintenance[len(maintenance) :]
        host = life.next_host + 1
    return Story(seed, runs, declared)


def host_name(number: int) -> str:
    """Return the name of a host."""
    return f"gx{number:03d}" if number < 1000 else f"gx{number}"


class _Life:
    """The life of one run while it is invented."""

    def __init__(
        self, rng: Random, plan: Plan, job_id: int, host: int, maintenance: tuple[Maintenance, ...]
    ) -> None:
        self.plan, self.rng, self.next_job, self.maintenance = plan, rng, job_id, maintenance
        self.needed = plan.gpus // plan.gpus_per_host
        self.hosts = [host_name(host + at) for at in range(self.needed + plan.spares)]
        self.next_host = host + len(self.hosts)
        self.clock = Clock(rng, plan.start_us)
        self.launcher = Launcher(plan, self.clock, lemon=self.hosts[0] if plan.lemon else "")
        target = 3 * plan.target if plan.goes_on else plan.target
        self.of = Run(
            plan.name,
            plan.trainer,
            plan.gpus,
            plan.gpus_per_host,
            plan.batch,
            target,
            plan.save_async,
            plan.split,
            plan.throttle,
        )

    def run(self) -> Run:
        """Return the run."""
        plan, clock = self.plan, self.clock
        submit = eligible = plan.start_us
        restart = 0
        while True:
            start = self._after_maintenance(whole(eligible + clock.us(plan.queue_s)))
            hosts = list(self.hosts)
            if self.needed > 1 and self.rng.random() < plan.narrow:
                hosts = hosts[: self.needed - 1]
            clock.now = start + clock.us(plan.provisioning_s)
            stop = min((m.start_us for m in self.maintenance if m.start_us > start), default=2**62)
            fault, end, removed = self._allocation(hosts, stop)
            released = whole(end.left_us + clock.us((1.0, 20.0)))
            if fault.name == "completed" and not plan.shows_exit:
                # Nobody could tell when the last process had left.
                released = whole(end.left_us)
                self.launcher.attempts[-1].end = replace(end, left_us=released)
            again = fault.kind != "planned" and self.rng.random() < plan.requeue
            state = "REQUEUED" if again and fault.state == "FAILED" else fault.state
            gpus = len(hosts) * plan.gpus_per_host
            times = (submit, eligible, start, released)
            self.of.jobs.append(
                Job(self.next_job, restart, *times, tuple(hosts), gpus, state, fault.exit_code, removed)
            )
            if fault.name in ("completed", "in_progress"):
                self.of.attempts = self.launcher.attempts
                return self.of
            if fault.host_fails and end.host != self.launcher.lemon:
                self._replace(end.host)
            self._make_room(end)
            submit = released if again else whole(released + clock.us(plan.gap_s))
            eligible = whole(released + clock.us(plan.requeue_delay_s)) if again else submit
            restart = restart + 1 if again else 0
            self.next_job += 0 if again else self.rng.randrange(1, 40)

    def _allocation(self, hosts: list[str], stop_us: int) -> tuple[Fault, End, tuple[Removal, ...]]:
        """Start attempts inside one allocation; return how the last one ended, and which hosts were taken."""
        plan, clock, launcher = self.plan, self.clock, self.launcher
        place = len(self.of.jobs)
        spares = hosts[self.needed :]
        active = hosts[: self.needed]
        removed: list[Removal] = []
        for inside in range(_MAX_INSIDE):
            fault, end = launcher.start(place, active, stop_us)
            again = fault.kind == "unplanned" and self.rng.random() < plan.restart_inside
            lost = fault.host_fails and end.host != launcher.lemon
            idle = len(hosts) - len(removed) > len(active)
            shrinks = lost and not spares and self._shrinks(fault, active, idle=idle)
            if lost:
                again = shrinks or (again and bool(spares))
            if fault.state == "REQUEUED" or (fault.state == "NODE_FAIL" and end.host == hosts[0]):
                # A job ends that the scheduler puts back, and with the host that runs its script.
                again = False
            if not again or inside == _MAX_INSIDE - 1 or len(launcher.attempts) >= plan.max_attempts:
                break
            if lost:
                at = active.index(end.host)
                active[at : at + 1] = [] if shrinks else [spares.pop(0)]
                self._replace(end.host)
            if fault.state == "NODE_FAIL":
                removed.append(Removal(whole(end.detected_us), end.host))
            launcher.attempts[-1].end = replace(end, job_goes_on=True)
            clock.now = end.left_us + clock.us((2.0, 20.0))
        return fault, end, tuple(removed)

    def _shrinks(self, fault: Fault, active: list[str], *, idle: bool) -> bool:
        """Return whether the launcher goes on without a host that failed; another may idle already."""
        plan = self.plan
        if not plan.shrink or len(active) == 1:
            return False
        # That a host which is still held is left out only a program can tell that had told its width before.
        begun = self.launcher.attempts[-1].init_us is not None
        # A host that the scheduler takes away leaves its width to accounting, where no other one idles.
        told = fault.state == "NODE_FAIL" and (plan.shows_world or not idle)
        told = told or (plan.shows_world and begun)
        return self.rng.random() < plan.shrink and told

    def _replace(self, host: str) -> None:
        """Put a new host in the place of one that failed, for the jobs that follow."""
        if host in self.hosts:
            self.hosts[self.hosts.index(host)] = host_name(self.next_host)
            self.next_host += 1

    def _make_room(self, end: End) -> None:
        """Begin the maintenance that an end made room for, if any."""
        number = len(self.launcher.attempts)
        if number <= len(self.plan.script) and (length_s := self.plan.script[number - 1].maintenance_s):
            over = end.stop_us + round(length_s) * SECOND
            self.maintenance += (Maintenance(end.stop_us, over, over + HOUR),)

    def _after_maintenance(self, start_us: int) -> int:
        """Return when an allocation can begin that could begin at a time but for maintenance."""
        for entry in self.maintenance:
            if entry.start_us - 600 * SECOND <= start_us < entry.end_us:
                start_us = whole(entry.end_us + self.clock.us(self.plan.provisioning_s))
        return start_us
