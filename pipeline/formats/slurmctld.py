"""The log of Slurm's controller: told from other files, so that its lines serve every run.

Accounting says of jobs what it says, and says it exactly: of these lines only those about nodes fill a table.
What a line is evidence of is for the catalogue of signals to say. The stamp is local to the controller and
mostly has no zone.
"""

from __future__ import annotations

from pipeline.formats._slurm_daemons import line, node_line
from pipeline.formats.format import Format, Value

_NODES = r"(?P<nodes>[\w.,\[\]-]+)"
_DOWN = Value(const="down")

#: Words of `update_node` to ours. Resuming prints the state that comes out of it.
_SET = {
    **dict.fromkeys(("DOWN", "FAIL", "FAILING", "FUTURE", "INVAL"), "down"),
    **dict.fromkeys(("DRAINED", "FAILED"), "drained"),
    **dict.fromkeys(("DRAIN", "DRAINING"), "draining"),
    **dict.fromkeys(("IDLE", "ALLOCATED", "MIXED", "RESUME", "UNDRAIN", "COMPLETING"), "up"),
    **dict.fromkeys(("MAINT", "REBOOT", "POWER_DOWN", "POWERED_DOWN", "POWERING_DOWN"), "maint"),
    "*": "",
}

JOBS = (
    line("submitted", "_slurm_rpc_submit_batch_job: ", rest="_slurm_rpc_submit_batch_job: "),
    line("allocated", ": Allocate JobId=", rest="Allocate JobId="),
    line("started", ": Started JobId=", rest=r"\S+ (?:_start_job: )?Started JobId=\S+ in \S+ on "),
    line(
        "interactive",
        "_slurm_rpc_allocate_resources",
        rest=r"_slurm_rpc_allocate_resources:? (?:JobId=|Requested|.*usec=)",
    ),
    line("job_complete", "job_complete: ", rest="_?job_complete: (?:requeue )?JobId="),
    line("killed", "_slurm_rpc_kill_job: ", rest="_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId="),
    line("time_limit", "Time limit exhausted for JobId=", rest="Time limit exhausted for JobId="),
    line("preempted", "preempted JobId=", rest=r"(?:\S+ )?preempted JobId="),
    line(
        "requeued",
        *("Requeuing JobId=", "starting expedited requeue"),
        rest=r"(?:Requeuing JobId=|\S+: JobId=\S+ starting expedited requeue)",
        note="The job was cleaned up; it becomes eligible again two minutes later, or at once from 25.11.",
    ),
    line(
        "node_failed",
        *("due to failure of node ", "on failed node ", "Removing failed node "),
        rest="(?:requeue job|Killing|Removing failed node) ",
        note="The third goes on with fewer nodes: the job was submitted with `--no-kill`.",
    ),
    line(
        "batch_lost",
        "missing from batch node ",
        rest=r"Batch JobId=\S+ missing from batch node \S+",
        note="The node came back from a reboot without the job.",
    ),
    line(
        "not_started",
        *("Killing non-startable batch JobId=", "Killing interactive JobId="),
        rest="Killing (?:non-startable batch|interactive) JobId=",
    ),
    line("cleaned_up", "cleanup_completing: JobId=", rest="cleanup_completing: JobId="),
    line("terminate_again", "Resending TERMINATE_JOB request ", rest="Resending TERMINATE_JOB request "),
)

NODES = (
    node_line(
        "set_down",
        " not responding, setting DOWN",
        rest=rf"Nodes {_NODES} not responding, setting DOWN",
        columns={"state": _DOWN, "reason": Value(const="Not responding")},
        note="The node was heard last `SlurmdTimeout` before, 300 seconds if nobody changed it.",
    ),
    line("not_responding", " not responding", rest=r"Nodes \S+ not responding\s*$"),
    line("responding", " now responding", rest=r"[Nn]odes? \S+ now responding"),
    node_line(
        "returned",
        " returned to service",
        rest=rf"(?:\w+: )?[Nn]ode {_NODES} returned to service",
        columns={"state": Value(const="up")},
    ),
    node_line(
        "rebooted",
        " unexpectedly rebooted",
        rest=rf"(?:\w+: )?Node {_NODES} unexpectedly rebooted",
        columns={"state": _DOWN, "reason": Value(const="Node unexpectedly rebooted")},
    ),
    node_line(
        "reason_set",
        " reason set to: ",
        rest=rf"(?:\w+: )?nodes? {_NODES} reason set to: (?P<reason>.*)$",
        columns={"reason": Value("reason")},
        note="Stands before the line with the state, and has none of its own.",
    ),
    node_line(
        "state_set",
        " state set to ",
        rest=rf"\w+: nodes? {_NODES} state set to (?P<state>[A-Z_]+)",
        columns={"state": Value("state", mapping=_SET)},
        note="`DRAIN` may still run jobs. Nodes that are resumed get the state that comes out of it.",
    ),
    node_line(
        "invalid",
        " state to INVAL with reason:",
        rest=rf"Setting node {_NODES} state to INVAL with reason: ?(?P<reason>.*)$",
        columns={"state": _DOWN, "reason": Value("reason")},
        versions="21.08 on",
    ),
    node_line(
        "not_resumed",
        " not resumed by ResumeTimeout",
        rest=rf"node {_NODES} not resumed by ResumeTimeout\(\d+\)",
        columns={"state": _DOWN, "reason": Value(const="ResumeTimeout reached")},
    ),
)

OWN = (
    line("version", "slurmctld version ", rest=r"slurmctld version \S+ started"),
    line("stopping", "Terminate signal (", rest=r"Terminate signal \(SIGINT or SIGTERM\) received"),
    line("recovered", "Recovered ", rest=r"Recovered (?:state of|information about|JobId=)"),
)

FORMAT = Format(
    name="slurmctld",
    title="Slurm controller (slurmctld)",
    link="https://github.com/SchedMD/slurm/blob/master/src/slurmctld/job_mgr.c",
    role="scheduler",
    versions="20.11 to 26.05",
    deciding=(
        *("submitted", "allocated", "started", "job_complete", "killed", "requeued", "set_down"),
        *("not_responding", "state_set", "returned"),
    ),
    patterns=(*JOBS, *NODES, *OWN),
)
