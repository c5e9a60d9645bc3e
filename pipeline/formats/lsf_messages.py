"""What LSF puts at the end of a job's output: who ran it, where, how long, and why it ended.

The report stands behind all that the job printed. Each line tells a part of one record of accounting, whose
job the subject names; `staging.records` puts them together. Times are local to the master.
"""

from __future__ import annotations

from pipeline.formats._batch_states import LSF_WORDS
from pipeline.formats.format import Format, Pattern, Value, known_line

# Mon Mar  2 10:43:06 2026
_DATE = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"

#: In which cluster, and since 10.1 when.
_THERE = rf" in cluster <(?P<cluster>[^<>]*)>(?: at (?P<at>{_DATE}))?"

_USAGE = (
    *("CPU time", "Max Memory", "Average Memory", "Total Requested Memory", "Delta Memory", "Max Swap"),
    *("Max Processes", "Max Threads", "Run time", "Turnaround time"),
)


def _part(
    pattern: str, literals: tuple[str, ...], regex: str, note: str = "", /, **columns: Value
) -> Pattern:
    """Return the pattern of a line that tells a part of the record."""
    who = {"scheduler": Value(const="lsf"), "part": Value(const="report")}
    return Pattern(
        name=pattern,
        table="allocations",
        columns={**who, **columns},
        literals=literals,
        regex=regex,
        note=note,
    )


def _at(group: str = "at") -> Value:
    """Return a time as `date` prints it, without a zone."""
    return Value(group, "stamp", stamp="ctime")


FORMAT = Format(
    name="lsf_messages",
    title="LSF in the output of a job (its report)",
    link="https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=o-output-files",
    role="any",
    primary=False,
    by_host_clock=True,
    versions="7 to 10.1",
    unrendered="Stories are told of clusters under Slurm.",
    patterns=(
        known_line("sender", ("Sender: LSF System ",), r"^Sender: LSF System <"),
        _part(
            "subject",
            ("Subject: Job ",),
            r"^Subject: Job (?P<job>\d+(?:\[\d+\])?): <(?P<name>.*)> in cluster <(?P<cluster>[^<>]*)> "
            r"(?P<how>Done|Exited)",
            "It begins the report of a job.",
            job_id=Value("job"),
            name=Value("name"),
            cluster=Value("cluster"),
            state=Value("how", mapping={"Done": "COMPLETED", "Exited": "FAILED"}),
        ),
        _part(
            "submitted",
            ("was submitted from host ",),
            rf"^Job <.*> was submitted from host <[^<>]*> by user <(?P<user>[^<>]*)>{_THERE}",
            ts=_at(),
            user=Value("user"),
            cluster=Value("cluster"),
            submit_ts=_at(),
        ),
        _part(
            "executed",
            ("Job was executed on host(s) ",),
            rf"^Job was executed on host\(s\) <(?P<host>[^<>]*)>, in queue <(?P<queue>[^<>]*)>, "
            rf"as user <(?P<user>[^<>]*)>{_THERE}",
            ts=_at(),
            user=Value("user"),
            cluster=Value("cluster"),
            partition=Value("queue"),
            nodes=Value("host", "slots"),
        ),
        _part(
            "host",
            ("                            <",),
            r"^ {28}<(?P<host>(?:\d+\*)?[\w.-]+)>\s*$",
            nodes=Value("host", "slots"),
        ),
        known_line(
            "directory",
            (" was used as the ",),
            r"^<[^>]*> was used as the (?:home|working) directory\.\s*$",
        ),
        _part(
            "started",
            ("Started at ",),
            rf"^Started at (?P<at>{_DATE})\s*$",
            ts=_at(),
            start_ts=_at(),
        ),
        _part(
            "ended",
            ("Terminated at ", "Results reported "),
            rf"^(?:Terminated at|Results reported (?:at|on)) (?P<at>{_DATE})\s*$",
            "The first of the two counts; versions before 10.1 print the second one alone.",
            ts=_at(),
            end_ts=_at(),
        ),
        _part(
            "reason",
            (": job killed",),
            r"^(?P<why>TERM_[A-Z_]+): job killed\b",
            "The catalogue of signals tells what it means.",
            state=Value("why", mapping=LSF_WORDS),
            reason=Value("why"),
        ),
        _part(
            "exit_code",
            ("Exited with exit code ",),
            r"^Exited with exit code (?P<code>\d+)\.\s*$",
            exit_code=Value("code", "int"),
        ),
        _part(
            "exit_signal",
            ("Exited by signal ",),
            r"^Exited by signal (?P<signal>\d+)\.\s*$",
            exit_signal=Value("signal", "int"),
        ),
        known_line("done", ("Successfully completed.",), r"^Successfully completed\.\s*$"),
        known_line(
            "remark",
            ("The output (if any) ", "for stderr output of this job."),
            r"^(?:The output \(if any\) (?:is above|follows)|Read file <.*> for stderr output of this job\.)",
        ),
        known_line("usage", ("Resource usage summary:",), r"^Resource usage summary:\s*$"),
        known_line("usage_of", _USAGE, rf"^ {{4}}(?:{'|'.join(_USAGE)}) +: +\S+"),
    ),
)
