"""What runs pods: Jobs, JobSets, jobs of the training operator and Kueue Workloads.

Staging listens to them only where no pod of the job tells.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._kubernetes_pods import DEVICES, QUEUE, condition, devices, stamp
from pipeline.formats.format import Derived, Pattern, Value

_DONE = ("Complete", "Completed", "Succeeded")

#: Kinds whose pods carry the job's name, and whose objects tell of its whole life.
_KINDS = ("Job", "JobSet", "PyTorchJob", "MPIJob", "TFJob", "XGBoostJob", "JAXJob", "PaddleJob", "TrainJob")

_STATES = {
    **dict.fromkeys(_DONE, "COMPLETED"),
    **dict.fromkeys(("DeadlineExceeded", "MaximumExecutionTimeExceeded"), "TIMEOUT"),
    **dict.fromkeys(_KINDS, "RUNNING"),
    "*": "FAILED",
}

_WHO: dict[str, Value] = {
    "ts": stamp("metadata/creationTimestamp"),
    "scheduler": Value(const="kubernetes"),
    "job_id": Value("metadata/name"),
    "name": Value("metadata/name"),
    "user": Value("metadata/namespace"),
    "account": Value("metadata/namespace"),
    "partition": Value(QUEUE),
    "submit_ts": stamp("metadata/creationTimestamp"),
}
_LIFE: dict[str, Value] = {
    **_WHO,
    # A JobSet does not say when it began; one that was let go by its queue does.
    "start_ts": stamp(
        "status/startTime",
        condition("Suspended", "False", "lastTransitionTime"),
        "metadata/creationTimestamp",
    ),
    "end_ts": stamp(
        "status/completionTime",
        *(condition(name, "True", "lastTransitionTime") for name in (*_DONE, "Failed")),
    ),
    "state": Value(
        (*(condition(name, "True", "type") for name in _DONE), condition("Failed", "True", "reason"), "kind"),
        mapping=_STATES,
    ),
    "reason": Value(condition("Failed", "True", "reason")),
}


def _job(
    name: str, kinds: tuple[str, ...], columns: Mapping[str, Value], *when: str, note: str = ""
) -> Pattern:
    """Return the pattern of jobs that were let go."""
    return Pattern(
        name=name,
        table="allocations",
        where={"kind": kinds},
        when=("metadata/name", "released", *when),
        columns={**_LIFE, **columns},
        note=note,
    )


def _replicas(role: str) -> Mapping[str, Value]:
    """Return the columns of the replicas of one role."""
    spec = f"spec/pytorchReplicaSpecs/{role}"
    return {
        "part": Value(const=f"replicas/{role}"),
        "n_nodes": Value(f"{spec}/replicas", "int"),
        "gpus": Value(devices(f"{spec}/template/spec"), "int", times=f"{spec}/replicas"),
    }


#: Further fields of jobs.
DERIVE = {
    # A job that is suspended has no pods: the field is then `true`, and else missing or `false`.
    "released": Derived(("spec/suspend", "spec/runPolicy/suspend", "kind"), r"^(?P<v>false|[A-Z]\w*)$"),
    "held": Derived(("spec/suspend", "spec/runPolicy/suspend"), r"^(?P<v>true)$"),
    "podset": Derived(("*/name",), r"^(?P<v>.+)$", "podset/$v"),
}

JOBS = (
    _job(
        "job",
        ("Job",),
        {
            "n_nodes": Value("spec/parallelism", "int"),
            "gpus": Value(devices("spec/template/spec"), "int", times="spec/parallelism"),
        },
        note="`startTime` is set again when a suspended job goes on.",
    ),
    _job(
        "operator_job",
        ("JobSet", "MPIJob", "TFJob", "XGBoostJob", "JAXJob", "PaddleJob", "TrainJob"),
        {},
        note="Restarts leave no times: `Running` and `Restarting` replace each other.",
    ),
    _job("pytorch_job_master", ("PyTorchJob",), _replicas("Master"), "spec/pytorchReplicaSpecs/Master"),
    _job("pytorch_job_worker", ("PyTorchJob",), _replicas("Worker"), "spec/pytorchReplicaSpecs/Worker"),
    Pattern(
        name="job_suspended",
        table="allocations",
        where={"kind": _KINDS},
        when=("metadata/name", "held"),
        columns={**_WHO, "state": Value(const="PENDING"), "reason": Value(const="Suspended")},
    ),
    Pattern(
        name="workload",
        table="allocations",
        where={"kind": ("Workload",)},
        each="status/admission/podSetAssignments",
        when=("*/name",),
        columns={
            **_WHO,
            "job_id": Value(("metadata/ownerReferences/0/name", "metadata/name")),
            "name": Value(("metadata/ownerReferences/0/name", "metadata/name")),
            "part": Value("podset"),
            "partition": Value(("status/admission/clusterQueue", "spec/queueName")),
            "qos": Value(("spec/priorityClassRef/name", "spec/priorityClassName")),
            "eligible_ts": stamp(condition("Requeued", "True", "lastTransitionTime")),
            "start_ts": stamp(
                condition("Admitted", "True", "lastTransitionTime"),
                condition("QuotaReserved", "True", "lastTransitionTime"),
            ),
            "end_ts": stamp(condition("Finished", "True", "lastTransitionTime")),
            "state": Value(
                (
                    condition("Finished", "True", "reason"),
                    condition("Admitted", "True", "type"),
                    "kind",
                ),
                mapping={
                    **dict.fromkeys(("Succeeded", "JobFinished"), "COMPLETED"),
                    "Admitted": "RUNNING",
                    "Workload": "PENDING",
                    "*": "FAILED",
                },
            ),
            "reason": Value(condition("Evicted", "True", "reason")),
            "n_nodes": Value("*/count", "int"),
            "gpus": Value(
                (*(f"*/resourceUsage/{device}" for device in DEVICES), "kind"),
                "int",
                mapping={"Workload": "0"},
            ),
        },
        note="Only the latest condition of each type is there: an eviction overwrites the start. "
        "A pod is counted as a node.",
    ),
    Pattern(
        name="workload_waiting",
        table="allocations",
        where={"kind": ("Workload",)},
        when=(condition("QuotaReserved", "False", "lastTransitionTime"),),
        columns={
            **_WHO,
            "job_id": Value(("metadata/ownerReferences/0/name", "metadata/name")),
            "name": Value(("metadata/ownerReferences/0/name", "metadata/name")),
            "partition": Value("spec/queueName"),
            "state": Value(const="PENDING"),
            "reason": Value(
                (
                    condition("Evicted", "True", "reason"),
                    condition("QuotaReserved", "False", "reason"),
                )
            ),
        },
    ),
)
