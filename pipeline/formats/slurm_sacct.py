"""Slurm accounting as text: ``sacct -p``, ``-P`` or ``--delimiter``, whatever the delimiter and the columns.

One record is one allocation; a requeued job has several records of one id, each with its own times.
Records of steps (``90211.batch``, ``90211.0``) repeat the time of their job and are known, but no rows.
"""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

# A job: 4821, 4820_7 (task of an array), 4830+1 (part of a heterogeneous job), 4820_[8-31%4] (a pending
# bundle of array tasks, whose brackets a narrow database field may have cut). A step adds `.name`.
_JOB = r"\d+(?:_\d+|\+\d+)?"
_JOB_OR_STEP = rf"{_JOB}(?:_\[[^|]*)?(?:\.[\w+]+)?"
_TIME = r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)?|\d{9,11}|Unknown|None|)"
_DURATION = r"(?:(?:\d+-)?\d+:\d\d(?::\d\d)?(?:\.\d+)?|UNLIMITED|Partition_Limit|INVALID|Unknown|)"
_TRES = r"(?:[\w/.:-]+=[^=]*(?:,[\w/.:-]+=[^=]*)*|)"
#: States as the column of ten characters cuts them that is the default for people.
_CUT_STATES = {
    state[:9]: state for state in ("OUT_OF_MEMORY", "RESV_DEL_HOLD", "REQUEUE_HOLD", "SPECIAL_EXIT")
}
_NOT_NONE = r"^(?P<v>[^N].*|N[^o].*|No[^n].*|Non[^e].*|None.+)$"


def _time(*fields: str) -> Value:
    """Return the first of some fields as a time: text, or epoch seconds where the export asked for them."""
    return Value(fields, "stamp", stamp="iso")


FORMAT = Format(
    name="slurm_sacct",
    title="Slurm accounting as text (sacct)",
    link="https://slurm.schedmd.com/sacct.html",
    role="scheduler",
    shape="table",
    versions="20.11 to 26.05",
    # Names that squeue and others have too (user, partition, name) prove nothing.
    header=(
        *("JobID", "JobIDRaw", "State", "Submit", "Eligible", "Start", "End", "Elapsed", "ElapsedRaw"),
        *("Suspended", "Timelimit", "TimelimitRaw", "NNodes", "AllocNodes", "AllocTRES", "ReqTRES"),
        *("NodeList", "ExitCode", "DerivedExitCode", "FailedNode", "Restarts", "DBIndex", "SubmitLine"),
    ),
    header_min=3,
    shapes={
        "JobID": _JOB_OR_STEP,
        "JobIDRaw": _JOB_OR_STEP,
        "State": r"[A-Z_]+(?: (?:b?y?\+|by \S+)|\+)?",
        **dict.fromkeys(("Submit", "Eligible", "Start", "End"), _TIME),
        **dict.fromkeys(("Elapsed", "Suspended", "Timelimit"), _DURATION),
        **dict.fromkeys(("ElapsedRaw", "NNodes", "AllocNodes", "Restarts", "DBIndex"), r"\d*"),
        "TimelimitRaw": r"(?:\d+|UNLIMITED|Partition_Limit|)",
        **dict.fromkeys(("AllocTRES", "ReqTRES"), _TRES),
        **dict.fromkeys(("ExitCode", "DerivedExitCode"), r"(?:\d+:\d+|)"),
        "NodeList": r"(?:None assigned|[\w.,\[\]+-]*)",
    },
    free=(
        *("JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Constraints"),
        *("Reason", "Extra", "Container", "StdIn", "StdOut", "StdErr", "AllocTRES", "ReqTRES", "NodeList"),
    ),
    derive={
        # JobIDRaw is the plain number that the controller and the job's own output print.
        "job": Derived(("JobIDRaw", "JobID"), rf"^(?P<v>{_JOB})(?:_\[.*)?$"),
        "step": Derived(("JobIDRaw", "JobID"), r"\.(?P<v>[\w+]+)$"),
        "state": Derived(("State",), r"^(?P<v>[A-Z_]+)"),
        "state_by": Derived(("State",), r" by (?P<v>\S+)$"),
        "exit_code": Derived(("ExitCode",), r"^(?P<v>\d+):"),
        "exit_signal": Derived(("ExitCode",), r":(?P<v>\d+)$"),
        "reason": Derived(("FailedNode", "Reason"), _NOT_NONE),
        # Minutes, written as minutes and seconds: a limit in seconds comes out of both columns.
        "limit": Derived(("TimelimitRaw",), r"^(?P<v>\d+)$", "$v:00"),
    },
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("job",),
            columns={
                "ts": _time("Submit", "Start", "End"),
                "scheduler": Value(const="slurm"),
                "cluster": Value("Cluster"),
                "job_id": Value("job"),
                "restart_no": Value("Restarts", "int"),
                "name": Value("JobName"),
                "user": Value("User"),
                "account": Value("Account"),
                "qos": Value("QOS"),
                "partition": Value("Partition"),
                "submit_ts": _time("Submit"),
                "eligible_ts": _time("Eligible"),
                "start_ts": _time("Start"),
                "end_ts": _time("End"),
                "elapsed_s": Value(("ElapsedRaw", "Elapsed"), "seconds"),
                "suspended_s": Value("Suspended", "seconds"),
                "time_limit_s": Value(("limit", "Timelimit"), "seconds"),
                "state": Value("state", mapping=_CUT_STATES),
                "state_by": Value("state_by"),
                "exit_code": Value("exit_code", "int"),
                "exit_signal": Value("exit_signal", "int"),
                "reason": Value("reason"),
                "nodes": Value("NodeList", "hostlist"),
                "n_nodes": Value(("NNodes", "AllocNodes"), "int"),
                "gpus": Value(("AllocTRES", "ReqTRES"), "tres_gpus"),
            },
            note="Times are local to the machine that ran sacct, unless it was told to print epoch seconds.",
        ),
        Pattern(
            name="step",
            table="",
            when=("step",),
            note="A step of a job: its time is already in the record of the job.",
        ),
    ),
    tells_requeues=True,
)
