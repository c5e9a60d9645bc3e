"""What LSF puts at the end of a job's output: who ran it, where, how long, and why it ended.

The report stands behind all that the job printed. Its begin is therefore no line of a start; its end is the
end of the job, local to the master. What it says of a reason is for the catalogue of signals to say.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

# Mon Mar  2 10:43:06 2026
_DATE = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"

_USAGE = (
    *("CPU time", "Max Memory", "Average Memory", "Total Requested Memory", "Delta Memory", "Max Swap"),
    *("Max Processes", "Max Threads", "Run time", "Turnaround time"),
)

FORMAT = Format(
    name="lsf_messages",
    title="LSF in the output of a job (its report)",
    link="https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=o-output-files",
    role="any",
    primary=False,
    versions="7 to 10.1",
    unrendered="Stories are told of clusters under Slurm.",
    patterns=(
        Pattern(
            name="ended",
            table="phases",
            columns={
                "ts": Value("at", "stamp", stamp="ctime"),
                "phase": Value(const="job"),
                "edge": Value(const="end"),
            },
            literals=("Terminated at ",),
            regex=rf"^Terminated at (?P<at>{_DATE})\s*$",
        ),
        known_line("sender", ("Sender: LSF System ",), r"^Sender: LSF System <"),
        known_line(
            "subject",
            ("Subject: Job ",),
            r"^Subject: Job \d+(?:\[\d+\])?: <.*> in cluster <.*> (?:Done|Exited)",
        ),
        known_line("submitted", ("was submitted from host ",), r"^Job <.*> was submitted from host <"),
        known_line("executed", ("Job was executed on host(s) ",), r"^Job was executed on host\(s\) <"),
        known_line("host", ("                            <",), r"^ {28}<(?:\d+\*)?[\w.-]+>\s*$"),
        known_line(
            "directory",
            (" was used as the ",),
            r"^<[^>]*> was used as the (?:home|working) directory\.\s*$",
        ),
        known_line("started", ("Started at ",), rf"^Started at {_DATE}\s*$"),
        known_line("reported", ("Results reported ",), rf"^Results reported (?:at|on) {_DATE}\s*$"),
        known_line(
            "reason",
            (": job killed",),
            r"^TERM_[A-Z_]+: job killed\b",
            note="The catalogue of signals tells what it means.",
        ),
        known_line(
            "outcome",
            ("Successfully completed.", "Exited with exit code ", "Exited by signal "),
            r"^(?:Successfully completed\.|Exited with exit code \d+\.|Exited by signal \d+\.)\s*$",
        ),
        known_line(
            "remark",
            ("The output (if any) ", "for stderr output of this job."),
            r"^(?:The output \(if any\) (?:is above|follows)|Read file <.*> for stderr output of this job\.)",
        ),
        known_line("usage", ("Resource usage summary:",), r"^Resource usage summary:\s*$"),
        known_line("usage_of", _USAGE, rf"^ {{4}}(?:{'|'.join(_USAGE)}) +: +\S+"),
    ),
)
