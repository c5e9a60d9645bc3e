"""Jobs as PBS and Torque print them for people: ``qstat -f``, and with those that are over ``qstat -xf``.

A record is a line that names the job and then an attribute a line, set in. Lines are cut at column 78, in the
middle of words or behind a comma, and the rest stands behind a tab; ``-w`` and ``-1`` do not cut them. Times
are those of the machine that printed them and name no zone. Of a job that was put back the last run is told.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._batch_states import (
    PBS_CODES,
    PBS_RESTARTS,
    PBS_SIGNALS,
    PBS_STATES,
    TORQUE_STATES,
)
from pipeline.formats.format import Derived, Format, Pattern, Value
from pipeline.formats.prose import Prose


def _attribute(name: str, value: str = r"\S+", text: str = "$v") -> Derived:
    """Return what an attribute says; after the name of one that is of a resource stands a point."""
    return Derived(("whole",), rf"(?m)^    {name} = (?P<v>{value})", text)


def _time(name: str) -> Value:
    """Return a time, which is local to the machine that printed it."""
    return Value(name, "stamp", stamp="ctime")


_TIMES = ("ctime", "etime", "mtime", "stime", "obittime", "start_time", "comp_time")
_OVER, _HELD, _WAITING = ("F", "X", "C"), ("R", "E", "S", "U"), ("Q", "H", "W", "T")
#: Before 22 OpenPBS did not keep when a job ended; it saves one a last time when it has ended.
_END = Value(("obittime", "comp_time", "mtime"), "stamp", stamp="ctime")

_JOB = {
    "ts": Value(("stime", "start_time", "ctime"), "stamp", stamp="ctime"),
    "scheduler": Value(const="pbs"),
    "job_id": Value("job"),
    "name": Value("name"),
    "user": Value("owner"),
    "account": Value("account"),
    "partition": Value("queue"),
    "submit_ts": _time("ctime"),
    "eligible_ts": _time("etime"),
    "time_limit_s": Value("limit", "seconds"),
    "n_nodes": Value("n_nodes", "int"),
    # What it got, else what it asked for: a sum, chunks, or nodes of Torque.
    "gpus": Value(("given", "sum", "select", "nodes"), "spec_gpus"),
}
_STARTED = {
    **_JOB,
    "start_ts": Value(("stime", "start_time"), "stamp", stamp="ctime"),
    "nodes": Value("exec_host", "slots"),
    "restart_no": Value(("run_count", "start_count"), "int", mapping=PBS_RESTARTS),
}


def _ended(name: str, status: str, states: Mapping[str, str], versions: str, note: str) -> Pattern:
    """Return the pattern of jobs that ran and are over, as one of the two families tells of them."""
    return Pattern(
        name=name,
        table="allocations",
        when=("job", "part", status),
        where={"job_state": _OVER},
        columns={
            **_STARTED,
            "end_ts": _END,
            "elapsed_s": Value("walltime", "seconds"),
            "state": Value(("deleted", status), mapping={**states, "deleted": "CANCELLED"}),
            "exit_code": Value(status, "int", mapping=PBS_CODES),
            "exit_signal": Value(status, "int", mapping=PBS_SIGNALS),
        },
        versions=versions,
        note=note,
    )


FORMAT = Format(
    name="pbs_jobs",
    title="PBS jobs as text (qstat -f, qstat -xf)",
    link="https://github.com/openpbs/openpbs/blob/master/src/cmds/qstat.c",
    role="scheduler",
    shape="prose",
    versions="OpenPBS 19 to 23, PBS Professional, Torque 4 to 6",
    deciding=("ended", "ended_torque", "running", "waiting", "never_ran"),
    # People print it into the output of the job, too.
    least_share=0.5,
    unrendered="Stories are told of clusters under Slurm.",
    prose=Prose(
        begin=r"Job Id: \d+(?:\[\d*\])?(?:\.[\w.-]+)?\s*$",
        # An exported function of a shell ends with a brace.
        inside=r"\s|\}|$",
        # Whether it was ever started.
        part=r"    (?:stime|start_time) = [A-Z]",
        rest=r" {8}",
    ),
    derive={
        "job": Derived(("whole",), r"^Job Id: (?P<v>\d+(?:\[\d+\])?)(?:\.|\s|$)"),
        "parent": Derived(("whole",), r"^Job Id: \d+(?P<v>\[\])"),
        "name": _attribute("Job_Name", r"\S(?:[^\n]*\S)?"),
        "owner": _attribute("Job_Owner", r"[^@\s]+"),
        "account": _attribute("Account_Name"),
        "queue": _attribute("queue"),
        "job_state": _attribute("job_state", "[A-Z]"),
        "exec_host": _attribute("exec_host"),
        "run_count": _attribute("run_count", r"\d+"),
        "start_count": _attribute("start_count", r"\d+"),
        "status": _attribute("Exit_status", r"-?\d+"),
        "status_torque": _attribute("exit_status", r"-?\d+"),
        "n_nodes": _attribute(r"Resource_List\.nodect", r"\d+"),
        "limit": _attribute(r"Resource_List\.walltime", r"[\d:]+"),
        "walltime": _attribute(r"resources_used\.walltime", r"[\d:]+"),
        "given": _attribute("exec_vnode", r"\S*gpus=\d\S*"),
        "sum": _attribute(r"Resource_List\.ngpus", r"\d+", "ngpus=$v"),
        "select": _attribute(r"Resource_List\.select", r"\S*gpus=\d\S*"),
        "nodes": _attribute(r"Resource_List\.nodes", r"\S*gpus=\d\S*"),
        # Somebody deleted it.
        "deleted": _attribute("substate", "91", "deleted"),
        **{name: _attribute(name, r"[A-Z][^\n]*\d{4}") for name in _TIMES},
    },
    patterns=(
        _ended(
            "ended",
            "status",
            PBS_STATES,
            "OpenPBS, PBS Professional",
            "The end is `obittime` from 22 on, and before it `mtime`, some seconds later.",
        ),
        _ended(
            "ended_torque",
            "status_torque",
            TORQUE_STATES,
            "Torque",
            "A job that somebody deletes ends by a signal like one that was killed.",
        ),
        Pattern(
            name="running",
            table="allocations",
            when=("job", "part"),
            where={"job_state": _HELD},
            columns={
                **_STARTED,
                "state": Value("job_state", mapping={"S": "SUSPENDED", "U": "SUSPENDED", "*": "RUNNING"}),
            },
        ),
        Pattern(
            name="waiting",
            table="allocations",
            when=("job",),
            where={"job_state": _WAITING},
            columns={**_JOB, "state": Value(const="PENDING")},
        ),
        Pattern(
            name="never_ran",
            table="allocations",
            when=("job", "alone"),
            where={"job_state": _OVER},
            columns={
                **_JOB,
                "end_ts": _END,
                "state": Value(("deleted", "job_state"), mapping={"deleted": "CANCELLED", "*": "FAILED"}),
            },
        ),
        Pattern(
            name="elsewhere",
            table="",
            when=("job", "alone"),
            where={"job_state": (*_HELD, "M")},
            note="It is moved to another server, which tells of it, or about to start.",
        ),
        Pattern(name="array", table="", when=("parent",), note="What ran are its members, with `-t`."),
    ),
)
