"""Which scheduler job wrote a file: from what it says about itself, else from its name."""

from __future__ import annotations

import re

import polars as pl

#: What a batch job prints about itself, or its scheduler about it. A file of several jobs says several
#: numbers, and belongs to none.
_SAID = (
    r"\*\*\* (?:JOB|STEP) (\d+)(?:\.\w+)? ON ",
    r"\bStepId=(\d+)\.",
    r"^Subject: Job (\d+): <",
    r"\b(?:PBS_JOBID|LSB_JOBID)[=:]\s*[\"']?(\d+)\b",
    r"\bSLURM_JOB(?:_)?ID[=:]\s*[\"']?(\d+)\b",
    r"\bJob allocation (\d+) has been revoked",
    r"^(?:\[\S+\] )?(?i:slurm )?job ?id ?[:=]\s*(\d+)\s*$",
)

#: Names of batch systems and their users: slurm-123.out, 123.err, name-123.out, name.123.o, name.o123; what
#: rotates and compresses files adds .2.gz.
_NAMED = (
    re.compile(r"^slurm-(\d+)(?:_\d+)?\.\w+$"),
    re.compile(r"(?:^|[-_.])(\d{4,})(?:_\d+)?\.(?:out|err|log|o|e|txt)(?:\.\w+){0,3}$"),
    re.compile(r"\.[oe](\d{3,})(?:[.-]\d+)?$"),
)

#: A day in a name, such as 20260328, is no job.
_DAY = re.compile(r"20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")


def find_job_id(name: str, lines: pl.Series) -> str | None:
    """Return the id of the job that wrote a file with this name and these sampled lines, or None."""
    file = name.rpartition("/")[2]
    if match := _NAMED[0].match(file):
        return match[1]
    said = _said(lines)
    if len(said) == 1:
        return str(said[0])
    found = [match[1] for pattern in _NAMED[1:] if (match := pattern.search(file))]
    named = [number for number in found if not _DAY.fullmatch(number)]
    if named and (not len(said) or named[0] in said):
        return named[0]
    return None


def _said(lines: pl.Series) -> pl.Series:
    """Return the job ids that lines say, each once."""
    # Nearly no line says one, so all ways to say it are asked for at once.
    saying = lines.filter(lines.str.contains("|".join(f"(?:{regex})" for regex in _SAID)))
    if not len(saying):
        return saying
    return pl.concat([saying.str.extract(regex) for regex in _SAID]).drop_nulls().unique()
