"""Ray's files of events (event_GCS.log, event_RAYLET.log): one JSON object a line."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

_TIME = Value("timestamp", "stamp", stamp="epoch_s")
_FIELDS = ("event_id", "source_type", "label", "severity", "timestamp")
_NODE_GONE = ("RAY_NODE_REMOVED", "RAYLET_MARKED_DEAD")

FORMAT = Format(
    name="ray_events",
    title="Ray's event files",
    link="https://docs.ray.io/en/latest/ray-observability/user-guides/configure-logging.html",
    role="scheduler",
    shape="records",
    versions="2.0 to 2.50",
    # Every label but those of nodes that are gone.
    derive={
        "other": Derived(
            ("label",), r"^(?P<v>[A-Z]*|(?:RAY_(?:NODE_A|[A-MO-Z])|JOB_|OBJECT_|ACTOR_|TASK_|WORKER_)\w*)$"
        )
    },
    patterns=(
        Pattern(
            name="node_gone",
            table="signals",
            when=_FIELDS,
            where={"label": _NODE_GONE},
            columns={
                "ts": _TIME,
                "signal_id": Value(const="ray_node_dead"),
                "node": Value(("custom_fields/ip", "host_name")),
                "text": Value("message"),
                "repeats": Value(const=1),
            },
        ),
        Pattern(
            name="event",
            table="",
            when=("event_id", "source_type", "severity", "custom_fields", "other"),
            where={"severity": ("INFO", "WARNING", "ERROR", "FATAL", "DEBUG")},
        ),
    ),
    deciding=("node_gone", "event"),
    unrendered="The simulator has no Ray.",
)
