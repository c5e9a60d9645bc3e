"""Alibaba's GPU trace of 2023 (openb): pods and nodes, with times that count from an unknown moment."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value


def _time(field: str) -> Value:
    """Return seconds since the begin of the trace as a time of 1970."""
    return Value(field, "stamp", stamp="uptime_s")


FORMAT = Format(
    name="alibaba_trace_2023",
    title="Alibaba cluster trace GPU 2023 (openb_pod_list, openb_node_list)",
    link="https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023",
    role="scheduler",
    shape="csv",
    header=("cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "pod_phase", "creation_time", "sn", "model"),
    header_min=4,
    patterns=(
        Pattern(
            name="pod",
            table="allocations",
            when=("name", "pod_phase", "num_gpu"),
            columns={
                "ts": _time("creation_time"),
                "scheduler": Value(const="pai"),
                "job_id": Value("name"),
                "qos": Value("qos"),
                "submit_ts": _time("creation_time"),
                "start_ts": _time("scheduled_time"),
                "end_ts": _time("deletion_time"),
                # A pod that runs at the end of the trace, or when it is deleted, tells of no end.
                "state": Value(
                    "pod_phase",
                    mapping={"Succeeded": "COMPLETED", "Failed": "FAILED", "Pending": "PENDING", "*": ""},
                ),
                "n_nodes": Value("scheduled_time", "int", mapping={"*": "1"}),
                "gpus": Value("num_gpu", "int"),
            },
            note="A share of one GPU (`gpu_milli` below 1000) counts as a whole one. Times have no date.",
        ),
        Pattern(name="node", table="", when=("sn", "cpu_milli", "model")),
    ),
    deciding=("pod", "node"),
    versions="2023",
    unrendered="A published trace: no cluster of today writes it.",
)
