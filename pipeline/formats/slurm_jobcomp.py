"""Slurm's log of completed jobs as text: a line of ``Key=Value`` for each end of an allocation.

It knows no requeue: the end of an attempt is printed with its base state, and with its own submit time.
"""

from __future__ import annotations

from pipeline.formats._slurm_show import CUTS, time_of
from pipeline.formats.format import Derived, Format, Pattern, Value

FORMAT = Format(
    name="slurm_jobcomp",
    title="Slurm job completion log as text (jobcomp/filetxt)",
    link="https://github.com/SchedMD/slurm/blob/master/src/plugins/jobcomp/filetxt/jobcomp_filetxt.c",
    role="scheduler",
    shape="blocks",
    versions="20.11 to 26.05",
    elements=("JobId",),
    header=(
        *("JobId", "UserId", "GroupId", "Name", "JobState", "Partition", "TimeLimit", "StartTime", "EndTime"),
        *("NodeList", "NodeCnt", "ProcCnt", "WorkDir", "ReservationName", "Tres", "Gres", "Account", "QOS"),
        *("WcKey", "Cluster", "SubmitTime", "EligibleTime", "ArrayJobId", "ArrayTaskId", "HetJobId"),
        *("HetJobOffset", "DerivedExitCode", "ExitCode"),
    ),
    header_min=10,
    free=("Name", "WorkDir"),
    deciding=("job",),
    unrendered="The simulator writes the accounting of the same jobs, which says more.",
    derive={
        **CUTS,
        # Minutes, written as minutes and seconds.
        "limit": Derived(("TimeLimit",), r"^(?P<v>\d+)$", "$v:00"),
    },
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("JobId", "Name", "JobState", "EndTime", "NodeCnt"),
            columns={
                "ts": time_of("SubmitTime", "StartTime", "EndTime"),
                "scheduler": Value(const="slurm"),
                "cluster": Value("Cluster", mapping={"unknown": ""}),
                "job_id": Value("JobId"),
                "name": Value("Name"),
                "user": Value("user"),
                "account": Value("Account"),
                "qos": Value("QOS"),
                "partition": Value("Partition"),
                "submit_ts": time_of("SubmitTime"),
                "eligible_ts": time_of("EligibleTime"),
                "start_ts": time_of("StartTime"),
                "end_ts": time_of("EndTime"),
                "time_limit_s": Value("limit", "seconds"),
                "state": Value("JobState"),
                "exit_code": Value("exit_code", "int"),
                "exit_signal": Value("exit_signal", "int"),
                "nodes": Value("NodeList", "hostlist"),
                "n_nodes": Value("NodeCnt", "int"),
                "gpus": Value("Tres", "tres_gpus"),
            },
            note="The resources are those that were asked for.",
        ),
    ),
)
