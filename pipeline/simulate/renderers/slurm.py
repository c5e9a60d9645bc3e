"""Accounting of Slurm: what ``sacct --parsable2`` prints of the jobs of a story."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Style
from pipeline.simulate.ranges import host_list
from pipeline.simulate.story import SECOND, Job, Run

_COLUMNS = (
    "JobIDRaw|JobID|Cluster|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Suspended"
    "|TimelimitRaw|NNodes|AllocTRES|ExitCode|DerivedExitCode|FailedNode|Reason|NodeList|Restarts|JobName"
)


def accounting(runs: list[Run], style: Style) -> Iterator[str]:
    """Yield the header and a row for each allocation, in order of submission."""
    yield _COLUMNS
    for job, run in by_submission(runs):
        yield _row(job, run, style)


def by_submission(runs: list[Run]) -> list[tuple[Job, Run]]:
    """Return every allocation with its run, in order of submission."""
    jobs = [(part, run) for run in runs for job in run.jobs for part in parts(job, run)]
    return sorted(jobs, key=lambda pair: (pair[0].submit_us, pair[0].job_id, pair[0].restart))


def parts(job: Job, run: Run) -> Iterator[Job]:
    """Yield what accounting takes for allocations of their own: a new one where hosts were taken out."""
    for gone in job.removed:
        yield replace(job, end_us=gone.time_us, state="RESIZING", exit_code="0:0")
        hosts = tuple(host for host in job.hosts if host != gone.host)
        at = gone.time_us
        gpus = len(hosts) * run.gpus_per_host
        job = replace(job, submit_us=at, eligible_us=at, start_us=at, hosts=hosts, gpus=gpus)
    yield job


def _row(job: Job, run: Run, style: Style) -> str:
    """Return the row of one allocation."""
    running = job.state == "RUNNING"
    times = [_time(at, style) for at in (job.submit_us, job.eligible_us, job.start_us)]
    tres = f"billing={job.gpus * 14},cpu={job.gpus * 28},gres/gpu:h100={job.gpus},gres/gpu={job.gpus}"
    return "|".join(
        (
            *(str(job.job_id), str(job.job_id), "aviary", "mira", "llm", "h100", "normal", job.state),
            *times,
            "Unknown" if running else _time(job.end_us, style),
            str((job.end_us - job.start_us) // SECOND),
            *("00:00:00", "2880", str(len(job.hosts))),
            f"{tres},node={len(job.hosts)}",
            *(job.exit_code, job.exit_code, "", "None"),
            host_list(job.hosts),
            str(job.restart),
            run.name,
        )
    )


def _time(time_us: int, style: Style) -> str:
    """Return a time as accounting prints it."""
    return style.local(time_us).strftime("%Y-%m-%dT%H:%M:%S")
