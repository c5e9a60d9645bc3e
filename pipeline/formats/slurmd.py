"""The log of Slurm's daemon on a node: its host is the name of the file.

Its lines fill no table: accounting tells of jobs, the controller of nodes, and the catalogue of signals of
what went wrong. Lines of step daemons bear the name of their step.
"""

from __future__ import annotations

from pipeline.formats._slurm_daemons import line
from pipeline.formats.format import Format

FORMAT = Format(
    name="slurmd",
    title="Slurm daemon of a node (slurmd)",
    link="https://github.com/SchedMD/slurm/blob/master/src/slurmd/slurmd/req.c",
    role="node",
    versions="20.11 to 26.05",
    deciding=("batch", "task", "script_failed", "version"),
    patterns=(
        line(
            "batch", "Launching batch job ", "Launching batch JobId=", rest="Launching batch (?:job|JobId=)"
        ),
        line("task", "launch task StepId=", rest=r"launch task StepId=\S+ request from UID:"),
        line("script_failed", "log failed status=", rest=r"\[job \d+\] (?:pro|epi)log failed status="),
        line("health_check", "health_check failed: ", rest="health_check failed: rc:"),
        line(
            "batch_done",
            "REQUEST_COMPLETE_BATCH_SCRIPT",
            rest="sending REQUEST_COMPLETE_BATCH_SCRIPT",
        ),
        line("step_done", "done with ", rest="done with (?:job|step|StepId=)"),
        line(
            "task_request",
            "task_p_slurmd_batch_request: ",
            rest=r"(?:task/affinity: )?task_p_slurmd_batch_request: (?:JobId=)?\d+",
        ),
        line("version", "slurmd version ", rest=r"slurmd version \S+ started"),
        line("started", "slurmd started on ", rest="slurmd started on "),
        line("stopped", "Slurmd shutdown completing", rest="Slurmd shutdown completing"),
        line("hardware", "CPUs=", rest=r"CPUs=\d+ Boards=\d+ Sockets=\d+ "),
    ),
)
