"""Pods: each is the part of a job that one node holds; staging makes one allocation of them."""

from __future__ import annotations

from pipeline.formats.format import Derived, Pattern, Value

#: What devices are called as resources, with a slash as pointers write it.
DEVICES = (
    *("nvidia.com~1gpu", "amd.com~1gpu", "google.com~1tpu", "habana.ai~1gaudi", "gpu.intel.com~1i915"),
    *("aws.amazon.com~1neuron", "huawei.com~1Ascend910"),
)

#: Containers of a pod, or items of a list, that are looked at.
FEW = range(4)

_LABELS = "metadata/labels"

#: Who a pod works for: the outermost owner that its labels name, since that is what people submit.
JOB = (
    f"{_LABELS}/jobset.sigs.k8s.io~1jobset-name",
    f"{_LABELS}/training.kubeflow.org~1job-name",
    f"{_LABELS}/ray.io~1originated-from-cr-name",
    f"{_LABELS}/ray.io~1cluster",
    f"{_LABELS}/volcano.sh~1job-name",
    f"{_LABELS}/leaderworkerset.sigs.k8s.io~1name",
    f"{_LABELS}/batch.kubernetes.io~1job-name",
    f"{_LABELS}/job-name",
    "metadata/ownerReferences/0/name",
    "metadata/name",
)

QUEUE = (f"{_LABELS}/kueue.x-k8s.io~1queue-name", f"{_LABELS}/volcano.sh~1queue-name")


def condition(name: str, status: str, field: str) -> str:
    """Return the pointer of a field of the condition of one type and status."""
    return f"status/conditions/[type={name},status={status}]/{field}"


def stamp(*fields: str) -> Value:
    """Return the first of some fields as a time; all of them carry a zone."""
    return Value(fields, "stamp", stamp="iso")


def containers(field: str) -> tuple[str, ...]:
    """Return the pointers of a field of the first containers' statuses."""
    return tuple(f"status/containerStatuses/{n}/{field}" for n in FEW)


def devices(template: str) -> tuple[str, ...]:
    """Return the pointers at which the devices of a pod's description may stand."""
    return tuple(f"{template}/containers/{n}/resources/limits/{device}" for n in FEW for device in DEVICES)


_DISRUPTED = condition("DisruptionTarget", "True", "reason")
FINISHED = "state/terminated/finishedAt"

#: How a pod ended, as the states of the ledger. What is not listed is a failure of the program.
STATES = {
    **dict.fromkeys(("PreemptionByScheduler", "Preempting"), "PREEMPTED"),
    # Someone drained the node, or called for the eviction otherwise.
    "EvictionByEvictionAPI": "CANCELLED",
    **dict.fromkeys(("DeletionByTaintManager", "DeletionByPodGC", "NodeLost", "Unknown"), "NODE_FAIL"),
    **dict.fromkeys(("ContainerStatusUnknown", "NodeShutdown", "Shutdown", "Terminated"), "NODE_FAIL"),
    **dict.fromkeys(("UnexpectedAdmissionError", "NodeAffinity"), "BOOT_FAIL"),
    **{"OutOf" + device.replace("~1", "/"): "BOOT_FAIL" for device in DEVICES},
    "OOMKilled": "OUT_OF_MEMORY",
    "DeadlineExceeded": "TIMEOUT",
    "*": "FAILED",
}

_WHO: dict[str, Value] = {
    "ts": stamp("metadata/creationTimestamp"),
    "scheduler": Value(const="kubernetes"),
    "job_id": Value(JOB),
    "part": Value("pod"),
    "restart_no": Value(
        (
            f"{_LABELS}/jobset.sigs.k8s.io~1restart-attempt",
            "metadata/annotations/jobset.sigs.k8s.io~1restart-attempt",
        ),
        "int",
    ),
    "name": Value(JOB),
    "user": Value("metadata/namespace"),
    "account": Value("metadata/namespace"),
    "qos": Value("spec/priorityClassName"),
    "partition": Value(QUEUE),
    "submit_ts": stamp("metadata/creationTimestamp"),
    # A pod that asks for no device holds none: `status/phase` is there in each of them, and no number.
    "gpus": Value(
        (*devices("spec"), "status/phase"),
        "int",
        mapping=dict.fromkeys(("Pending", "Running", "Succeeded", "Failed", "Unknown"), "0"),
    ),
}
_WHERE: dict[str, Value] = {
    "start_ts": stamp(condition("PodScheduled", "True", "lastTransitionTime"), "status/startTime"),
    "nodes": Value("spec/nodeName", "hostlist"),
    # One node holds a pod that has one.
    "n_nodes": Value("spec/nodeName", "int", mapping={"*": "1"}),
}
_END: dict[str, Value] = {
    "end_ts": stamp(
        *containers(FINISHED),
        condition("DisruptionTarget", "True", "lastTransitionTime"),
        condition("Ready", "False", "lastTransitionTime"),
    ),
    "exit_code": Value(containers("state/terminated/exitCode"), "int"),
    "exit_signal": Value(containers("state/terminated/signal"), "int"),
}
_REASON = ("status/reason", _DISRUPTED)

#: Further fields of pods.
DERIVE = {"pod": Derived(("metadata/name",), r"^(?P<v>.+)$", "pod/$v")}

_NOTE = (
    "Devices are held from the moment of scheduling, before the image is pulled. "
    "Those of the first container with any count."
)

PODS = (
    Pattern(
        name="pod_succeeded",
        table="allocations",
        where={"status/phase": ("Succeeded",)},
        when=("spec/containers",),
        columns={**_WHO, **_WHERE, **_END, "state": Value(const="COMPLETED")},
        note=_NOTE,
    ),
    Pattern(
        name="pod_failed",
        table="allocations",
        where={"status/phase": ("Failed",)},
        when=("spec/containers",),
        columns={
            **_WHO,
            **_WHERE,
            **_END,
            "state": Value(
                (*_REASON, *containers("state/terminated/reason"), "status/phase"), mapping=STATES
            ),
            "reason": Value((*_REASON, *containers("state/terminated/reason"))),
        },
        note=_NOTE + " An exit code of 137 without `OOMKilled` has many causes.",
    ),
    Pattern(
        name="pod_running",
        table="allocations",
        where={"status/phase": ("Running", "Unknown")},
        when=("spec/containers",),
        columns={
            **_WHO,
            **_WHERE,
            "state": Value("status/phase", mapping={"Running": "RUNNING", "Unknown": "NODE_FAIL"}),
            "reason": Value((*_REASON, *containers("state/waiting/reason"))),
        },
        note=_NOTE,
    ),
    Pattern(
        name="pod_pending",
        table="allocations",
        where={"status/phase": ("Pending",)},
        when=("spec/containers",),
        columns={
            **_WHO,
            **_WHERE,
            # A pod that has a node waits for its image, and holds its devices.
            "state": Value(("spec/nodeName", "status/phase"), mapping={"Pending": "PENDING", "*": "RUNNING"}),
            "reason": Value(
                (
                    *_REASON,
                    *containers("state/waiting/reason"),
                    condition("PodScheduled", "False", "reason"),
                )
            ),
        },
        note="`SchedulingGated` waits for quota, `Unschedulable` for capacity.",
    ),
)
