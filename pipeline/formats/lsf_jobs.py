"""Jobs as IBM Spectrum LSF prints them for people: ``bjobs -l``, ``bhist -l`` and ``bacct -l``.

A record is a sentence on the job and then what happened to it, each with its time, which has no year unless
``LSB_DISPLAY_YEAR`` is set. Lines are cut at column 79, in the middle of words; ``-UF`` does not cut them. A
job that was put back has a part for each time that it ran, in ``bhist`` alone: the others tell of the last.
"""

from __future__ import annotations

from pipeline.formats._batch_states import LSF_REASONS, LSF_STATES
from pipeline.formats.format import Derived, Format, Pattern, Value, known_line
from pipeline.formats.prose import Prose

#: Tue Aug 19 10:11:12, or Tue Aug 19 10:11:12 2025
_STAMP = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?"
#: What stands before what happened; of an array its member.
_AT = rf"(?m)^{_STAMP}: +(?:\[\d+\] +)?"
#: How it ended: `bacct` has the last of these alone, `bjobs` and `bhist` the others before it.
_ENDED = (
    r"(?:[Dd]one successfully|[Ee]xited\b|[Cc]ompleted <|[Pp]ending:"
    r"|[Ee]xecution host unavailable; job is killed)"
)
_HOSTS = r"(?P<v>(?:<[^<>]+>\s*)+)"
#: A number of GPUs counts by host, unless it says that it counts by task.
_GPUS = r"(?:Requested GPU <|EFFECTIVE GPU REQ: |GPU REQUIREMENT DETAILS:\s+Combined: )(?:[^<>;]*?:)?num="
_BY_TASK = rf"(?:{_GPUS}|\bngpus_physical=)(?P<v>\d+)(?:\.0+)?/task\b"
_BY_HOST = rf"{_GPUS}(?P<v>\d+)(?:/host)?[:;>\s]"

_STATES = {name: LSF_STATES.get(number, LSF_STATES["*"]) for number, name in LSF_REASONS.items() if name}
_WORDS = {
    **_STATES,
    # What a release has besides is the end of a job that LSF ended.
    "TERM_SWAPLIMIT": "OUT_OF_MEMORY",
    "more": "REQUEUED",
    "requeued": "REQUEUED",
    "host": "NODE_FAIL",
    "done": "COMPLETED",
    "exited": "FAILED",
    **dict.fromkeys(("PEND", "PSUSP", "WAIT"), "PENDING"),
    **dict.fromkeys(("RUN", "UNKWN", "PROV", "running"), "RUNNING"),
    **dict.fromkeys(("SSUSP", "USUSP"), "SUSPENDED"),
    "DONE": "COMPLETED",
    **dict.fromkeys(("EXIT", "ZOMBI"), "FAILED"),
    "*": "FAILED",
}

_JOB = {
    "ts": Value(("submitted", "started"), "stamp", stamp="day"),
    "scheduler": Value(const="lsf"),
    "job_id": Value("job", index=("element", "member")),
    "name": Value("name"),
    "user": Value("user"),
    "account": Value("project"),
    "partition": Value("queue"),
    "submit_ts": Value("submitted", "stamp", stamp="day"),
    "time_limit_s": Value(("limit_before", "limit"), "float", scale=60.0),
}


def _cut(regex: str, *fields: str, text: str = "$v") -> Derived:
    """Return what an expression finds in the text of a part, or in another field."""
    return Derived(fields or ("part",), regex, text)


def _told(name: str, regex: str) -> dict[str, Derived]:
    """Return the same field of the part and of the head, since a job may end before it ever ran."""
    return {name: _cut(regex), f"{name}_before": _cut(regex, "head")}


FORMAT = Format(
    name="lsf_jobs",
    title="LSF jobs as text (bjobs -l, bhist -l, bacct -l)",
    link="https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=reference-bhist",
    role="scheduler",
    shape="prose",
    versions="7 to 10.1",
    deciding=("ran", "waited"),
    # People print it into the output of the job, too.
    least_share=0.5,
    unrendered="Stories are told of clusters under Slurm.",
    prose=Prose(
        # Sections are headed in capitals, and set in or set apart by their words.
        inside=rf"\s|$|{_STAMP}: |[A-Z][A-Z_ ]+:|(?:Combined|Effective|Summary|Accounting|GPU Energy)\b",
        begin=r"Job <\d+(?:\[\d+\])?>, ",
        part=rf"{_STAMP}: +(?:\[\d+\] +)?(?:[Dd]ispatched|[Ss]tarted) (?:to |on |\d)",
        member=rf"{_STAMP}: +\[(\d+)\] ",
        rest=r" {21}(?: {5})?",
        width=79,
    ),
    derive={
        "job": _cut(r"^Job <(?P<v>\d+)", "head"),
        "element": _cut(r"^Job <\d+\[(?P<v>\d+)\]", "head"),
        "member": _cut(rf"^{_STAMP}: +\[(?P<v>\d+)\] "),
        "name": _cut(r"^Job <[^>]*>, Job Name <(?P<v>[^<>]*)>", "head"),
        "user": _cut(r"^[^\n]*?, User <(?P<v>[^<>]*)>", "head"),
        "project": _cut(r"^[^\n]*?, Project <(?P<v>[^<>]*)>", "head"),
        "queue": _cut(r"(?:^[^\n]*?, |, to )Queue <(?P<v>[^<>]*)>", "head"),
        "status": _cut(r"^[^\n]*?, Status <(?P<v>[A-Z]+)>", "head"),
        "submitted": _cut(rf"(?m)^(?P<v>{_STAMP}): +Submitted from host <", "head"),
        "started": _cut(rf"^(?P<v>{_STAMP}): "),
        "allocated": _cut(rf"Allocated <?\d+>? Slot\(s\) on Host\(s\) {_HOSTS}"),
        "named": _cut(
            rf"(?:Task\(s\) on Host\(s\)|Hosts/Processors|[Dd]ispatched to|[Ss]tarted on) {_HOSTS}"
        ),
        "slots": _cut(r"Allocated <?(?P<v>\d+)>? Slot\(s\)"),
        "tasks": _cut(r"^[^\n]*?(?:[Dd]ispatched|[Ss]tarted)(?: to| on)? (?P<v>\d+) (?:Task|Hosts/)"),
        "limit_before": _cut(r"(?m)^ *RUNLIMIT *\n *(?P<v>\d+(?:\.\d+)?) min\b", "head"),
        "limit": _cut(r"(?m)^ *RUNLIMIT *\n *(?P<v>\d+(?:\.\d+)?) min\b"),
        "by_task": _cut(_BY_TASK),
        "by_task_before": _cut(_BY_TASK, "head"),
        "by_host": _cut(_BY_HOST),
        "by_host_before": _cut(_BY_HOST, "head"),
        "by_rusage": _cut(r"\bngpus_physical=(?P<v>\d+)(?:\.0+)?/host\b"),
        **_told("why", rf"{_AT}[^\n]*?\b(?P<v>TERM_[A-Z_]+)\b"),
        **_told("ended", rf"(?m)^(?P<v>{_STAMP}): +(?:\[\d+\] +)?{_ENDED}"),
        "code": _cut(rf"{_AT}[Ee]xited with exit code (?P<v>\d+)"),
        "signal": _cut(rf"{_AT}[Ee]xited by (?:LSF )?signal (?P<v>\d+)"),
        # Words of one meaning each, of which the first that is there is the state.
        "host": _cut(
            rf"{_AT}(?P<v>[Ee]xecution host unavailable; job is killed|[Ee]xited; job will be requeued)",
            text="host",
        ),
        "done": _cut(rf"{_AT}(?P<v>[Dd]one successfully|[Cc]ompleted <done>)", text="done"),
        "again": Derived(("more",), "^(?P<v>1)$", "more"),
        "requeued": _cut(rf"{_AT}(?P<v>[Pp]ending:)", text="requeued"),
        "exited": _cut(rf"{_AT}(?P<v>[Ee]xited\b|[Cc]ompleted <exit>)", text="exited"),
        "exited_before": _cut(rf"{_AT}(?P<v>[Ee]xited\b|[Cc]ompleted <exit>)", "head", text="exited"),
        "running": Derived(("part",), "^(?P<v>.)", "running"),
    },
    patterns=(
        Pattern(
            name="ran",
            table="allocations",
            when=("part",),
            columns={
                **_JOB,
                "start_ts": Value("started", "stamp", stamp="day"),
                "end_ts": Value("ended", "stamp", stamp="day"),
                "state": Value(
                    ("host", "why", "done", "again", "requeued", "exited", "status", "running"),
                    mapping=_WORDS,
                ),
                "exit_code": Value("code", "int"),
                "exit_signal": Value("signal", "int"),
                "reason": Value("why"),
                "nodes": Value(("allocated", "named"), "slots"),
                "slots": Value(("slots", "tasks"), "int"),
                "gpus": Value(("by_task", "by_task_before"), "int", times="tasks"),
                "gpus_per_node": Value(("by_host", "by_host_before", "by_rusage"), "int"),
            },
            note="Of one allocation. GPUs are told where they were asked for by host, which a number without "
            "a word is, or by task; `bjobs` and `bhist` have them, `bacct` does where LSF says what it took.",
        ),
        Pattern(
            name="waited",
            table="allocations",
            when=("alone", "submitted"),
            columns={
                **_JOB,
                "end_ts": Value("ended_before", "stamp", stamp="day"),
                "state": Value(("why_before", "exited_before", "status"), mapping=_WORDS),
                "reason": Value("why_before"),
            },
            note="A job that waits, or ended before it ran.",
        ),
        known_line(
            "selection",
            ("Accounting information about jobs that are",),
            r"^Accounting information about jobs that are: *$"
            r"|^ +- (?:submitted (?:by|to)|accounted on|completed|executed on|dispatched|in the) ",
        ),
        known_line(
            "summary",
            ("SUMMARY:",),
            r"^SUMMARY: +\( time unit: second \) *$"
            r"|^ (?:Total|Average|Maximum|Minimum) [A-Za-z][\w ()/]*: +|^ Beginning time: ",
        ),
    ),
)
