"""The log of Slurm's controller: told from other files, so that its lines serve every run.

Accounting says the same of jobs and says it exactly, so no line fills a table here; what a line is evidence
of is for the catalogue of signals to say. The stamp is local to the controller and has no zone.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, known_line

#: [2026-03-01T10:01:00.123] error: …; levels have their own spacing.
HEAD = (
    r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?\] "
    r"(?:(?:error|warning|debug\d?|sched): +)*"
)


def line(name: str, *literals: str, rest: str, note: str = "") -> Pattern:
    """Return the pattern of a line of a daemon, by what follows its stamp and its level."""
    return known_line(name, literals, HEAD + rest, note=note)


FORMAT = Format(
    name="slurmctld",
    title="Slurm controller (slurmctld)",
    link="https://github.com/SchedMD/slurm/blob/master/src/slurmctld/job_mgr.c",
    role="scheduler",
    versions="20.11 to 26.05",
    deciding=("submitted", "allocated", "started", "job_complete", "node_updated", "not_responding"),
    patterns=(
        line("submitted", "_slurm_rpc_submit_batch_job: ", rest="_slurm_rpc_submit_batch_job: "),
        line("allocated", ": Allocate JobId=", rest="Allocate JobId="),
        line("started", ": Started JobId=", rest=r"\S+ (?:_start_job: )?Started JobId=\S+ in \S+ on "),
        line("job_complete", "job_complete: ", rest="_?job_complete: (?:requeue )?JobId="),
        line("killed", "_slurm_rpc_kill_job: ", rest="_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId="),
        line("time_limit", "Time limit exhausted for JobId=", rest="Time limit exhausted for JobId="),
        line("preempted", "preempted JobId=", rest=r"(?:\S+ )?preempted JobId="),
        line("requeued", "Requeuing JobId=", rest="Requeuing JobId="),
        line(
            "node_failed",
            *("due to failure of node ", "on failed node ", "Removing failed node "),
            rest="(?:requeue job|Killing|Removing failed node) ",
            note="The third goes on with fewer nodes: the job was submitted with `--no-kill`.",
        ),
        line("not_responding", " not responding", rest=r"Nodes \S+ not responding"),
        line(
            "responding", " now responding", " returned to service", rest=r"(?:node_did_resp: )?[Nn]ode \S+ "
        ),
        line("rebooted", " unexpectedly rebooted", rest=r"validate_node_specs: Node \S+ "),
        line(
            "node_updated",
            " reason set to: ",
            " state set to ",
            rest=r"(?:update_node|drain_nodes): node \S+ ",
        ),
    ),
)
