"""The Helios traces of SenseTime: one job log for each of four clusters."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value


def _time(field: str) -> Value:
    """Return a field as a time without a zone."""
    return Value(field, "stamp", stamp="iso")


FORMAT = Format(
    name="helios_trace",
    title="Helios traces (cluster_log.csv)",
    link="https://github.com/S-Lab-System-Group/HeliosData",
    role="scheduler",
    shape="csv",
    header=("job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time", "duration", "queue"),
    header_min=7,
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("job_id", "vc", "submit_time", "gpu_num"),
            columns={
                "ts": _time("submit_time"),
                "scheduler": Value(const="slurm"),
                "job_id": Value("job_id"),
                "user": Value("user"),
                "partition": Value("vc"),
                "submit_ts": _time("submit_time"),
                "start_ts": _time("start_time"),
                "end_ts": _time("end_time"),
                "elapsed_s": Value("duration", "float"),
                "state": Value("state"),
                "n_nodes": Value("node_num", "int"),
                "gpus": Value("gpu_num", "int"),
            },
            note="Times carry no zone; the clusters stand in China. The wait for other jobs is in `queue`.",
        ),
    ),
    deciding=("job",),
    versions="2020",
    unrendered="A published trace: no cluster of today writes it.",
)
