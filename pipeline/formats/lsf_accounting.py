"""Accounting of IBM Spectrum LSF, ``lsb.acct``: a record for each job that is over.

A record is a row of numbers and quoted texts whose place tells what they are; lists are preceded by their
length. A job that was put back has one record, of its last run. States are Slurm's words for why it ended.
"""

from __future__ import annotations

from pipeline.formats._batch_states import LSF_CODES, LSF_REASONS, LSF_SIGNALS, LSF_STATES
from pipeline.formats.format import Format, Pattern, Value, known_line

_TEXT = r'"(?:[^"]|"")*"'
_NUMBER = r"-?\d+(?:\.\d+)?"


def _text(name: str) -> str:
    """Return the expression of a quoted text that is kept."""
    return rf'"(?P<{name}>(?:[^"]|"")*)"'


# "JOB_FINISH" "10.1" 1772366402 4417 5001 33816578 112 1772359120 0 0 1772359202 "mira" "train" …
_HEAD = (
    r'^"JOB_FINISH" "(?P<version>[\d.]+)" (?P<end>\d{9,10}) (?P<job>\d+) \d+ -?\d+ \d+ (?P<submit>\d{9,10})'
    r" \d+ \d+ (?P<start>\d+) "
    + _text("user")
    + " "
    + _text("queue")
    # what it asked for and depends on, where it came from, its directory and files
    + rf"(?: {_TEXT}){{9}}"
    # hosts that were asked for, hosts that it ran on
    + rf" \d+(?: {_TEXT})* (?P<count>\d+)(?P<hosts>(?: {_TEXT})*) "
)
# 32 60.0 "heron-70b" "bash run.sh" and nineteen numbers of resource use; -1 is unknown
_MIDDLE = (
    rf" {_NUMBER} {_text('name')} {_TEXT}(?: {_NUMBER}){{19}} {_TEXT} {_text('project')} (?P<exit>-?\d+)\b"
)
# slots, shell, time event, index of the array, memory, spools, reservation, class, mask, more, why it ended
_INDEX = rf" \d+ {_TEXT} {_TEXT} (?P<index>\d+) "
_TAIL = _INDEX + rf"{_NUMBER} {_NUMBER}(?: {_TEXT}){{4}} \d+ {_TEXT} "
#: What it was given, in the resources that it required: since 10.1 with the word that they are of a host.
_GPUS = r"(?:.*\brusage\[[^\]\"]*\bngpus_physical=(?P<gpus>\d+)(?:\.0+)?/host\b)?"
#: A job of one slot held the same, be GPUs counted by job, host or task, which is set where no record tells.
_GPUS_OF_ONE_SLOT = (
    rf' 1 "[A-Za-z][^"]*" (?:64|32) {_NUMBER} '
    r".*\brusage\[[^\]\"]*\bngpus_physical=(?P<v>\d+)(?:\.0+)?(?:/task|/job)?[\]:, ]"
)


def _finished(name: str, rest: str, state: Value, reason: Value | None = None, note: str = "") -> Pattern:
    """Return the pattern of jobs of one status; ``rest`` matches the record from its status on."""
    return Pattern(
        name=name,
        table="allocations",
        columns={
            "ts": Value("end", "stamp", stamp="epoch_s"),
            "scheduler": Value(const="lsf"),
            "job_id": Value("job", index="index"),
            "name": Value("name"),
            "user": Value("user"),
            "account": Value("project"),
            "partition": Value("queue"),
            "submit_ts": Value("submit", "stamp", stamp="epoch_s"),
            # 0 where it never ran, which is no time.
            "start_ts": Value("start", "stamp", stamp="epoch_s"),
            "end_ts": Value("end", "stamp", stamp="epoch_s"),
            "state": state,
            "exit_code": Value("exit", "int", mapping=LSF_CODES),
            "exit_signal": Value("exit", "int", mapping=LSF_SIGNALS),
            "gpus_per_node": Value("gpus", "int"),
            "nodes": Value("hosts", "slots"),
            **({"reason": reason} if reason is not None else {}),
        },
        extras={"gpus": (_GPUS_OF_ONE_SLOT, Value(kind="int"))},
        literals=('"JOB_FINISH" "',),
        regex=_HEAD + rest,
        note=note,
    )


FORMAT = Format(
    name="lsf_accounting",
    title="LSF accounting (lsb.acct)",
    link="https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=files-lsbacct",
    role="scheduler",
    versions="7 to 10.1",
    deciding=("done", "ended", "ended_plainly"),
    unrendered="Stories are told of clusters under Slurm.",
    patterns=(
        _finished(
            "done",
            r"64" + _MIDDLE + _INDEX + _GPUS,
            Value(const="COMPLETED"),
            note="GPUs are told where a job asked for so many of each host, from 10.1 on, or had one slot; "
            "whether more slots were given GPUs by job, host or task is set in `lsb.resources`.",
        ),
        _finished(
            "ended",
            r"32" + _MIDDLE + _TAIL + r"(?P<why>[1-9]\d*)\b" + _GPUS,
            Value("why", mapping=LSF_STATES),
            Value("why", mapping=LSF_REASONS),
            note="LSF says why it ended the job.",
        ),
        _finished(
            "ended_plainly",
            r"32" + _MIDDLE + _TAIL + r"0\b" + _GPUS,
            Value(const="FAILED"),
            note="The job ended by itself, or by a signal of which LSF does not know.",
        ),
        known_line(
            "other",
            ('"EVENT_ADRSV_FINISH" "', '"JOB_RESIZE" "'),
            r'^"(?:EVENT_ADRSV_FINISH|JOB_RESIZE)" "[\d.]+" \d+ ',
            note="A reservation that is over; a job that changed its size and goes on.",
        ),
    ),
)
