"""The log of Slurm's controller: submissions, allocations, ends and nodes, those of other people included."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.lines import Style
from pipeline.simulate.ranges import host_list
from pipeline.simulate.renderers.slurm import parts
from pipeline.simulate.renderers.slurm_daemons import stamped
from pipeline.simulate.story import SECOND, Attempt, End, Job, Run, Story

#: When and what, before it has a stamp.
_Said = tuple[int, str]

#: Seconds from the first question that a host did not answer until it counts as down.
_UNHEARD_S = 200
#: Mean time from one job of other people to the next, in seconds, and how long one runs.
_OTHERS_EVERY_S = 1800.0
_OTHERS_RUN_S = (120.0, 7200.0)


def controller_log(story: Story, style: Style) -> Iterator[str]:
    """Yield the lines in order; the controller stamps its own clock, which no host's is ahead of."""
    said = [line for run in story.runs for at in range(len(run.jobs)) for line in _job(run, at)]
    rng = Random(f"{story.seed}/slurmctld")
    said += _others(rng, min(said)[0], max(said)[0])
    for time_us, text in sorted(said):
        yield stamped(time_us, text, style)


def _job(run: Run, place: int) -> Iterator[_Said]:
    """Yield the lines about one allocation of a run."""
    job = run.jobs[place]
    own = [attempt for attempt in run.attempts if attempt.job == place]
    following = run.jobs[place + 1] if place + 1 < len(run.jobs) else None
    again = following if following is not None and following.job_id == job.job_id else None
    if not job.restart:
        yield (
            job.submit_us + 114_000,
            f"_slurm_rpc_submit_batch_job: JobId={job.job_id} InitPrio=4294901720 usec=412",
        )
    yield (
        job.start_us + 3_000,
        f"sched: Allocate JobId={job.job_id} NodeList={host_list(job.hosts)} #CPUs={job.gpus * 28}"
        " Partition=h100",
    )
    for gone, attempt in zip(job.removed, _lost(own), strict=False):
        yield from _down(attempt.end, gone.time_us)
        yield gone.time_us + 319_000, f"error: Removing failed node {gone.host} from JobId={job.job_id}"
    end = own[-1].end
    assert end is not None
    if job.state != "RUNNING":
        *_, last = parts(job, run)
        yield from _ended(last, end, again)
    for attempt in own:
        yield from _drained(attempt)


def _lost(attempts: list[Attempt]) -> list[Attempt]:
    """Return the attempts whose host stopped answering."""
    return [it for it in attempts if it.end is not None and BY_NAME[it.end.fault].state == "NODE_FAIL"]


def _down(end: End | None, time_us: int) -> Iterator[_Said]:
    """Yield what is said of a host that stops answering, and is down then."""
    assert end is not None
    yield time_us - _UNHEARD_S * SECOND + 2_000, f"error: Nodes {end.host} not responding"
    yield time_us + 318_000, f"error: Nodes {end.host} not responding, setting DOWN"


def _ended(job: Job, end: End, again: Job | None) -> Iterator[_Said]:
    """Yield what is said of the end of an allocation; ``again`` is the job where it is put back."""
    name = f"JobId={job.job_id}"
    at = job.end_us + 1_000
    code, _, signal = job.exit_code.partition(":")
    done = f"_job_complete: {name} {f'WTERMSIG {signal}' if signal != '0' else f'WEXITSTATUS {code}'}"
    stopped = end.told_us if end.told_us is not None else end.stop_us
    if job.state == "NODE_FAIL":
        down = end.detected_us
        yield from _down(end, down)
        if again is not None:
            yield down + 319_000, f"requeue job {name} due to failure of node {end.host}"
        else:
            yield down + 319_000, f"Killing {name} on failed node {end.host}"
        done = f"_job_complete: {name} cancelled by node failure"
        if again is not None:
            done = f"_job_complete: requeue {name} due to node failure"
    elif job.state == "TIMEOUT":
        yield stopped + 7_000, f"Time limit exhausted for {name}"
    elif job.state.startswith("CANCELLED"):
        when = end.detected_us if BY_NAME[end.fault].notice == "person" else stopped
        yield when + 9_000, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB {name} uid 5001"
    elif job.state == "PREEMPTED":
        what = "requeued" if again is not None else "killed"
        yield (
            stopped + 44_000,
            f"preempted {name} has been {what} to reclaim resources for JobId={job.job_id + 7_000}",
        )
    elif job.state == "OUT_OF_MEMORY":
        done = f"_job_complete: {name} OOM failure"
    elif job.state == "REQUEUED":
        done = f"_job_complete: requeue {name} per user/system request"
    yield at, done
    yield at + 100, f"_job_complete: {name} done"
    if again is not None:
        yield again.submit_us + 771_000, f"Requeuing {name}"


def _drained(it: Attempt) -> Iterator[_Said]:
    """Yield how a host that failed is taken out: by its daemon at once, by a check a minute after."""
    end = it.end
    assert end is not None
    fault = BY_NAME[end.fault]
    if fault.cause == "scheduler_error":
        yield end.detected_us + 2_000, f"drain_nodes: node {end.host} state set to DRAIN"
    elif fault.host_fails and fault.state != "NODE_FAIL":
        at = end.left_us + 60 * SECOND
        state = "DRAINING" if end.job_goes_on else "DRAINED"
        yield at, f"update_node: node {end.host} reason set to: health check"
        yield at + 1_000, f"update_node: node {end.host} state set to {state}"


def _others(rng: Random, begin_us: int, end_us: int) -> Iterator[_Said]:
    """Yield the lines of jobs and hosts that no run has anything to do with."""
    at, job_id = begin_us, 70_000
    while (at := at + round(rng.expovariate(1 / _OTHERS_EVERY_S) * SECOND)) < end_us:
        job_id += rng.randrange(1, 9)
        name, host = f"JobId={job_id}", f"cx{rng.randrange(1, 40):03d}"
        left = at + round(rng.uniform(*_OTHERS_RUN_S) * SECOND)
        yield at, f"_slurm_rpc_submit_batch_job: {name} InitPrio=4294901{rng.randrange(100, 999)} usec=377"
        yield at + 900_000, f"sched/backfill: _start_job: Started {name} in cpu on {host}"
        how = rng.choice(("WEXITSTATUS 0", "WEXITSTATUS 1", "time limit", "node"))
        if how == "time limit":
            yield left - 31 * SECOND, f"Time limit exhausted for {name}"
            how = "WTERMSIG 15"
        elif how == "node":
            yield left - 300 * SECOND, f"error: Nodes {host} not responding"
            yield left - 1_000, f"error: Nodes {host} not responding, setting DOWN"
            yield left - 1_000, f"Killing {name} on failed node {host}"
            yield left + 3600 * SECOND, f"node_did_resp: node {host} returned to service"
            how = "cancelled by node failure"
        yield left, f"_job_complete: {name} {how}"
        yield left + 100, f"_job_complete: {name} done"
