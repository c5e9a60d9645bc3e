"""The log of Slurm's daemon on a node: its host is the name of the file.

Its lines fill no table: accounting tells of jobs, and the catalogue of signals of what went wrong.
"""

from __future__ import annotations

from pipeline.formats.format import Format
from pipeline.formats.slurmctld import line

FORMAT = Format(
    name="slurmd",
    title="Slurm daemon of a node (slurmd)",
    link="https://github.com/SchedMD/slurm/blob/master/src/slurmd/slurmd/req.c",
    role="node",
    versions="20.11 to 26.05",
    deciding=("batch", "task", "script_failed"),
    patterns=(
        line("batch", "Launching batch job ", "Launching batch JobId=", rest="Launching batch "),
        line("task", "launch task StepId=", rest=r"launch task StepId=\S+ request from UID:"),
        line("script_failed", "log failed status=", rest=r"\[job \d+\] (?:pro|epi)log failed status="),
        line("health_check", "health_check failed: ", rest="health_check failed: rc:"),
    ),
)
