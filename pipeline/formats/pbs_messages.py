"""What PBS and Torque put into the output of a job: why it was killed, and remarks of their commands.

What a line says of a reason is for the catalogue of signals to say; none has a time.
"""

from __future__ import annotations

from pipeline.formats.format import Format, known_line

FORMAT = Format(
    name="pbs_messages",
    title="PBS in the output of a job",
    link="https://github.com/openpbs/openpbs/blob/master/src/resmom/mom_main.c",
    role="any",
    primary=False,
    versions="OpenPBS, PBS Professional, Torque",
    unrendered="Stories are told of clusters under Slurm.",
    patterns=(
        known_line("killed", ("=>> PBS: job killed: ",), r"^=>> PBS: job killed: \S"),
        known_line("told", ("=>> PBS: ",), r"^=>> PBS: (?:[^j]|j[^o])"),
        known_line(
            "waiting", ("qsub: ",), r"^qsub: (?:waiting for job \S+ to start|job \S+ (?:ready|completed))"
        ),
        known_line(
            "prologue", ("PBS ", "Torque "), r"^-+\s*(?:Begin|End) (?:PBS|Torque) (?:Prologue|Epilogue)\b"
        ),
    ),
)
