"""Jobs of a Ray cluster as JSON: ``ray list jobs --format json`` and the jobs' interface of the dashboard."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value


def _time(field: str) -> Value:
    """Return milliseconds since the epoch as a time."""
    return Value(field, "stamp", stamp="epoch_ms")


FORMAT = Format(
    name="ray_jobs",
    title="Ray jobs (ray list jobs, /api/jobs)",
    link="https://docs.ray.io/en/latest/cluster/running-applications/job-submission/index.html",
    role="scheduler",
    shape="document",
    header=("submission_id", "entrypoint", "start_time", "end_time", "driver_info"),
    header_min=3,
    derive={"named": Derived(("submission_id", "job_id"), r"^(?P<v>.+)$")},
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("entrypoint", "named", "start_time"),
            where={"status": ("PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED")},
            columns={
                "ts": _time("start_time"),
                "scheduler": Value(const="ray"),
                "job_id": Value(("submission_id", "job_id")),
                "name": Value(("metadata/name", "metadata/job_submission_id", "submission_id")),
                "submit_ts": _time("start_time"),
                "start_ts": _time("start_time"),
                "end_ts": _time("end_time"),
                "state": Value("status", mapping={"STOPPED": "CANCELLED", "SUCCEEDED": "COMPLETED"}),
                "exit_code": Value("driver_exit_code", "int"),
                "reason": Value("error_type"),
                "gpus": Value("entrypoint_num_gpus", "int"),
            },
            note="The devices of the actors of a job are not told: those of the driver alone.",
        ),
    ),
    deciding=("job",),
    versions="2.0 to 2.50",
    unrendered="The simulator has no Ray.",
)
