"""Accounting of OpenPBS, PBS Professional and Torque: a record for each thing that happens to a job.

An allocation is begun by one record and ended by another; both give a row, and staging keeps the one that
knows the end. Times inside of a record are seconds since the epoch; the time in front of it is local.
States are Slurm's words for what the exit status means.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._batch_states import (
    PBS_CODES,
    PBS_REQUEUED,
    PBS_RESTARTS,
    PBS_SIGNALS,
    PBS_STATES,
    TORQUE_STATES,
)
from pipeline.formats.format import Format, Pattern, Value, known_line

_HEAD = r"^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;"
_JOB = r"(?P<job>\d+(?:\[\d+\])?)(?:\.[\w.-]+)?;"


def _epoch(key: str) -> tuple[str, Value]:
    """Return a time of the record."""
    return rf" {key}=(?P<v>\d{{9,10}})\b", Value(kind="stamp", stamp="epoch_s")


def _text(key: str) -> tuple[str, Value]:
    """Return a text of the record; one that is quoted ends at its first blank."""
    return rf"[ ;]{key}=\"?(?P<v>[^\s\"]+)", Value()


_STARTED: Mapping[str, tuple[str, Value]] = {
    "name": _text("jobname"),
    "user": _text("user"),
    "account": _text("account"),
    "partition": _text("queue"),
    "submit_ts": _epoch("ctime"),
    "eligible_ts": _epoch("etime"),
    "start_ts": _epoch("start"),
    "nodes": (r" exec_host=(?P<v>\S+)", Value(kind="slots")),
    "n_nodes": (r" Resource_List\.nodect=(?P<v>\d+)", Value(kind="int")),
    # What it got, else what it asked for: a sum, chunks, or nodes of Torque.
    "gpus": (
        r" (?P<v>Resource_List\.ngpus=\d+|(?:exec_vnode|Resource_List\.(?:select|nodes))=\S*gpus=\d\S*)",
        Value(kind="spec_gpus"),
    ),
    "time_limit_s": (r" Resource_List\.walltime=(?P<v>[\d:]+)", Value(kind="seconds")),
    "restart_no": (r" run_count=(?P<v>\d+)", Value(kind="int", mapping=PBS_RESTARTS)),
}
_ENDED: Mapping[str, tuple[str, Value]] = {
    **_STARTED,
    "end_ts": _epoch("end"),
    "elapsed_s": (r" resources_used\.walltime=(?P<v>[\d:]+)", Value(kind="seconds")),
    "exit_code": (r" Exit_status=(?P<v>-?\d+)", Value(kind="int", mapping=PBS_CODES)),
    "exit_signal": (r" Exit_status=(?P<v>-?\d+)", Value(kind="int", mapping=PBS_SIGNALS)),
}


#: What Torque says of a job that it killed for a limit: by numbers that mean something else elsewhere.
_LIMITS = {f"={number}": TORQUE_STATES[str(number)] for number in (-10, -11, -12)}
#: Lazy, since the engine makes one of two alternatives that begin alike, and then takes the last that fits.
_KILLED = r".*? unique_node_count=\d+ end=(?P<killed_at>\d{9,10}) Exit_status(?P<killed>=-1[012])\b"


def _record(
    name: str,
    letter: str,
    rest: str,
    state: Value,
    extras: Mapping[str, tuple[str, Value]],
    note: str,
    at: tuple[str, ...] = ("at",),
) -> Pattern:
    """Return the pattern of a record that gives a row; ``at`` are the groups of ``rest`` of its time."""
    return Pattern(
        name=name,
        table="allocations",
        columns={
            "ts": Value(at, "stamp", stamp="epoch_s"),
            "scheduler": Value(const="pbs"),
            "job_id": Value("job"),
            "state": state,
        },
        literals=(f";{letter};",),
        regex=rf"{_HEAD}(?P<kind>{letter});{_JOB}{rest}",
        extras=extras,
        note=note,
    )


def _known(name: str, letters: str, note: str = "") -> Pattern:
    """Return the pattern of records that carry nothing, or nothing that others do not say better."""
    literals = tuple(f";{letter};" for letter in letters)
    return known_line(name, literals, rf"{_HEAD}[{letters}];[\w.\[\]-]+;", note=note)


FORMAT = Format(
    name="pbs_accounting",
    title="PBS accounting (OpenPBS, PBS Professional, Torque)",
    link="https://github.com/openpbs/openpbs/blob/master/src/server/accounting.c",
    role="scheduler",
    versions="OpenPBS 19 to 23, PBS Professional, Torque 4 to 6",
    deciding=("started", "ended"),
    unrendered="Stories are told of clusters under Slurm.",
    patterns=(
        _record(
            "started",
            "S",
            r".* start=(?P<at>\d{9,10})\b",
            Value(const="RUNNING"),
            _STARTED,
            "GPUs are those that it got, else those that it asked for; Torque tells them of each node.",
        ),
        _record(
            "ended",
            "E",
            rf"(?:{_KILLED}|.* end=(?P<at>\d{{9,10}})\b(?:.* Exit_status=(?P<status>-?\d+))?)",
            Value(("killed", "status"), mapping=PBS_STATES | _LIMITS),
            _ENDED,
            "A job that somebody deletes ends by a signal like one that was killed; a record `D` in front of "
            "it tells them apart.",
            ("at", "killed_at"),
        ),
        _record(
            "put_back",
            "R",
            r".* start=(?P<at>\d{9,10})\b(?:.* Exit_status=(?P<status>-?\d+))?",
            Value(("status", "kind"), mapping=PBS_REQUEUED),
            _ENDED,
            "The next start has a record of its own under the same id.",
        ),
        known_line(
            "array",
            ("[].", "[];"),
            rf"{_HEAD}[SER];\d+\[\](?:\.[\w.-]+)?;",
            note="An array holds nothing: what ran are its members, each with records of its own.",
        ),
        known_line("put_back_bare", (";R;",), rf"{_HEAD}R;[\w.\[\]-]+;\s*$", versions="Torque"),
        _known("queued", "Q", "Later records repeat it."),
        _known("deleted", "D", "Alone, it is the end of a job that never ran."),
        _known("aborted", "A", "The server gave the job up."),
        _known("phase", "suce", "Parts of a job that gave nodes back; they do not count as allocations."),
        _known("altered", "aMzrCTPp", "Altered, moved, suspended, resumed, held, provisioned."),
        _known("reservation", "UYBFKk"),
        known_line("licences", (";L;",), rf"{_HEAD}L;license;"),
    ),
)
