"""Invents the life of a run: queue, start-ups, faults, restarts. Everything follows from the seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pipeline.simulate.faults import BY_NAME, Fault
from pipeline.simulate.loop import Disk, train
from pipeline.simulate.plan import Plan, Range
from pipeline.simulate.story import SECOND, Attempt, End, Job, Restore, Run, Story


def invent(seed: int, plans: tuple[Plan, ...]) -> Story:
    """Return a story of runs, each as its plan says."""
    return Story(
        seed, [_Inventor(Random(f"{seed}/{number}"), plan, number).run() for number, plan in enumerate(plans)]
    )


class _Inventor:
    """The life of one run while it is invented."""

    def __init__(self, rng: Random, plan: Plan, number: int) -> None:
        self.rng, self.plan = rng, plan
        self.now = plan.start_us
        self.hosts_left = 0
        hosts = plan.gpus // plan.gpus_per_host
        self.hosts = [f"gx{100 * (number + 1) + at:03d}" for at in range(hosts)]
        self.spare = 100 * (number + 1) + hosts
        self.next_job = 88_000 + 1_000 * number
        self.disk: Disk = []
        self.of = Run(
            plan.name,
            plan.trainer,
            plan.gpus,
            plan.gpus_per_host,
            plan.batch,
            3 * plan.target if plan.goes_on else plan.target,
            plan.save_async,
        )

    def run(self) -> Run:
        """Return the run."""
        submit = self.now
        eligible = submit
        restart = 0
        while True:
            start = self._whole(eligible + self._us(self.plan.queue_s))
            hosts = list(self.hosts)
            if len(hosts) > 1 and self.rng.random() < self.plan.narrow:
                hosts = hosts[:-1]
            job_id = self.next_job
            place = len(self.of.jobs)
            self.now = start + self._us(self.plan.provisioning_s)
            fault = self._attempt(place, hosts)
            end = self._end()
            inside = 0
            while (
                fault.kind == "unplanned"
                and not fault.host_fails
                and inside < 3
                and len(self.of.attempts) < self.plan.max_attempts
                and self.rng.random() < self.plan.restart_inside
            ):
                inside += 1
                self.now = end.left_us + self._us((2.0, 20.0))
                fault = self._attempt(place, hosts)
                end = self._end()
            released = self._whole(end.left_us + self._us((1.0, 20.0)))
            if fault.name == "completed" and not self.plan.shows_exit:
                # Nobody could tell when the last process had left.
                released = self._whole(end.left_us)
                self.of.attempts[-1].end = replace(end, left_us=released)
            self.of.jobs.append(
                Job(
                    job_id,
                    restart,
                    submit,
                    eligible,
                    start,
                    released,
                    tuple(hosts),
                    len(hosts) * self.plan.gpus_per_host,
                    fault.state,
                    fault.exit_code,
                )
            )
            if fault.name in ("completed", "in_progress"):
                return self.of
            self._replace_host(fault, end)
            self.now = released
            if fault.kind != "planned" and self.rng.random() < self.plan.requeue:
                restart += 1
                submit = released
                eligible = self._whole(released + self._us(self.plan.requeue_delay_s))
                self.of.jobs[-1] = replace(
                    self.of.jobs[-1], state="REQUEUED" if fault.state == "FAILED" else fault.state
                )
            else:
                restart = 0
                self.next_job += self.rng.randrange(1, 40)
                submit = self._whole(released + self._us(self.plan.gap_s))
                eligible = submit

    def _attempt(self, place: int, hosts: list[str]) -> Fault:
        """Add an attempt that begins now, and return how it ended."""
        plan, rng = self.plan, self.rng
        number = len(self.of.attempts) + 1
        width = len(hosts) / len(self.hosts)
        it = Attempt(number, place, self.now, round(plan.step_s * SECOND / width))
        self.of.attempts.append(it)
        last = number >= plan.max_attempts
        fault = self._choose(last)
        if not last and number > 1 and rng.random() < plan.failed_start:
            self.now += self._us(plan.init_s) // 2
            self._close(it, fault, hosts)
            return fault
        it.init_us = self.now = self.now + self._us(plan.init_s)
        self.now += self._us(plan.setup_s)
        it.restore = self._restore()
        it.built_us = self.now
        it.loop_us = self.now = self.now + self._us(plan.data_setup_s)
        it.warmup_us = self._us(plan.warmup_s)
        limit = plan.target if last else it.first_step + rng.randint(*plan.steps_between)
        if limit >= plan.target:
            fault = BY_NAME["completed"] if not plan.goes_on else BY_NAME["in_progress"]
            limit = plan.target + 1
        self.now = train(it, min(limit, plan.target + 1), plan, rng, self.disk)
        self._close(it, fault, hosts)
        return fault

    def _restore(self) -> Restore | None:
        """Return the checkpoint that is read now, or None where there is none."""
        if not self.disk:
            return None
        back = 1
        if len(self.disk) > 1 and self.rng.random() < self.plan.roll_back:
            back = self.rng.randint(2, min(3, len(self.disk)))
        step, saved_by = self.disk[-back]
        # What was saved after it belongs to a future that did not come.
        del self.disk[len(self.disk) - back + 1 :]
        begin = self.now
        self.now += self._us(self.plan.restore_s)
        return Restore(step, saved_by, begin, self.now)

    def _close(self, it: Attempt, fault: Fault, hosts: list[str]) -> None:
        """End an attempt now, inside its next step."""
        rng = self.rng
        stop = self.now
        if fault.kind not in ("completed", "ongoing"):
            stop += round(it.step_us * (0.1 + 0.8 * rng.random()))
            if fault.notice in ("planned", "scheduler", "person"):
                stop = self._whole(stop)
        delay = self.plan.watchdog_s if fault.notice == "watchdog" else rng.uniform(*fault.delay_s)
        detected = stop + round(delay * SECOND)
        left = detected + self._us(fault.teardown_s)
        per_host = self.plan.gpus_per_host
        at = rng.randrange(len(hosts)) if fault.kind == "unplanned" else 0
        gpu = rng.randrange(per_host)
        it.end = End(
            fault.name,
            stop,
            detected,
            left,
            hosts[at],
            at * per_host + gpu,
            gpu,
            self.plan.watchdog_s if fault.notice == "watchdog" else 0.0,
        )
        self.now = left

    def _end(self) -> End:
        """Return how the last attempt ended."""
        end = self.of.attempts[-1].end
        assert end is not None
        return end

    def _choose(self, last: bool) -> Fault:
        """Return how an attempt will end if it does not complete."""
        if last:
            return BY_NAME["in_progress" if self.plan.goes_on else "completed"]
        names, weights = zip(*sorted(self.plan.ends.items()), strict=True)
        return BY_NAME[self.rng.choices(names, weights)[0]]

    def _replace_host(self, fault: Fault, end: End) -> None:
        """Put a spare host in the place of one that failed."""
        if fault.host_fails:
            self.hosts[self.hosts.index(end.host)] = f"gx{self.spare:03d}"
            self.spare += 1

    def _us(self, seconds: Range) -> int:
        """Return a length within a range, in microseconds."""
        return round(self.rng.uniform(*seconds) * SECOND)

    @staticmethod
    def _whole(time_us: int) -> int:
        """Return the next whole second: schedulers know no other."""
        return -(-time_us // SECOND) * SECOND
