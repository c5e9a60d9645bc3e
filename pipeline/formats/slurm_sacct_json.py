"""Slurm accounting as JSON: ``sacct --json`` and the job lists of slurmrestd, from 21.08 on.

A record is an allocation, as in the text form, and fills the same columns in the same way. Its steps stand
inside of it and repeat its time: they are no rows. Times are seconds since the epoch, so no zone is in doubt.
"""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

# From 23.11 a state is a list of a base and flags. Accounting as text prints the flag, which hides the base.
_FLAGS = "RESIZING|REQUEUED|REQUEUE_FED|REQUEUE_HOLD|SPECIAL_EXIT|REVOKED|RESV_DEL_HOLD"
_BASES = (
    "PENDING|RUNNING|SUSPENDED|COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|PREEMPTED|BOOT_FAIL|DEADLINE"
    "|OUT_OF_MEMORY"
)
#: A number as it is, or as `{"infinite":false,"number":10080,"set":true}`; keys come out sorted.
_NUMBER = r'(?:\{"infinite":false,"number":)?(?P<v>\d+(?:\.\d+)?)'
_NOT_NONE = r"^(?P<v>[^N].*|N[^o].*|No[^n].*|Non[^e].*|None.+)$"


def _time(*fields: str) -> Value:
    """Return the first of some times that is set; an unset one is 0, and no time."""
    return Value(tuple(f"time/{field}" for field in fields), "stamp", stamp="epoch_s")


FORMAT = Format(
    name="slurm_sacct_json",
    title="Slurm accounting as JSON or YAML (sacct --json, --yaml, slurmrestd)",
    link="https://slurm.schedmd.com/sacct.html#OPT_json",
    role="scheduler",
    shape="document",
    versions="21.08 to 26.05 (data parsers v0.0.37 to v0.0.45, also +complex)",
    elements=("jobs",),
    header=("allocation_nodes", "derived_exit_code", "submission", "kill_request_user"),
    header_min=3,
    deciding=("job",),
    derive={
        "flag": Derived(("state/current",), rf"\b(?P<v>{_FLAGS})\b"),
        "base": Derived(("state/current",), rf"\b(?P<v>{_BASES})\b"),
        "limit": Derived(("time/limit",), rf'^{_NUMBER}(?:,"set":true\}})?$'),
        # To 23.02 a status is a text, and the code beside it is 0 whatever the script returned.
        "code": Derived(("exit_code",), rf'^\{{"return_code":{_NUMBER}[,}}].*"status":\['),
        "signal": Derived(
            ("exit_code",), rf'"signal":\{{(?:"name":"[^"]*",)?"(?:signal_)?id":{_NUMBER}[,}}]'
        ),
        # Where unset numbers are null (+complex), the other of the two is 0 as in the text.
        "no_code": Derived(("exit_code",), r'^(?P<v>)\{"return_code":null,"signal":\{"id":\d', "0$v"),
        "no_signal": Derived(("exit_code",), r'^(?P<v>)\{"return_code":\d+,"signal":\{"id":null', "0$v"),
        "failed_on": Derived(("failed_node",), _NOT_NONE),
        "reason": Derived(("state/reason",), _NOT_NONE),
        "allocated": Derived(("tres/allocated",), r"^(?P<v>\[\{.*)$"),
        "restarts": Derived(("restart_cnt",), rf"^{_NUMBER}"),
    },
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("job_id", "time/submission", "state/current"),
            columns={
                "ts": _time("submission", "start", "end"),
                "scheduler": Value(const="slurm"),
                "cluster": Value("cluster"),
                "job_id": Value("job_id"),
                "restart_no": Value("restarts", "int"),
                "name": Value("name"),
                "user": Value("user"),
                "account": Value("account"),
                "qos": Value("qos"),
                "partition": Value("partition"),
                "submit_ts": _time("submission"),
                "eligible_ts": _time("eligible"),
                "start_ts": _time("start"),
                "end_ts": _time("end"),
                "elapsed_s": Value("time/elapsed", "float"),
                "suspended_s": Value("time/suspended", "float"),
                "time_limit_s": Value("limit", "float", scale=60.0),
                "state": Value(("flag", "base")),
                "state_by": Value("kill_request_user"),
                "exit_code": Value(("code", "no_code"), "int"),
                "exit_signal": Value(("signal", "no_signal"), "int"),
                "reason": Value(("failed_on", "reason")),
                "nodes": Value("nodes", "hostlist"),
                "n_nodes": Value("allocation_nodes", "int"),
                "gpus": Value(("allocated", "tres/requested"), "tres_gpus"),
            },
            note="Who cancelled a job is a name here, and a number in the text form. To 23.02 every job that "
            "left by itself says code 0: such codes are left out, and the state counts.",
        ),
    ),
    tells_requeues=True,
)
