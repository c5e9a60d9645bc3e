"""What pods tell of ends: containers that were killed for memory, pods that a node threw out."""

from __future__ import annotations

from pipeline.formats._kubernetes_pods import FINISHED, JOB, condition, containers, stamp
from pipeline.formats.format import Pattern, Value

SIGNALS = (
    Pattern(
        name="container_killed_for_memory",
        table="signals",
        each="status/containerStatuses",
        where={"*/lastState/terminated/reason": ("OOMKilled",)},
        columns={
            "ts": stamp("*/lastState/terminated/finishedAt"),
            "signal_id": Value(const="k8s_oomkilled"),
            "job_id": Value(JOB),
            "node": Value("spec/nodeName"),
            "code": Value("*/lastState/terminated/exitCode"),
            "text": Value("*/lastState/terminated/reason"),
            "repeats": Value(const=1),
        },
        note="The end before the last one of a container that was started again; earlier ones are gone.",
    ),
    Pattern(
        name="pod_killed_for_memory",
        table="signals",
        each="status/containerStatuses",
        where={"*/state/terminated/reason": ("OOMKilled",)},
        columns={
            "ts": stamp("*/state/terminated/finishedAt"),
            "signal_id": Value(const="k8s_oomkilled"),
            "job_id": Value(JOB),
            "node": Value("spec/nodeName"),
            "code": Value("*/state/terminated/exitCode"),
            "text": Value("*/state/terminated/reason"),
            "repeats": Value(const=1),
        },
    ),
    Pattern(
        name="pod_evicted",
        table="signals",
        where={"status/reason": ("Evicted",)},
        columns={
            "ts": stamp(
                condition("DisruptionTarget", "True", "lastTransitionTime"),
                *containers(FINISHED),
                condition("Ready", "False", "lastTransitionTime"),
            ),
            "signal_id": Value(const="k8s_evicted"),
            "job_id": Value(JOB),
            "node": Value("spec/nodeName"),
            "text": Value("status/message"),
            "repeats": Value(const=1),
        },
    ),
)
