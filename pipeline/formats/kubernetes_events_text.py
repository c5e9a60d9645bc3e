"""Events of Kubernetes as text: ``kubectl get events`` and the end of ``kubectl describe``.

Ages are relative to a moment that the text does not tell: such a line has no time. What it means is for the
catalogue of signals to say.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

#: 7m12s, 3d4h, 3m (x14 over 41m), <unknown>; or a time, where columns were chosen by hand.
_AGE = (
    r"(?:<unknown>|<invalid>|(?:\d+[smhdy])+(?: ago)?|(?P<at>\d{4}-\d\d-\d\dT[\d:.]+Z))"
    r"(?: \(x\d+ over [\w<>]+\))?"
)
_HEAD = rf"^(?:[a-z][\w.-]* +)?{_AGE} +(?:Normal|Warning) +"
_TYPES = ("Normal ", "Warning ")

_STATES = {
    **dict.fromkeys(("NodeReady", "NodeSchedulable", "Rebooted", "RegisteredNode"), "up"),
    **dict.fromkeys(("NodeNotReady", "Shutdown", "RemovingNode", "DeletingNode"), "down"),
    "NodeNotSchedulable": "drained",
    "*": "",
}

FORMAT = Format(
    name="kubernetes_events_text",
    title="Kubernetes events as text (kubectl get events, kubectl describe)",
    link="https://kubernetes.io/docs/reference/kubectl/generated/kubectl_events/",
    role="scheduler",
    versions="Kubernetes 1.20 to 1.34",
    patterns=(
        Pattern(
            name="node_event",
            table="nodes",
            literals=(" node/", " Node/"),
            regex=_HEAD + r"(?P<reason>[A-Z]\w+) +[Nn]ode/(?P<host>[\w.-]+) +(?P<text>\S.*)$",
            columns={
                "ts": Value("at", "stamp", stamp="iso"),
                "host": Value("host"),
                "state": Value("reason", mapping=_STATES),
                "reason": Value("text"),
            },
            note="Without a time, unless columns with times were asked for.",
        ),
        known_line(
            "event",
            _TYPES,
            # Every kind of object but a node.
            _HEAD + r"[A-Z]\w+ +(?:[A-MO-Za-mo-z]|[Nn][A-NP-Za-np-z])[\w.]*/\S+ +\S",
        ),
        known_line(
            "described",
            _TYPES,
            rf"^ +(?:Normal|Warning) +[A-Z]\w+ +{_AGE} +[a-z][\w.-]*(?:, \S+)? +\S",
        ),
        known_line(
            "header",
            ("LAST SEEN", "  Type  ", "  ----  "),
            r"^(?:(?:NAMESPACE +)?LAST SEEN +TYPE +REASON| +Type +Reason +Age +From| +---- +------ +----)",
        ),
    ),
    deciding=("node_event", "event", "described", "header"),
    unrendered="The simulator tells stories of Slurm clusters.",
)
