"""What Slurm and job scripts print into the output of a job: ends of jobs and steps, srun's remarks, dates.

The lines stand between those of the trainer. An end names its own time, which is local to the node; the
reason behind ``DUE TO`` is missing where a person cancelled the job or its step.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Head, Pattern, Value

# *** STEP 881200.0 ON gx001 CANCELLED AT 2026-10-05T20:22:50
_END = (
    r"\*\*\* (?:JOB|STEP) [\w.+]+ ON (?P<host>[\w.-]+) "
    r"CANCELLED AT (?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)"
)
# Mon Oct  5 03:00:13 CEST 2026: what `date` prints; or with AM or PM behind the time, or as one of
# Mon 05 Oct 2026 03:00:13 AM CEST, by the language that is set.
_CLOCK = r"\d\d:\d\d:\d\d(?: [AP]M)?"
_DATE = (
    rf"(?:[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]?\d {_CLOCK}(?: [A-Z]{{3,5}}| [+-]\d{{2,4}})? \d{{4}}"
    rf"|[A-Z][a-z]{{2}} \d?\d [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}(?: [A-Z]{{3,5}})?)"
)
_DAYS = tuple(f"{day} " for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))

_REASONS = {
    "TIME LIMIT": "time_limit",
    "PREEMPTION": "preemption",
    "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS": "node_failure",
    "JOB REQUEUE": "requeue",
    "TASK FAILURE": "task_failure",
}
_SIGNALS = {
    f"SIGNAL {name}": f"signal {name}"
    for name in ("Terminated", "Killed", "Interrupt", "Hangup", "Continued", "User defined signal 1")
}


def _end(name: str, reason: str, detail: Value, versions: str) -> Pattern:
    """Return the pattern of an end whose reason is printed as ``reason``."""
    return Pattern(
        name=name,
        table="phases",
        columns={
            "ts": Value("at", "stamp", stamp="iso"),
            "host": Value("host"),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": detail,
        },
        literals=("CANCELLED AT",),
        regex=_END + reason + r" \*\*\*",
        versions=versions,
        note="The step and the job print it both: one end, two lines.",
    )


def _date(name: str, edge: str, words: str) -> Pattern:
    """Return the pattern of a date that a job script prints behind some words."""
    return Pattern(
        name=name,
        table="phases",
        columns={
            "ts": Value("at", "stamp", stamp="ctime"),
            "phase": Value(const="job"),
            "edge": Value(const=edge),
        },
        literals=_DAYS,
        regex=rf"^{words}(?P<at>{_DATE})\s*$",
    )


FORMAT = Format(
    name="slurm_messages",
    title="Slurm in the output of a job (slurmstepd, srun, job scripts)",
    link="https://slurm.schedmd.com/srun.html",
    role="any",
    primary=False,
    by_host_clock=True,
    versions="20.11 to 26.05",
    heads=(
        Head(r"slurmstepd(?:-[A-Za-z0-9_.-]+)?: (?:error|fatal)", "any"),
        Head(r"srun: error: ", "any"),
    ),
    patterns=(
        _end("ended_for_reason", r" DUE TO (?P<why>[^*]+?)", Value("why", mapping=_REASONS), "20.11 on"),
        _end("ended_by_signal", r" DUE to (?P<why>[^*]+?)", Value("why", mapping=_SIGNALS), "25.05 on"),
        _end("ended", "", Value(const="cancelled"), "to 24.11"),
        Pattern(
            name="step_failed",
            table="",
            literals=("*** JOB ", "*** STEP "),
            regex=r"\*\*\* (?:JOB|STEP) [\w.+]+ (?:STEPD TERMINATED ON|ON [\w.-]+ (?:FAILED|UNCORRECTABLE))",
        ),
        Pattern(
            name="reason_given",
            table="",
            literals=("*** REASON: ",),
            regex=r"\*\*\* REASON: .+ \*\*\*",
        ),
        Pattern(
            # slurmstepd: error: …; the name may carry the host: slurmstepd-gx017: …
            name="slurmstepd",
            table="",
            literals=("slurmstepd",),
            regex=r"^slurmstepd(?:-[\w.-]+)?: (?:error|fatal|warning|info|debug): [^*\s]",
        ),
        Pattern(
            # [2026-10-05T20:22:50.113] error: Detected 1 oom_kill event in StepId=881200.0. …
            name="stamped_memory_kill",
            table="",
            literals=("oom_kill event", "oom-kill event"),
            regex=r"^\[[\dT:.-]+\] (?:error: )?Detected \d+ oom[_-]kill event",
        ),
        Pattern(
            name="client",
            table="",
            literals=("srun: ", "salloc: ", "sbatch: "),
            regex=r"^(?:srun|salloc|sbatch): \S",
            note="Of several lines about tasks that exited, the first often names the root.",
        ),
        _date(
            "job_start",
            "begin",
            r"(?:(?i:job )?(?i:start(?:ed|ing)?|begin|began)(?i: time| at| on)?\s*[:=]?\s+)",
        ),
        _date("job_end", "end", r"(?:(?i:job )?(?i:end(?:ed)?|finish(?:ed)?)(?i: time| at| on)?\s*[:=]?\s+)"),
        _date("date", "point", ""),
    ),
)
