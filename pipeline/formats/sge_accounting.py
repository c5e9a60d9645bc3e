"""Accounting of Grid Engine (Sun, Son of, Univa, Altair): a line of fields between colons for each job.

Univa Grid Engine writes times in milliseconds from 8.2 on, all others in seconds. A job that could not be
started, or was put back, has a line for each attempt. States are Slurm's words for what the fields say.
"""

from __future__ import annotations

from pipeline.formats._batch_states import SGE_SIGNALS, SGE_STATES
from pipeline.formats.format import Format, Pattern, Stamp, Value, known_line

# queue:host:group:owner:name:number:account:priority:
_HEAD = (
    r"^(?P<queue>[^:\s]+):(?P<host>[A-Za-z][\w.-]*):[^:\s]*:(?P<user>[^:]+):(?P<name>[^:]*):(?P<job>\d+)"
    r":[^:]*:-?\d+:"
)
#: What failed, the code, the wall clock and seventeen numbers of resource use.
_END = r":(?P<both>\d+:(?P<code>\d+)):(?P<wall>[\d.]+)(?::[\d.eE+-]*){17}"
#: Processor time, memory and transfers, the category with its colons, waits.
_SUMS = r"(?::[\d.eE+-]+){3}:(?P<asked>.*?):[\d.eE+-]+"
#: `-l gpu=8,h_rt=172800`, of which administrators choose the name.
_GPUS = r"-l (?:\S*,)?(?:n?gpus?|gpu_card|num_gpus?)=(?P<v>\d+)\b"


def _times(digits: str) -> str:
    """Return the expression of three times; what never happened is 0."""
    return rf"(?P<submit>{digits}):(?P<start>0|{digits}):(?P<end>0|{digits})"


def _tail(pe: str, last: str) -> str:
    """Return the expression from the project to the end of what is asked for."""
    return rf":(?P<project>[^:]*):[^:]*:{pe}:(?P<slots>\d+):(?P<task>\d+){_SUMS}:NONE{last}"


_ALONE, _PARALLEL = "NONE", r"(?:[^:N][^:]*|N[^:O][^:]*|NO[^:N][^:]*)"

#: Memory, advance reservation, its time; from Univa also the class of the job and who deleted it.
_SUN = r":[\d.eE+-]+:[^:]*:[^:]*\s*$"
_UNIVA = r":[\d.eE+-]+:[^:]*:[^:]*:[^:]*:NONE:"
_DELETED = r":[\d.eE+-]+:[^:]*:[^:]*:[^:]*:(?P<by>[^:@]+)@[^:]*:"


def _job(name: str, stamp: Stamp, pe: str, last: str, versions: str) -> Pattern:
    """Return the pattern of jobs of one layout that ran alone or on several hosts."""
    deleted = last is _DELETED
    return Pattern(
        name=name,
        table="allocations",
        columns={
            "ts": Value("submit", "stamp", stamp=stamp),
            "scheduler": Value(const="sge"),
            "job_id": Value("job", index="task"),
            "name": Value("name"),
            "user": Value("user"),
            "account": Value("project", mapping={"NONE": ""}),
            "partition": Value("queue"),
            "submit_ts": Value("submit", "stamp", stamp=stamp),
            "start_ts": Value("start", "stamp", stamp=stamp),
            "end_ts": Value("end", "stamp", stamp=stamp),
            "state": Value(const="CANCELLED") if deleted else Value("both", mapping=SGE_STATES),
            **({"state_by": Value("by")} if deleted else {}),
            **({"elapsed_s": Value("wall", "float")} if stamp == "epoch_s" else {}),
            "exit_code": Value("code", "int"),
            "exit_signal": Value("code", "int", mapping=SGE_SIGNALS),
            "slots": Value("slots", "int"),
            # Of a parallel job the line names the first host alone; lines of its tasks name the others.
            "host": Value("host"),
            **({"nodes": Value("host", "slots"), "n_nodes": Value(const=1)} if pe is _ALONE else {}),
        },
        extras={"gpus" if pe is _ALONE else "gpus_asked": (_GPUS, Value(kind="int"))},
        literals=(":NONE:",),
        regex=_HEAD + _times(r"\d{9,10}" if stamp == "epoch_s" else r"\d{12,13}") + _END + _tail(pe, last),
        versions=versions,
        note="A code of 128 and a signal is that signal. GPUs are what was asked for; of a parallel job the "
        "line names the first host alone, and the complex whether they were asked for by slot or host.",
    )


def _task(name: str, stamp: Stamp) -> Pattern:
    """Return the pattern of tasks of a parallel job on one of its hosts; some releases submit them at 0."""
    digits = r"\d{9,10}" if stamp == "epoch_s" else r"\d{12,13}"
    return Pattern(
        name=name,
        table="allocations",
        columns={
            "ts": Value("start", "stamp", stamp=stamp),
            "scheduler": Value(const="sge"),
            "job_id": Value("job", index="task"),
            "part": Value(const="task"),
            "host": Value("host"),
            "start_ts": Value("start", "stamp", stamp=stamp),
            "end_ts": Value("end", "stamp", stamp=stamp),
            "nodes": Value("host", "slots"),
            "exit_code": Value("code", "int"),
        },
        literals=(":0:",),
        regex=_HEAD
        + rf"(?:0|{digits}):(?P<start>{digits}):(?P<end>{digits})"
        + _END
        + rf":[^:]*:[^:]*:[^:]*:\d+:(?P<task>\d+){_SUMS}:\d+\.[\w.-]+:",
        note="Its host is one of the job; time, slots and how it ended are in the line of the job.",
    )


_OLD, _NEW = "SGE 6, Son of Grid Engine, UGE to 8.1", "UGE and Altair Grid Engine from 8.2"

FORMAT = Format(
    name="sge_accounting",
    title="Grid Engine accounting (SGE, UGE)",
    link="https://gridscheduler.sourceforge.net/htmlman/htmlman5/accounting.html",
    role="scheduler",
    versions="SGE 6, Son of Grid Engine 8, Univa Grid Engine 8",
    deciding=("job", "parallel_job", "job_ms", "parallel_job_ms", "deleted_ms", "parallel_deleted_ms"),
    unrendered="Stories are told of clusters under Slurm.",
    patterns=(
        _job("job", "epoch_s", _ALONE, _SUN, _OLD),
        _job("parallel_job", "epoch_s", _PARALLEL, _SUN, _OLD),
        _job("job_ms", "epoch_ms", _ALONE, _UNIVA, _NEW),
        _job("parallel_job_ms", "epoch_ms", _PARALLEL, _UNIVA, _NEW),
        _job("deleted_ms", "epoch_ms", _ALONE, _DELETED, _NEW),
        _job("parallel_deleted_ms", "epoch_ms", _PARALLEL, _DELETED, _NEW),
        _task("task", "epoch_s"),
        _task("task_ms", "epoch_ms"),
        known_line(
            "task_that_did_not_start",
            (":0:",),
            r"^[^:\s]+:[A-Za-z][\w.-]*:[^:\s]*:[^:]+:[^:]*:\d+:[^:]*:-?\d+:0:0:\d+:\d+:\d+:",
        ),
        known_line(
            "head",
            ("# Version: ", "# DO NOT MODIFY THIS FILE MANUALLY!"),
            r"^# (?:Version: \S+|DO NOT MODIFY THIS FILE MANUALLY!)\s*$",
        ),
    ),
)
