"""Training jobs of SageMaker as JSON: ``describe-training-job``, and the events of their changes."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

_D = "detail/"


def _both(field: str) -> tuple[str, ...]:
    """Return a field of a description, and of the event that holds one."""
    return (field, _D + field)


def _time(field: str) -> Value:
    """Return a field as a time: with its offset, or seconds since the epoch."""
    return Value(_both(field), "stamp", stamp="iso")


def _sizes(count: int, *names: str) -> dict[str, str]:
    """Return the names of instances with a number of accelerators."""
    return {f"ml.{name}": str(count) for name in names}


#: Accelerators of an instance.
_ACCELERATORS = {
    **_sizes(1, *(f"{kind}.{size}xlarge" for kind in ("g5", "g6", "g6e") for size in ("", 2, 4, 8, 16))),
    **_sizes(4, *(f"{kind}.{size}xlarge" for kind in ("g5", "g6", "g6e") for size in (12, 24))),
    **_sizes(8, *(f"{kind}.48xlarge" for kind in ("g5", "g6", "g6e"))),
    **_sizes(
        1, *(f"g4dn.{size}xlarge" for size in ("", 2, 4, 8, 16)), "p3.2xlarge", "p5.4xlarge", "trn1.2xlarge"
    ),
    **_sizes(4, "g4dn.12xlarge", "p3.8xlarge"),
    **_sizes(
        8, "p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5e.48xlarge"
    ),
    **_sizes(8, "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge"),
    **_sizes(16, "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"),
    "*": "",
}

_STATES = {
    "InternalServerError": "NODE_FAIL",
    "Completed": "COMPLETED",
    "Failed": "FAILED",
    "Stopped": "CANCELLED",
    "Interrupted": "PREEMPTED",
    **dict.fromkeys(("MaxRuntimeExceeded", "MaxWaitTimeExceeded"), "TIMEOUT"),
    **dict.fromkeys(("Pending", "Starting"), "PENDING"),
    "*": "RUNNING",
}

FORMAT = Format(
    name="sagemaker_job",
    title="SageMaker training jobs (describe-training-job, EventBridge)",
    link="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html",
    role="scheduler",
    shape="document",
    elements=("TrainingJobs",),
    header=("TrainingJobName", "TrainingJobStatus", "SecondaryStatusTransitions", "ResourceConfig"),
    header_min=3,
    derive={
        "job_name": Derived(_both("TrainingJobName"), r"^(?P<v>.+)$"),
        "instances": Derived(_both("ResourceConfig/InstanceCount"), r"^(?P<v>\d+)$"),
        "platform": Derived(_both("FailureReason"), r"^(?P<v>InternalServerError)"),
        "transitions": Derived(_both("SecondaryStatusTransitions"), r"^(?P<v>\[.*)"),
    },
    patterns=(
        Pattern(
            name="job",
            table="allocations",
            when=("job_name", "transitions"),
            columns={
                "ts": _time("CreationTime"),
                "scheduler": Value(const="sagemaker"),
                "job_id": Value("job_name"),
                "name": Value("job_name"),
                "submit_ts": _time("CreationTime"),
                "start_ts": _time("TrainingStartTime"),
                "end_ts": _time("TrainingEndTime"),
                "time_limit_s": Value(_both("StoppingCondition/MaxRuntimeInSeconds"), "float"),
                "state": Value(
                    ("platform", *_both("SecondaryStatus"), *_both("TrainingJobStatus")), mapping=_STATES
                ),
                "reason": Value(_both("FailureReason")),
                "n_nodes": Value(_both("ResourceConfig/InstanceCount"), "int"),
                "gpus": Value(
                    _both("ResourceConfig/InstanceType"), "int", times="instances", mapping=_ACCELERATORS
                ),
            },
            note="Restarts inside of a job do not change its times.",
        ),
        Pattern(
            name="interruption",
            table="signals",
            each="SecondaryStatusTransitions",
            when=("TrainingJobName",),
            where={"*/Status": ("Interrupted",)},
            columns={
                "ts": Value("*/StartTime", "stamp", stamp="iso"),
                "signal_id": Value(const="spot_instance_action"),
                "job_id": Value("TrainingJobName"),
                "text": Value("*/StatusMessage"),
                "repeats": Value(const=1),
            },
            note="A spot instance was taken away; the job goes on later.",
        ),
    ),
    deciding=("job",),
    versions="2020 to 2026",
    unrendered="The simulator tells stories of Slurm clusters.",
)
