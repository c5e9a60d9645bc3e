"""Nodes: a dump shows the state of one moment, and since when it lasts."""

from __future__ import annotations

from pipeline.formats._kubernetes_pods import condition, stamp
from pipeline.formats.format import Derived, Pattern, Value

_HEALTH = "metadata/labels/sagemaker.amazonaws.com~1node-health-status"
_FAULT = "metadata/labels/sagemaker.amazonaws.com~1fault-"

#: Further fields of nodes.
DERIVE = {
    "schedulable": Derived(("spec/unschedulable", _HEALTH, "kind"), r"^(?P<v>false|Schedulable|Node)$"),
    "unhealthy": Derived((_HEALTH,), r"^(?P<v>Unschedulable\w*)$"),
}


def _node(name: str, state: str, when: tuple[str, ...], ts: Value, reason: Value, note: str = "") -> Pattern:
    """Return the pattern of nodes in one state."""
    return Pattern(
        name=name,
        table="nodes",
        when=("status/nodeInfo", *when),
        columns={"ts": ts, "host": Value("metadata/name"), "state": Value(const=state), "reason": reason},
        note=note,
    )


NODES = (
    _node(
        "node_up",
        "up",
        ("schedulable", condition("Ready", "True", "lastTransitionTime")),
        stamp(condition("Ready", "True", "lastTransitionTime")),
        Value(condition("Ready", "True", "reason")),
    ),
    _node(
        "node_not_ready",
        "down",
        (condition("Ready", "False", "lastTransitionTime"),),
        stamp(condition("Ready", "False", "lastTransitionTime")),
        Value(tuple(condition("Ready", "False", field) for field in ("message", "reason"))),
    ),
    _node(
        "node_lost",
        "down",
        (condition("Ready", "Unknown", "lastTransitionTime"),),
        stamp(*(condition("Ready", "Unknown", f"last{which}Time") for which in ("Heartbeat", "Transition"))),
        Value(tuple(condition("Ready", "Unknown", field) for field in ("message", "reason"))),
        note="The last heartbeat: the controller notices the loss 40 s later, from 1.32 on 50 s.",
    ),
    Pattern(
        name="node_cordoned",
        table="nodes",
        where={"spec/unschedulable": ("true",)},
        when=("status/nodeInfo",),
        columns={
            "ts": stamp("spec/taints/[key=node.kubernetes.io~1unschedulable]/timeAdded"),
            "host": Value("metadata/name"),
            "state": Value(const="drained"),
            "reason": Value(const="cordoned"),
        },
        note="Pods that run there go on.",
    ),
    _node(
        "node_unhealthy",
        "drained",
        ("unhealthy",),
        stamp("spec/taints/[key=sagemaker.amazonaws.com~1node-health-status]/timeAdded"),
        Value((f"{_FAULT}reasons", f"{_FAULT}reason", f"{_FAULT}types", f"{_FAULT}type", "unhealthy")),
        note="The health agent of SageMaker HyperPod asks for a replacement or a reboot.",
    ),
)
