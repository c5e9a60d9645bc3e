"""Jobs as Slurm's controller knows them at one moment: ``scontrol show job``, with and without ``-o``.

Unlike accounting it forgets a job minutes after its end, and knows one attempt of a requeued job. What it
prints of the future is no record: the start of a job that waits, and the end of one that runs.
"""

from __future__ import annotations

from pipeline.formats._slurm_show import CUTS, GIVEN, time_of
from pipeline.formats.format import Derived, Format, Pattern, Value

_OVER = (
    *("COMPLETED", "COMPLETING", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"),
    *("DEADLINE", "OUT_OF_MEMORY", "REVOKED", "SPECIAL_EXIT"),
)
_HELD = ("RUNNING", "SUSPENDED", "CONFIGURING", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT")
_WAITING = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD")

_JOB = {
    "ts": time_of("SubmitTime"),
    "scheduler": Value(const="slurm"),
    "job_id": Value("JobId"),
    "restart_no": Value("Restarts", "int"),
    "name": Value("JobName"),
    "user": Value("user"),
    "account": Value("Account"),
    "qos": Value("QOS"),
    "partition": Value("Partition"),
    "submit_ts": time_of("SubmitTime"),
    "eligible_ts": time_of("EligibleTime"),
    "time_limit_s": Value("TimeLimit", "seconds"),
    "state": Value("JobState"),
    "reason": Value(("failed_on", "reason")),
    "n_nodes": Value("nodes", "int"),
    "gpus": Value(("allocated", "TRES", "ReqTRES"), "tres_gpus"),
}
_STARTED = {
    **_JOB,
    "start_ts": time_of("StartTime"),
    "elapsed_s": Value("RunTime", "seconds"),
    "nodes": Value("NodeList", "hostlist"),
}
_NEEDED = ("JobId", "JobName", "UserId", "submitted")
#: A time, or a word for none. Where another text stands, times are printed as somebody wished, or a line was
#: cut: of such a record nobody knows when the job ran, or whether it did.
_A_TIME = r"^(?P<v>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*|\d{9,11}|Unknown|None|N/A|\(null\))$"


def _job(
    name: str, states: tuple[str, ...], columns: dict[str, Value], note: str = "", told: tuple[str, ...] = ()
) -> Pattern:
    """Return the pattern of jobs in some states, which tell some times."""
    return Pattern(
        name=name,
        table="allocations",
        when=(*_NEEDED, *told),
        where={"JobState": states},
        columns=columns,
        note=note,
    )


FORMAT = Format(
    name="scontrol_job",
    title="Slurm jobs at one moment (scontrol show job)",
    link="https://slurm.schedmd.com/scontrol.html",
    role="scheduler",
    shape="blocks",
    versions="20.11 to 26.05",
    elements=("JobId",),
    header=(
        *("JobId", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "JobName", "UserId", "GroupId"),
        *("MCS_label", "Priority", "Nice", "Account", "QOS", "WCKey", "JobState", "Reason", "FailedNode"),
        *("Dependency", "Requeue", "Restarts", "BatchFlag", "Reboot", "ExitCode", "RunTime", "TimeLimit"),
        *("SubmitTime", "EligibleTime", "AccrueTime", "StartTime", "EndTime", "SuspendTime", "Partition"),
        *("AllocNode:Sid", "NodeList", "BatchHost", "NumNodes", "NumCPUs", "ReqTRES", "AllocTRES", "Command"),
        *("WorkDir", "StdErr", "StdIn", "StdOut", "Comment", "AdminComment", "SystemComment", "Features"),
    ),
    header_min=8,
    free=("JobName", "Reason", "Comment", "AdminComment", "SystemComment", "Command", "WorkDir"),
    deciding=("ended", "running", "waiting"),
    unrendered="The simulator writes the accounting of the same jobs, which knows them all.",
    derive={
        **CUTS,
        "submitted": Derived(("SubmitTime",), _A_TIME),
        "started": Derived(("StartTime",), _A_TIME),
        "ended": Derived(("EndTime",), _A_TIME),
        "allocated": Derived(("AllocTRES",), r"^(?P<v>[a-z].*)$"),
        "failed_on": Derived(("FailedNode",), GIVEN),
        "reason": Derived(("Reason",), GIVEN),
        # A job that waits says a range: 8-16.
        "nodes": Derived(("NumNodes",), r"^(?P<v>\d+)"),
    },
    patterns=(
        _job(
            "ended",
            _OVER,
            {
                **_STARTED,
                "end_ts": time_of("EndTime"),
                "exit_code": Value("exit_code", "int"),
                "exit_signal": Value("exit_signal", "int"),
            },
            "The exit code is the script's own; accounting as text took 128 off to 25.05.",
            told=("started", "ended"),
        ),
        _job(
            "running",
            _HELD,
            _STARTED,
            "Its `EndTime` is the time limit, and is left out.",
            told=("started",),
        ),
        _job("waiting", _WAITING, _JOB, "Its `StartTime` is a guess of the scheduler, and is left out."),
    ),
)
