"""AcmeTrace: the job logs of the clusters Seren and Kalos, as published."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value


def _time(*fields: str) -> Value:
    """Return the first of some fields as a time."""
    return Value(fields, "stamp", stamp="iso")


_JOB: dict[str, Value] = {
    "ts": _time("submit_time", "start_time"),
    "job_id": Value("job_id"),
    "user": Value("user"),
    "partition": Value("type"),
    "submit_ts": _time("submit_time"),
    "start_ts": _time("start_time"),
    "end_ts": _time("end_time", "fail_time", "stop_time"),
    "state": Value("state"),
    "n_nodes": Value("node_num", "int"),
    "gpus": Value("gpu_num", "int"),
}

FORMAT = Format(
    name="acme_trace",
    title="AcmeTrace job logs (trace_seren.csv, trace_kalos.csv)",
    link="https://github.com/InternLM/AcmeTrace",
    role="scheduler",
    shape="csv",
    header=("job_id", "node_num", "gpu_num", "type", "gpu_time", "fail_time", "stop_time", "mem_per_pod_GB"),
    header_min=5,
    derive={
        "kalos": Derived(("job_id",), r"^(?P<v>dlc\w*)"),
        "seren": Derived(("job_id",), r"^(?P<v>\d+)$"),
    },
    patterns=(
        Pattern(
            name="seren",
            table="allocations",
            when=("seren", "gpu_time"),
            columns={
                **_JOB,
                "scheduler": Value(const="slurm"),
                "cluster": Value(const="seren"),
                "elapsed_s": Value("duration", "float"),
            },
            note="The workload type stands as the partition.",
        ),
        Pattern(
            name="kalos",
            table="allocations",
            when=("kalos", "gpu_time"),
            columns={**_JOB, "scheduler": Value(const="pai"), "cluster": Value(const="kalos")},
            note="`duration` and `gpu_time` hold the time in the queue and are not read.",
        ),
    ),
    deciding=("seren", "kalos"),
    versions="2024",
    unrendered="A published trace: no cluster of today writes it.",
)
