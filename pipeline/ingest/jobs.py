"""Which scheduler job wrote a file: from what it says about itself, else from its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import polars as pl

#: What a batch job prints about itself, or its scheduler about it. A file of several jobs says several
#: numbers, and belongs to none.
_SAID = (
    r"\*\*\* (?:JOB|STEP) (\d+)(?:\.\w+)? ON ",
    r"\bStepId=(\d+)\.",
    r"^Subject: Job (\d+(?:\[\d+\])?): <",
    r"\b(?:PBS_JOBID|LSB_JOBID)[=:]\s*[\"']?(\d+(?:\[\d+\]|\b))",
    r"\bSLURM_JOB(?:_)?ID[=:]\s*[\"']?(\d+)\b",
    r"\bJob allocation (\d+) has been revoked",
    r"^(?:\[\S+\] )?(?i:slurm )?job ?id ?[:=]\s*(\d+)\s*$",
)

#: Names of batch systems and their users: slurm-123.out, 123.err, name-123.out, name.123.o, name.o123,
#: job-123.jsonl; what rotates and compresses files adds .2.gz.
_NAMED = (
    re.compile(r"^slurm-(\d+)(?:_\d+)?\.\w+$"),
    re.compile(r"(?:^|[-_.])(\d{4,})(?:_\d+)?\.(?:out|err|log|o|e|txt)(?:\.\w+){0,3}$"),
    re.compile(r"\.[oe](\d{3,})(?:[.-]\d+)?$"),
    # Files of records are numbered by all sorts of things, and only the word tells.
    re.compile(r"(?:^|[-_.])job[-_]?(\d{3,})\.jsonl(?:\.\w+){0,2}$"),
)

#: An element of an array of PBS, Torque or Grid Engine: sweep.o4420.3, sweep.o4420-3.
_ARRAY = re.compile(r"\.[oe](\d{3,})[.-]([1-9]\d*)$")

#: A day in a name, such as 20260328, is no job.
_DAY = re.compile(r"20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")


def find_job_ids(names: Sequence[str], lines: pl.DataFrame) -> list[str | None]:
    """Return for each file the id of the job that wrote it, or None; ``lines`` has ``file`` and ``text``."""
    # Nearly no line says one, so all ways to say it are asked for at once.
    saying = lines.filter(pl.col("text").str.contains("|".join(f"(?:{regex})" for regex in _SAID)))
    said: dict[int, set[str]] = {}
    for regex in _SAID if saying.height else ():
        found = saying.select("file", job=pl.col("text").str.extract(regex)).drop_nulls("job")
        for file, job in found.unique().iter_rows():
            said.setdefault(file, set()).add(job)
    return [_job_id(name.rpartition("/")[2], said.get(file, set())) for file, name in enumerate(names)]


def _job_id(name: str, said: Collection[str]) -> str | None:
    """Return the job of a file by its name and by what it says."""
    if match := _NAMED[0].match(name):
        return match[1]
    # A file may say the number of an array beside that of its element.
    said = set(said) - {job.partition("[")[0] for job in said if job.endswith("]")}
    if match := _ARRAY.search(name):
        element = f"{match[1]}[{match[2]}]"
        if said <= {match[1], element}:
            return element
    if len(said) == 1:
        return next(iter(said))
    found = [match[1] for pattern in _NAMED[1:] if (match := pattern.search(name))]
    named = [number for number in found if not _DAY.fullmatch(number)]
    return named[0] if named and (not said or named[0] in said) else None
