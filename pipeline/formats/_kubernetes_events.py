"""Events, of both versions of their interface. They are kept for an hour, added up, and may be dropped."""

from __future__ import annotations

from pipeline.formats._kubernetes_pods import stamp
from pipeline.formats.format import Derived, Pattern, Value

_KIND = ("involvedObject/kind", "regarding/kind")
_NAME = ("involvedObject/name", "regarding/name")
_TEXT = ("message", "note")
_HOST = ("source/host", "deprecatedSource/host")

_FIRST = stamp(
    *("eventTime", "firstTimestamp", "deprecatedFirstTimestamp", "lastTimestamp"),
    "metadata/creationTimestamp",
)
_LAST = stamp("series/lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp")

#: Reasons of events about nodes, and the state that they mean.
_NODE_STATES = {
    **dict.fromkeys(("NodeReady", "NodeSchedulable", "Rebooted", "RegisteredNode"), "up"),
    **dict.fromkeys(("NodeNotReady", "Shutdown", "RemovingNode", "DeletingNode"), "down"),
    "NodeNotSchedulable": "drained",
}

#: Reasons of events that tell why something ended or did not begin, and the signals that they are.
_SIGNALS = {
    **dict.fromkeys(("Preempted", "Preempting", "EvictedDueToPreempted"), "k8s_preempted"),
    "Evicted": "k8s_evicted",
    # The node could not be reached for as long as its pods tolerate.
    **dict.fromkeys(
        ("NodeNotReady", "TaintManagerEviction", "EvictedDueToNodeFailures"), "k8s_node_not_ready"
    ),
    **dict.fromkeys(("OOMKilling", "SystemOOM"), "k8s_oomkilled"),
    **dict.fromkeys(("FailedMount", "FailedAttachVolume"), "k8s_failed_mount"),
    "FailedScheduling": "k8s_failed_scheduling",
}

#: Further fields of events.
DERIVE = {
    "object_kind": Derived(_KIND, r"^(?P<v>.+)$"),
    "event_text": Derived(_TEXT, r"^(?P<v>(?s:.{1,500}))"),
    # The Workload of Kueue bears kind and name of what it admits, and five digits.
    "object_name": Derived(
        _NAME, r"^(?:[a-z]+job-|job(?:set)?-|pod-|raycluster-)?(?P<v>.+?)(?:-[0-9a-f]{5})?$"
    ),
    "again": Derived(("series/count", "count", "deprecatedCount"), r"^(?P<v>[2-9]|[1-9]\d+)$"),
    "cancelled": Derived(_TEXT, r"^(?P<v>Cancelling deletion)"),
}


def _signal(
    name: str, ts: Value, kinds: tuple[str, ...], about: dict[str, Value], *when: str, note: str = ""
) -> Pattern:
    """Return the pattern of events about objects of some kinds that are evidence."""
    return Pattern(
        name=name,
        table="signals",
        where={"reason": tuple(_SIGNALS), "object_kind": kinds},
        when=when,
        columns={
            "ts": ts,
            "signal_id": Value("reason", mapping=_SIGNALS),
            "text": Value("event_text"),
            "repeats": Value(const=1),
            **about,
        },
        note=note,
    )


_POD = {"job_id": Value(_NAME), "node": Value(_HOST)}
_NODE = {"node": Value(_NAME), "host": Value(_NAME)}
_WORKLOAD = {"job_id": Value("object_name")}
_AGAIN = "Of an event that was seen several times only the first and the last time are kept."


def _image(name: str, reason: str, edge: str) -> Pattern:
    """Return the pattern of events of the pull of an image."""
    return Pattern(
        name=name,
        table="phases",
        where={"reason": (reason,), "object_kind": ("Pod",)},
        columns={
            "ts": _FIRST,
            "host": Value(_HOST),
            "phase": Value(const="custom"),
            "edge": Value(const=edge),
            "detail": Value("event_text"),
        },
    )


EVENTS = (
    Pattern(
        name="node_event",
        table="nodes",
        where={"reason": tuple(_NODE_STATES), "object_kind": ("Node",)},
        columns={
            "ts": _FIRST,
            "host": Value(_NAME),
            "state": Value("reason", mapping=_NODE_STATES),
            "reason": Value("event_text"),
        },
    ),
    _signal("pod_signal", _FIRST, ("Pod",), _POD, note="The name of the pod stands for its job."),
    _signal("pod_signal_again", _LAST, ("Pod",), _POD, "again", note=_AGAIN),
    _signal("node_signal", _FIRST, ("Node",), _NODE),
    _signal("node_signal_again", _LAST, ("Node",), _NODE, "again", note=_AGAIN),
    _signal("workload_signal", _FIRST, ("Workload",), _WORKLOAD),
    _image("image_pull_begin", "Pulling", "begin"),
    _image("image_pull_end", "Pulled", "end"),
    Pattern(
        name="event",
        table="",
        when=("reason", "object_kind", "metadata/creationTimestamp"),
        note="Any event: what its reason is worth is said by the others.",
    ),
)
