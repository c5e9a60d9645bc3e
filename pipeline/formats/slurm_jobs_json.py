"""Jobs as Slurm's controller knows them at one moment, as JSON: of squeue, of scontrol and of slurmrestd.

What it says of the future is no record: the start of a job that waits, and the end of one that runs.
"""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

#: A number as it is, or as `{"infinite":false,"number":1772359200,"set":true}`; keys come out sorted.
_NUMBER = r'^(?:\{"infinite":false,"number":)?(?P<v>\d+)(?:,"set":true\})?$'
_NOT_NONE = r"^(?P<v>[^N].*|N[^o].*|No[^n].*|Non[^e].*|None.+)$"
_OVER = (
    "COMPLETED|COMPLETING|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|PREEMPTED|BOOT_FAIL|DEADLINE"
    "|OUT_OF_MEMORY|REVOKED"
)
_TIMES = ("submit_time", "eligible_time", "start_time", "end_time")


def _time(*names: str) -> Value:
    """Return the first of some times that is set."""
    return Value(tuple(f"{name} " for name in names), "stamp", stamp="epoch_s")


_JOB = {
    "ts": _time("submit_time"),
    "scheduler": Value(const="slurm"),
    "cluster": Value("cluster"),
    "job_id": Value("job_id"),
    "restart_no": Value("restart_cnt", "int"),
    "name": Value("name"),
    "user": Value("user_name"),
    "account": Value("account"),
    "qos": Value("qos"),
    "partition": Value("partition"),
    "submit_ts": _time("submit_time"),
    "eligible_ts": _time("eligible_time"),
    "time_limit_s": Value("limit", "float", scale=60.0),
    "reason": Value(("failed_on", "reason")),
    "n_nodes": Value("count", "int"),
    "gpus": Value(("tres_alloc_str", "tres_req_str"), "tres_gpus"),
}
_STARTED = {**_JOB, "start_ts": _time("start_time"), "nodes": Value("nodes", "hostlist")}

FORMAT = Format(
    name="slurm_jobs_json",
    title="Slurm jobs at one moment as JSON (squeue --json, scontrol --json, slurmrestd)",
    link="https://slurm.schedmd.com/squeue.html",
    role="scheduler",
    shape="document",
    versions="21.08 to 26.05 (data parsers v0.0.37 to v0.0.45, also +complex)",
    elements=("jobs",),
    header=("job_state", "submit_time", "tres_alloc_str", "state_reason", "restart_cnt"),
    header_min=4,
    deciding=("ended", "running", "waiting"),
    unrendered="The simulator writes the accounting of the same jobs, which knows them all.",
    derive={
        **{f"{name} ": Derived((name,), _NUMBER) for name in _TIMES},
        "limit": Derived(("time_limit",), _NUMBER),
        "count": Derived(("node_count",), _NUMBER),
        "over": Derived(("job_state",), rf'^(?:\[?"?)(?P<v>{_OVER})\b'),
        "runs": Derived(("job_state",), r'^(?:\[?"?)(?P<v>RUNNING|SUSPENDED|CONFIGURING)\b'),
        "waits": Derived(("job_state",), r'^(?:\[?"?)(?P<v>PENDING|REQUEUED|REQUEUE_HOLD|SPECIAL_EXIT)\b'),
        # An object from 23.11 on; before, the raw wait status, which is left out.
        "code": Derived(("exit_code",), r'^\{"return_code":\{"infinite":false,"number":(?P<v>\d+)'),
        "signal": Derived(("exit_code",), r'"signal":\{"id":\{"infinite":false,"number":(?P<v>\d+)'),
        "failed_on": Derived(("failed_node",), _NOT_NONE),
        "reason": Derived(("state_reason",), _NOT_NONE),
    },
    patterns=(
        Pattern(
            name="ended",
            table="allocations",
            when=("job_id", "submit_time", "over"),
            columns={
                **_STARTED,
                "state": Value("over"),
                "end_ts": _time("end_time"),
                "exit_code": Value("code", "int"),
                "exit_signal": Value("signal", "int"),
            },
        ),
        Pattern(
            name="running",
            table="allocations",
            when=("job_id", "submit_time", "runs"),
            columns={**_STARTED, "state": Value("runs")},
            note="Its `end_time` is the time limit, and is left out.",
        ),
        Pattern(
            name="waiting",
            table="allocations",
            when=("job_id", "submit_time", "waits"),
            columns={**_JOB, "state": Value("waits")},
            note="Its `start_time` is a guess of the scheduler, and is left out.",
        ),
    ),
)
