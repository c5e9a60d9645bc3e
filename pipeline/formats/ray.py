"""The logs of Ray's own processes (raylet, gcs_server): nodes that come and go, jobs, workers that die.

A line bears the local time without a zone. Line numbers drift with every release and are not looked at; what
a message means for an end is for the catalogue of signals to say.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_PROCESSES = ("(raylet) ", "(gcs_server) ")

#: [2026-03-03 01:22:50,987 E 2231 2231] (raylet) node_manager.cc:3064: text
_HEAD = (
    r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ [DIWEFC] \d+ \d+\] \((?:raylet|gcs_server)\) "
    r"(?P<file>[a-z_]+)\.(?:cc|h):\d+: "
)

#: Sources of which no line tells of a node, a job or an end.
_QUIET = (
    *("accessor", "agent_manager", "client_connection", "cluster_lease_manager", "cluster_resource_manager"),
    *("dlmalloc", "event", "event_stats", "file_system_monitor", "gcs_actor_manager", "gcs_actor_scheduler"),
    *(
        "gcs_autoscaler_state_manager",
        "gcs_client",
        "gcs_function_manager",
        "gcs_init_data",
        "gcs_kv_manager",
    ),
    *("gcs_placement_group", "gcs_placement_group_manager", "gcs_placement_group_scheduler"),
    *(
        "gcs_redis_failure_detector",
        "gcs_resource_manager",
        "gcs_server",
        "gcs_server_main",
        "gcs_table_storage",
    ),
    *("gcs_task_manager", "grpc_server", "io_service_pool", "local_lease_manager", "local_object_manager"),
    *("local_task_manager", "main", "memory_monitor", "metrics_agent_client", "object_buffer_pool"),
    *(
        "object_manager",
        "placement_group_resource_manager",
        "process",
        "pull_manager",
        "ray_syncer",
        "raylet",
    ),
    *("runtime_env_agent_client", "stats", "store", "store_runner", "subreaper", "threshold_memory_monitor"),
    *("worker_killing_policy", "worker_pool"),
)


def _said(name: str, *texts: str, note: str = "") -> Pattern:
    """Return the pattern of lines that are known, and of which the catalogue may know more."""
    return known_line(name, _PROCESSES, rf"{_HEAD}(?:{'|'.join(texts)})", note=note)


def _line(
    name: str,
    table: str,
    literal: str,
    rest: str,
    columns: dict[str, Value],
    versions: str = "",
    note: str = "",
) -> Pattern:
    """Return the pattern of lines that fill a table."""
    return Pattern(
        name=name,
        table=table,
        literals=(literal,),
        regex=_HEAD + rest,
        columns=columns,
        versions=versions,
        note=note,
    )


FORMAT = Format(
    name="ray",
    title="Ray's own processes (raylet.out, gcs_server.out)",
    link="https://docs.ray.io/en/latest/ray-observability/user-guides/configure-logging.html",
    role="scheduler",
    versions="2.0 to 2.50",
    patterns=(
        _line(
            "node_registered",
            "nodes",
            "Registering n",
            r"Registering (?:node info|new node)[,.:]? .*?address ?= ?(?P<host>[\w.:-]*\w)",
            {"host": Value("host"), "state": Value(const="up"), "reason": Value(const="registered")},
        ),
        _line(
            "node_removed",
            "nodes",
            "Removing node",
            r"Removing node[,.:]? .*?node[_ ]id ?= ?\w+(?:, node[_ ]name ?= ?(?P<host>[\w.:-]*\w))?"
            r"(?:, death[_ ]reason ?= ?(?P<reason>.*))?$",
            {"host": Value("host"), "state": Value(const="down"), "reason": Value("reason")},
            note="From 2.9 on with the reason: `EXPECTED_TERMINATION` is a node that was let go.",
        ),
        _line(
            "node_dead",
            "nodes",
            "is dead because the health check failed",
            r"Node (?P<node>\w+) is dead because the health check failed",
            {"state": Value(const="down"), "reason": Value(const="health check failed")},
            note="Names the node by its id alone; the line about its removal names the host.",
        ),
        _line(
            "job_begin",
            "phases",
            "Adding job",
            r"Adding job[,.] job[_ ]id ?= ?(?P<job>\w+)",
            {"phase": Value(const="job"), "edge": Value(const="begin"), "detail": Value("job")},
        ),
        _line(
            "job_end",
            "phases",
            "Finished marking job state",
            r"Finished marking job state[,.] job[_ ]id ?= ?(?P<job>\w+)",
            {"phase": Value(const="job"), "edge": Value(const="end"), "detail": Value("job")},
        ),
        _said("memory_pressure", r"\d+ Workers \(tasks / actors\) killed due to memory pressure"),
        _said(
            "health_check",
            r"Health check failed for node \w+",
            note="Each of them counts down; the node is dead after several.",
        ),
        _said("worker_exit", "Reporting worker exit, worker id", r"Worker \w+ exit"),
        _said(
            "job_remark",
            *("Finished adding job", "Getting all job info", "Finished getting all job info"),
            *("New job has started", r"Job \w+ (?:already )?(?:started|finished)", "Failed to add job"),
        ),
        _said("node_remark", "Finished registering n", "Draining node", "Finished draining node"),
        _said(
            "shutdown",
            *(
                "Raylet graceful shutdown",
                "Exiting because this node manager has mistakenly been marked as dead",
            ),
        ),
        known_line(
            "quiet", _PROCESSES, rf"^\[[\d :,-]+ [DIWEFC] \d+ \d+\] \(\w+\) (?:{'|'.join(_QUIET)})\.(?:cc|h):"
        ),
        known_line("state_dump", ("[state-dump]",), r"(?:^|: )\[state-dump\]"),
    ),
    deciding=(
        *("node_registered", "node_removed", "node_dead", "job_begin", "job_end", "memory_pressure"),
        *("health_check", "worker_exit", "job_remark", "node_remark", "shutdown", "quiet"),
    ),
    unrendered="The simulator tells stories of Slurm clusters.",
)
