"""What SageMaker HyperPod tells of its clusters: events, as listed or as sent, and the list of nodes."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

_DETAIL = "detail/EventDetails"
_STATUS = ("InstanceStatus/Status", "NodeDetails/InstanceStatus/Status")
_NODE = ("PrivateDnsHostname", "NodeDetails/PrivateDnsHostname", "InstanceId", "NodeDetails/InstanceId")

_STATES = {
    "Running": "up",
    **dict.fromkeys(("Failure", "Failed", "ShuttingDown"), "down"),
    **dict.fromkeys(("Pending", "SystemUpdating", "DeepHealthCheckInProgress"), "maint"),
    "*": "",
}

FORMAT = Format(
    name="hyperpod_events",
    title="Events and nodes of SageMaker HyperPod (list-cluster-events, list-cluster-nodes)",
    link="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-events.html",
    role="scheduler",
    shape="document",
    elements=("Events", "ClusterNodeSummaries"),
    header=("InstanceGroupName", "InstanceId", "EventTime", "ResourceType", "InstanceStatus", "LaunchTime"),
    header_min=3,
    derive={
        "failed": Derived(
            ("Description", f"{_DETAIL}/Description"),
            r"(?i)(?P<v>fail|unhealthy|terminat|replac|reboot|error)",
        ),
        "told": Derived(("Description", f"{_DETAIL}/Description"), r"^(?P<v>.+)$"),
        "any_event": Derived(("EventTime", f"{_DETAIL}/EventTime"), r"^(?P<v>.+)$"),
        "any_instance": Derived(("InstanceId", f"{_DETAIL}/InstanceId"), r"^(?P<v>i-\w+)$"),
        "any_node": Derived(_STATUS, r"^(?P<v>.+)$"),
    },
    patterns=(
        Pattern(
            name="node_trouble",
            table="nodes",
            when=("any_event", "any_instance", "failed"),
            columns={
                # Sent ones count milliseconds, and say the second of sending at their head.
                "ts": Value(("time", "EventTime"), "stamp", stamp="iso"),
                "host": Value("any_instance"),
                "state": Value(const="down"),
                "reason": Value("told"),
            },
            note="Hosts are named by their instance, not by what trainers print.",
        ),
        Pattern(
            name="node_status",
            table="nodes",
            when=("any_node", "InstanceGroupName"),
            columns={
                "ts": Value("LastSoftwareUpdateTime", "stamp", stamp="iso"),
                "host": Value(_NODE),
                "state": Value(_STATUS, mapping=_STATES),
                "reason": Value(("InstanceStatus/Message", *_STATUS)),
            },
            note="The state at the time of the export, which says no time.",
        ),
        Pattern(
            name="node_details",
            table="nodes",
            when=("NodeDetails/InstanceId", "any_node"),
            columns={
                "host": Value(_NODE),
                "state": Value(_STATUS, mapping=_STATES),
                "reason": Value(("NodeDetails/InstanceStatus/Message", *_STATUS)),
            },
        ),
        Pattern(name="event", table="", when=("any_event", "told")),
    ),
    deciding=("node_trouble", "node_status", "node_details", "event"),
    versions="2024 to 2026",
    unrendered="The simulator tells stories of Slurm clusters.",
)
