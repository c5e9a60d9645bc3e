"""The health agent of SageMaker HyperPod: one JSON object a line, in a log stream for each node.

It is read as lines, since the kernel's own words stand in the text of an event, and the catalogue of
signals knows those.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_DETECTED = '"HealthMonitoringAgentDetectionEvent"'

FORMAT = Format(
    name="hyperpod",
    title="Health agent of SageMaker HyperPod (SagemakerHealthMonitoringAgent)",
    link="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html",
    role="node",
    versions="2024 to 2026",
    patterns=(
        Pattern(
            name="condition",
            table="nodes",
            columns={
                "ts": Value("at", "stamp", stamp="iso"),
                # What the program did needs no other node.
                "state": Value("reason", mapping={"XidUserAppError": "up", "*": "down"}),
                "reason": Value("reason"),
            },
            literals=(_DETECTED,),
            regex=rf'"ts": ?"(?P<at>[^"]+)".*"reason": ?"(?P<reason>[^"]+)".*{_DETECTED}',
            note="The node is its log stream: the name of the file.",
        ),
        known_line(
            "violation",
            (_DETECTED,),
            r'"condition: ?": ?"[^"]+".*"HealthMonitoringAgentDetectionEvent"',
            note="A policy of DCGM was violated.",
        ),
    ),
    deciding=("condition", "violation"),
    unrendered="The simulator tells stories of Slurm clusters.",
)
