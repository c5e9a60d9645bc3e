"""Alibaba's GPU trace of 2020: tables of jobs and tasks without a header, whose times have no date."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_STATE = r"(?P<state>Running|Terminated|Failed|Waiting)"
_NUMBER = r"\d*(?:\.\d*)?"
_TIMES = rf"(?P<start>{_NUMBER}),(?P<end>{_NUMBER})"
_STATES = tuple(f",{state}," for state in ("Running", "Terminated", "Failed", "Waiting"))
_NAMES = {"Terminated": "COMPLETED", "Failed": "FAILED", "Running": "RUNNING", "Waiting": "PENDING"}


def _time(group: str) -> Value:
    """Return seconds of the trace as a time of 1970."""
    return Value(group, "stamp", stamp="uptime_s")


FORMAT = Format(
    name="alibaba_trace_2020",
    title="Alibaba cluster trace GPU 2020 (pai_job_table, pai_task_table)",
    link="https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2020",
    role="scheduler",
    patterns=(
        Pattern(
            name="task",
            table="allocations",
            literals=_STATES,
            regex=rf"^(?P<job>[0-9a-f]{{16,}}),(?P<task>[A-Za-z]\w*),(?P<n>\d+(?:\.0)?),{_STATE},{_TIMES},"
            rf"{_NUMBER},{_NUMBER},(?P<gpu>{_NUMBER}),(?P<model>[\w-]*)\s*$",
            columns={
                "ts": _time("start"),
                "scheduler": Value(const="pai"),
                "job_id": Value("job"),
                "part": Value("task"),
                "start_ts": _time("start"),
                "end_ts": _time("end"),
                "state": Value("state", mapping=_NAMES),
                "n_nodes": Value("n", "int"),
                # Percent of one device for each instance; a task without the number asks for none.
                "gpus": Value("gpu", "float", scale=0.01, times="n"),
            },
            note="`Terminated` is success. An instance counts as a node. Parts of a device are cut off.",
        ),
        Pattern(
            name="job",
            table="allocations",
            literals=_STATES,
            regex=rf"^(?P<job>[0-9a-f]{{16,}}),(?P<inst>[0-9a-f]{{16,}}),(?P<user>\w+),{_STATE},{_TIMES}\s*$",
            columns={
                "ts": _time("start"),
                "scheduler": Value(const="pai"),
                "job_id": Value("job"),
                "account": Value("user"),
                "submit_ts": _time("start"),
                "end_ts": _time("end"),
                "state": Value("state", mapping=_NAMES),
            },
            note="The start is that of the submission; when it ran is told by its tasks, which name no user.",
        ),
        known_line(
            "header", ("job_name,",), r"^job_name,(?:task_name,inst_num|inst_id),.*start_time,end_time"
        ),
    ),
    deciding=("task", "job"),
    versions="2020",
    unrendered="A published trace: no cluster of today writes it.",
)
