"""Objects of Kubernetes as JSON or YAML: ``kubectl get … -o json|yaml``, lists, single objects, one a line.

A job of many pods is one allocation: each pod is a row with its ``part``, and staging puts those of a job
together. A dump shows one moment, and containers keep their last end alone.
"""

from __future__ import annotations

from pipeline.formats import _kubernetes_events, _kubernetes_jobs, _kubernetes_nodes, _kubernetes_pods
from pipeline.formats._kubernetes_signals import SIGNALS
from pipeline.formats.format import Format

_PODS = ("pod_succeeded", "pod_failed", "pod_running", "pod_pending")
_JOBS = ("job", "operator_job", "pytorch_job_master", "pytorch_job_worker", "job_suspended")
_NODES = ("node_up", "node_not_ready", "node_lost", "node_cordoned")

FORMAT = Format(
    name="kubernetes",
    title="Kubernetes objects and events (kubectl -o json or yaml), with Kueue, JobSet and Kubeflow",
    link="https://kubernetes.io/docs/reference/kubernetes-api/",
    role="scheduler",
    shape="document",
    elements=("items",),
    # What is watched stands below `object`; what Google's logging collects, below `jsonPayload`.
    unwrap=("object", "jsonPayload"),
    header=(
        *("metadata", "creationTimestamp", "resourceVersion", "involvedObject", "regarding"),
        *("containerStatuses", "lastTransitionTime", "ownerReferences"),
    ),
    header_min=3,
    derive={
        **_kubernetes_pods.DERIVE,
        **_kubernetes_jobs.DERIVE,
        **_kubernetes_nodes.DERIVE,
        **_kubernetes_events.DERIVE,
    },
    patterns=(
        *_kubernetes_pods.PODS,
        *SIGNALS,
        *_kubernetes_jobs.JOBS,
        *_kubernetes_nodes.NODES,
        *_kubernetes_events.EVENTS,
    ),
    deciding=(*_PODS, *_JOBS, "workload", "workload_waiting", *_NODES, "event"),
    versions="Kubernetes 1.20 to 1.34, Kueue 0.6 to 0.19, JobSet 0.1 to 0.12, training operator 1.9",
    unrendered="The simulator tells stories of Slurm clusters.",
)
