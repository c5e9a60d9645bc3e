"""Slurm's log of completed jobs as JSON: what it sends to Elasticsearch or Kafka, and exports of either.

Its times are UTC although no zone is printed. It knows no requeue: the end of an attempt has its base state.
"""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value


def _utc(field: str) -> Derived:
    """Return a time with the zone that it is in."""
    return Derived((field,), r"^(?P<v>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)$", "$vZ")


def _time(*fields: str) -> Value:
    """Return the first of some times."""
    return Value(fields, "stamp", stamp="iso")


FORMAT = Format(
    name="slurm_jobcomp_json",
    title="Slurm job completion log as JSON (jobcomp/elasticsearch, jobcomp/kafka)",
    link="https://github.com/SchedMD/slurm/blob/master/src/plugins/jobcomp/common/jobcomp_common.c",
    role="scheduler",
    shape="records",
    versions="20.11 to 26.05",
    unwrap=("_source", "value"),
    deciding=("job",),
    unrendered="The simulator writes the accounting of the same jobs, which says more.",
    derive={
        "start": _utc("@start"),
        "end": _utc("@end"),
        "submit": _utc("@submit"),
        "eligible": _utc("@eligible"),
        "code": Derived(("exit_code",), r"^(?P<v>\d+):"),
        "signal": Derived(("exit_code",), r":(?P<v>\d+)$"),
    },
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("jobid", "@end", "state", "total_nodes"),
            columns={
                "ts": _time("submit", "start", "end"),
                "scheduler": Value(const="slurm"),
                "cluster": Value("cluster"),
                "job_id": Value("jobid"),
                "name": Value("job_name"),
                "user": Value("username"),
                "account": Value("account"),
                "qos": Value("qos"),
                "partition": Value("partition"),
                "submit_ts": _time("submit"),
                "eligible_ts": _time("eligible"),
                "start_ts": _time("start"),
                "end_ts": _time("end"),
                "elapsed_s": Value("elapsed", "float"),
                "time_limit_s": Value("time_limit", "float"),
                "state": Value("state"),
                "exit_code": Value("code", "int"),
                "exit_signal": Value("signal", "int"),
                "reason": Value("failed_node"),
                "nodes": Value("nodes", "hostlist"),
                "n_nodes": Value("total_nodes", "int"),
                "gpus": Value(("tres_alloc", "tres_req"), "tres_gpus"),
            },
        ),
    ),
)
