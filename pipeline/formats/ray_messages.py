"""What Ray prints into the output of a driver: nodes that are marked dead, workers that died, its own start.

Workers' lines that look alike are printed once, with how often they were repeated: counts are understated.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Head, Pattern, Value, known_line

#: 2026-03-03 01:22:51,310	WARNING worker.py:2058 -- text
_HEAD = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\s+[A-Z]+ \w+\.py:\d+ -- "

#: The same where it stands in the middle of a line.
_LINE = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\s(?:INFO|WARNING|ERROR) "
    r"[a-z_]+\.py:[0-9]+ -- "
)

FORMAT = Format(
    name="ray_messages",
    title="Ray in the output of a driver",
    link="https://docs.ray.io/en/latest/ray-observability/user-guides/configure-logging.html",
    role="any",
    primary=False,
    versions="2.0 to 2.50",
    heads=(Head(_LINE, "cut"),),
    patterns=(
        Pattern(
            name="node_marked_dead",
            table="nodes",
            columns={"host": Value("host"), "state": Value(const="down"), "reason": Value("reason")},
            literals=("has been marked dead because",),
            regex=r"The node with node id: \w+ and address: \S+ and node name: (?P<host>[\w.:-]+) "
            r"has been marked dead because (?P<reason>[^.]+)",
            note="Heartbeats had been missing for half a minute.",
        ),
        known_line(
            "worker_died",
            ("A worker died or was killed",),
            r"A worker died or was killed while executing a task by an unexpected system error",
        ),
        known_line(
            "task_error",
            ("ray.exceptions.RayTaskError(",),
            r"\bray\.exceptions\.RayTaskError\([\w.]+\): ",
            note="What failed stands at the end of the traceback below, as an exception of its own.",
        ),
        known_line("raylet_gone", ("Raylet is terminated",), r"Raylet is terminated"),
        known_line(
            "memory_pressure",
            ("killed due to memory pressure",),
            r"^(?:\(raylet[^)]*\) )?(?:\[[^\]]*\] \(raylet\) \S+ )?"
            r"\d+ Workers \(tasks / actors\) killed due to memory pressure",
        ),
        known_line(
            "failure_decision",
            ("FailureDecision.", ", since the total failure count"),
            r"(?:\[FailurePolicy\] Decision: FailureDecision\.[A-Z]+"
            r"|Deciding to (?:TERMINATE|RESTART), since the total failure count) ?[,(]",
            note="A controller of Ray Train has noticed a failure, and says whether there are restarts left.",
        ),
        known_line(
            "start",
            ("Ray instance", "Ray cluster", "Ray runtime", "Connecting to existing Ray"),
            _HEAD + r"(?:Started a local Ray|Connect(?:ed|ing) to|Stopped Ray|Using address)\b",
        ),
        known_line(
            "job_tool",
            ("raysubmit_",),
            r"^(?:Status for job|Job) '?raysubmit_\w+'?(?:$|:| (?:submitted|succeeded|failed|was stopped))",
        ),
    ),
    unrendered="The simulator has no Ray.",
)
