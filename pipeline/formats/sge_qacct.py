"""Accounting of Grid Engine as ``qacct -j`` prints it: a block of names and values for each job, or its task.

Times are printed in three ways: as ``ctime`` does by Sun and its successors, in the order of the US by Univa
and Altair, and as ISO by the Open Cluster Scheduler; none names a zone. What never was is ``-/-``, or 1970.
"""

from __future__ import annotations

from pipeline.formats._batch_states import SGE_SIGNALS
from pipeline.formats.format import Derived, Format, Pattern, Stamp, Value, known_line
from pipeline.formats.prose import Prose

#: Times by the way in which they are printed.
_TIMES: dict[Stamp, str] = {
    "ctime": r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}",
    "us": r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(?:\.\d+)?",
    "iso": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?",
}
#: A task of a parallel job names itself, or was submitted by nobody.
_TASK = r"(?:pe_taskid +\d+\.|qsub_time +(?:-/-|[A-Z][a-z]{2} (?:Jan  ?1|Dec 31) [\d:]+ (?:1970|1969))\s)"
#: `-l gpu=8,h_rt=172800`, of which administrators choose the name.
_GPUS = r"(?:category|hard_resources) [^\n]*?-l (?:[^\s,]*,)*?(?:n?gpus?|gpu_card|num_gpus?)=(?P<v>\d+)\b"
_GIVEN = r"(?P<v>[^N\s]\S*|N[^O\s]\S*|NO[^N\s]\S*)"


def _cut(regex: str, text: str = "$v") -> Derived:
    """Return what an expression finds in a block; lines of a block are lines for it."""
    return Derived(("head",), f"(?ms){regex}", text)


def _job(stamp: Stamp) -> Pattern:
    """Return the pattern of jobs whose times are printed in one way."""
    return Pattern(
        name=f"job_{stamp}",
        table="allocations",
        when=(f"any_{stamp}", "jobnumber"),
        columns={
            "ts": Value((f"start_{stamp}", f"qsub_{stamp}"), "stamp", stamp=stamp),
            "scheduler": Value(const="sge"),
            "job_id": Value("jobnumber", index="taskid"),
            "part": Value("task"),
            "name": Value("jobname"),
            "user": Value("owner"),
            "account": Value("project"),
            "partition": Value("qname"),
            "submit_ts": Value(f"qsub_{stamp}", "stamp", stamp=stamp),
            "start_ts": Value(f"start_{stamp}", "stamp", stamp=stamp),
            "end_ts": Value(f"end_{stamp}", "stamp", stamp=stamp),
            "elapsed_s": Value("wallclock", "float"),
            "state": Value(("deleted", "put_back", "limit", "done", "over")),
            "state_by": Value("deleted_by"),
            "exit_code": Value("exit_status", "int"),
            "exit_signal": Value("exit_status", "int", mapping=SGE_SIGNALS),
            "reason": Value("why"),
            "host": Value("hostname"),
            # Of a parallel job the block names the first host alone; those of its tasks name the others.
            "nodes": Value(("task_host", "only_host"), "slots"),
            "slots": Value("slots", "int"),
            "gpus": Value("gpus", "int"),
            "gpus_asked": Value("gpus_asked", "int"),
        },
        note="A code of 128 and a signal is that signal. GPUs are what was asked for; of a parallel job only "
        "the complex says whether by slot or host, and hosts are those on which it had tasks.",
    )


FORMAT = Format(
    name="sge_qacct",
    title="Grid Engine accounting as text (qacct -j)",
    link="https://gridscheduler.sourceforge.net/htmlman/htmlman1/qacct.html",
    role="scheduler",
    shape="prose",
    versions="SGE 6, Son of Grid Engine 8, Univa Grid Engine 8, Open Cluster Scheduler 9",
    deciding=tuple(f"job_{stamp}" for stamp in _TIMES),
    least_share=0.5,
    unrendered="Stories are told of clusters under Slurm.",
    prose=Prose(begin=r"qname +\S", inside=r"[a-z_]+(?:\s|$)|\s*$"),
    derive={
        **{
            name: _cut(rf"^{name} +(?P<v>\S+)")
            for name in ("qname", "hostname", "owner", "jobnumber", "slots", "exit_status")
        },
        "jobname": _cut(r"^jobname +(?P<v>\S[^\n]*?) *$"),
        "project": _cut(rf"^project +{_GIVEN}"),
        "taskid": _cut(r"^taskid +(?P<v>\d+)\s"),
        "wallclock": _cut(r"^(?:ru_)?wallclock +(?P<v>\d+(?:\.\d+)?)s?\s"),
        "deleted_by": _cut(rf"^deleted_by +{_GIVEN}"),
        "why": _cut(r"^failed +\d+ *: (?P<v>\S[^\n]*?) *$"),
        "task": _cut(rf"^(?P<v>{_TASK})", "task"),
        "task_host": _cut(rf"^hostname +(?P<v>\S+)\s.*?^{_TASK}"),
        "only_host": _cut(r"^hostname +(?P<v>\S+)\s.*?^granted_pe +NONE\s"),
        "gpus": _cut(rf"^granted_pe +NONE\s.*?^{_GPUS}"),
        "gpus_asked": _cut(rf"^granted_pe +(?:[^N\s]|N[^O]|NO[^N]).*?^{_GPUS}"),
        # Words of one meaning each, of which the first that is there is the state.
        "deleted": _cut(rf"^deleted_by +{_GIVEN}", "CANCELLED"),
        "put_back": _cut(r"^failed +(?P<v>24|25|30)\b", "REQUEUED"),
        "limit": _cut(r"^failed +(?P<v>37|44)\b", "TIMEOUT"),
        "done": _cut(r"^failed +0\s.*?^exit_status +(?P<v>0)\s", "COMPLETED"),
        "over": _cut(r"^(?:failed|exit_status) +(?P<v>\d)", "FAILED"),
        **{f"any_{stamp}": _cut(rf"^[a-z]+_time +(?P<v>{regex})") for stamp, regex in _TIMES.items()},
        **{
            f"{name}_{stamp}": _cut(rf"^{name}_time +(?P<v>{regex})")
            for name in ("qsub", "start", "end")
            for stamp, regex in _TIMES.items()
        },
    },
    patterns=(
        *(_job(stamp) for stamp in _TIMES),
        known_line(
            "total",
            ("Total System Usage",),
            r"^Total System Usage *$|^ +WALLCLOCK +UTIME +STIME +CPU |^ *[\d.]+(?: +[\d.]+){3,6} *$",
        ),
    ),
)
