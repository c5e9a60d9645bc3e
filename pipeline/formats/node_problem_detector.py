"""Kubernetes' node-problem-detector: what it saw in the logs of a node.

An event repeats the line of the kernel that it stands for, and the catalogue of signals reads that. No rule
for faults of accelerators comes with the program: such reasons are a site's own.
"""

from __future__ import annotations

from pipeline.formats.format import Format, known_line

_HEAD = r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ "
_FILES = (
    *("log_monitor", "custom_plugin_monitor", "system_stats_monitor", "plugin", "k8s_exporter", "manager"),
    *("problem_detector", "node_problem_detector", "health_checker", "log_watchers", "log_watcher_kmsg"),
)

FORMAT = Format(
    name="node_problem_detector",
    title="node-problem-detector (Kubernetes)",
    link="https://github.com/kubernetes/node-problem-detector",
    role="node",
    versions="0.8 to 1.35",
    deciding=("status", "conditions"),
    least_share=0.2,
    unrendered="The simulator tells of clusters under Slurm.",
    patterns=(
        # I0301 10:11:12.884452       1 log_monitor.go:160] New status generated: &{Source:kernel-monitor …
        known_line(
            "status",
            ("] New status generated: &{Source:",),
            rf"{_HEAD}\w+\.go:\d+\] New status generated: &\{{Source:",
            note="The stamp is the daemon's; the time of the kernel's line stands in the event.",
        ),
        known_line(
            "conditions",
            ("] Initialize condition generated: [",),
            rf"{_HEAD}\w+\.go:\d+\] Initialize condition generated: \[",
            note="What is assumed at its start, before anything was seen.",
        ),
        known_line(
            "other",
            tuple(f" {name}.go:" for name in _FILES),
            rf"{_HEAD}(?:{'|'.join(_FILES)})\.go:\d+\] (?:[^NI]|N[^e]|Ne[^w]|I[^n]|In[^i])",
        ),
    ),
)
