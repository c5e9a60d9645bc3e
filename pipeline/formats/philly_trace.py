"""The trace of Microsoft's Philly clusters: one JSON list of jobs, each with its attempts."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

_STATES = {"Pass": "COMPLETED", "Killed": "CANCELLED", "Failed": "FAILED"}


def _time(field: str) -> Value:
    """Return a field as a time; what is missing is null or the text `None`."""
    return Value(field, "stamp", stamp="iso")


_JOB: dict[str, Value] = {
    "ts": _time("submitted_time"),
    "scheduler": Value(const="philly"),
    "job_id": Value("jobid"),
    "user": Value("user"),
    "partition": Value("vc"),
    "submit_ts": _time("submitted_time"),
}
_ATTEMPT: dict[str, Value] = {
    **_JOB,
    "start_ts": _time("*/start_time"),
    "end_ts": _time("*/end_time"),
    "nodes": Value("*/detail", "hostlist", every=r'"ip":"(?P<v>[^"]+)"'),
    "n_nodes": Value("*/detail", "int", every=r'"ip":"'),
    "gpus": Value("*/detail", "int", every=r'"gpu\d+"'),
}
_JOB_FIELDS = ("jobid", "vc", "submitted_time")

FORMAT = Format(
    name="philly_trace",
    title="Trace of the Philly clusters (cluster_job_log)",
    link="https://github.com/msr-fiddle/philly-traces",
    role="scheduler",
    shape="document",
    header=("jobid", "submitted_time", "attempts", "vc"),
    header_min=4,
    patterns=(
        Pattern(
            name="last_attempt",
            table="allocations",
            each="attempts",
            when=_JOB_FIELDS,
            where={"*last": ("true",)},
            columns={**_ATTEMPT, "state": Value("status", mapping=_STATES)},
            note="Times have no zone: they are those of the American west coast. The state is the job's.",
        ),
        Pattern(
            name="attempt",
            table="allocations",
            each="attempts",
            when=_JOB_FIELDS,
            where={"*last": ("false",)},
            columns={**_ATTEMPT, "state": Value(const="REQUEUED")},
            note="No attempt but the last says how it ended: another one followed.",
        ),
        Pattern(
            name="without_attempts",
            table="allocations",
            when=_JOB_FIELDS,
            where={"attempts": ("[]",)},
            columns={**_JOB, "state": Value("status", mapping=_STATES)},
        ),
    ),
    deciding=("last_attempt",),
    versions="2017",
    unrendered="A published trace: no cluster of today writes it.",
)
