"""What another scheduler or another command would have exported of a story gives the same ledger."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.ingest.hostlist import expand_hostlist
from pipeline.ingest.match import match_format
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers.slurm import accounting
from pipeline.simulate.renderers.slurm_json import accounting_json
from pipeline.simulate.story import Story
from tests.simulated import ledger
from tests.together import Told, side_by_side, tell, write_apart

Row = dict[str, str]
Form = tuple[Callable[[list[Row]], Iterator[str]], str, tuple[str, ...], int]

#: Ends that every form can tell, and those for which it needs a word.
PLAIN = ("collective_hang", "gpu_off_bus_hang", "key_error", "time_limit", "node_lost")
WORDY = (*PLAIN, "preempted", "operator_stop")


def epoch(text: str) -> int:
    """Return a time of accounting in seconds; 0 where it is none."""
    return 0 if text == "Unknown" else int(datetime.fromisoformat(f"{text}+00:00").timestamp())


def hosts(row: Row) -> list[str]:
    return expand_hostlist(row["NodeList"]) or []


def state(row: Row) -> str:
    return row["State"].split()[0]


def ended(row: Row) -> tuple[int, int]:
    """Return exit code and signal."""
    code, _, signal = row["ExitCode"].partition(":")
    return int(code), int(signal)


def pbs(rows: list[Row]) -> Iterator[str]:
    told: list[tuple[int, str]] = []
    for row in rows:
        begin, end, (code, signal) = epoch(row["Start"]), epoch(row["End"]), ended(row)
        again = any(row["JobIDRaw"] == other["JobIDRaw"] and epoch(other["Start"]) > begin for other in rows)
        status = {"TIMEOUT": -29, "NODE_FAIL": -14}.get(state(row), 256 + signal if signal else code)
        body = (
            f"user=mira jobname={row['JobName']} queue=h100 ctime={epoch(row['Submit'])} "
            f"etime={epoch(row['Eligible'])} start={begin} "
            f"exec_host={'+'.join(f'{host}/0*112' for host in hosts(row))} "
            f"Resource_List.ngpus={8 * len(hosts(row))} Resource_List.nodect={len(hosts(row))}"
        )
        told.append((begin, f"S;{row['JobIDRaw']}.pbs1;{body}"))
        if end:
            kind = "R" if state(row) == "NODE_FAIL" and again else "E"
            told.append((end, f"{kind};{row['JobIDRaw']}.pbs1;{body} end={end} Exit_status={status}"))
    for at, text in sorted(told):
        yield f"{datetime.fromtimestamp(at, UTC):%m/%d/%Y %H:%M:%S};{text}"


def lsf(rows: list[Row]) -> Iterator[str]:
    reasons = {"TIMEOUT": 5, "PREEMPTED": 1, "NODE_FAIL": 22, "CANCELLED": 14, "REQUEUED": 10}
    for row in rows:
        code, signal = ended(row)
        names = " ".join(f'"{host}"' for host in hosts(row))
        status = 64 if state(row) == "COMPLETED" else 32
        why = reasons.get(state(row), 0)
        yield (
            f'"JOB_FINISH" "10.1" {epoch(row["End"])} {row["JobIDRaw"]} 5001 1 2 {epoch(row["Submit"])} 0 0 '
            f'{epoch(row["Start"])} "mira" "h100" "" "" "" "login1" "/fs" "" "" "" "file" 0 '
            f'{len(hosts(row))} {names} {status} 60.0 "{row["JobName"]}" "run.sh"{" 0" * 19} "" "llm" '
            f'{256 * code + signal} 2 "/bin/bash" "" 0 1 1 "" "" "" "" 0 "" {why} "" -1'
        )


def lsf_prose(rows: list[Row]) -> Iterator[str]:
    """What `bhist -l` prints: no years, lines that are cut, and all runs of a job in one record."""
    reasons = {"TIMEOUT": "TERM_RUNLIMIT", "PREEMPTED": "TERM_PREEMPT", "CANCELLED": "TERM_OWNER"}
    jobs = {row["JobIDRaw"]: [r for r in rows if r["JobIDRaw"] == row["JobIDRaw"]] for row in rows}
    for number, (job, runs) in enumerate(jobs.items()):
        if number:
            yield from ("-" * 78, "")
        told = [
            f"Job <{job}>, Job Name <{runs[0]['JobName']}>, User <mira>, Project <llm>, Command <bash x.sh>",
            f"{day(runs[0]['Submit'])}: Submitted from host <login1>, to Queue <h100>, CWD <$HOME>, "
            "Requested GPU <num=8:mode=exclusive_process>;",
        ]
        for row in sorted(runs, key=lambda r: r["Start"]):
            given = " ".join(f"<112*{host}>" for host in hosts(row))
            slots = 112 * len(hosts(row))
            told.append(
                f"{day(row['Start'])}: Dispatched {slots} Task(s) on Host(s) {given}, "
                f"Allocated <{slots}> Slot(s) on Host(s) {given}, Effective RES_REQ <select[type == local] >;"
            )
            (code, signal), end = ended(row), row["End"]
            if end == "Unknown":
                continue
            if state(row) == "NODE_FAIL":
                told.append(f"{day(end)}: Exited; job will be requeued and rerun;")
            elif state(row) == "REQUEUED":
                told.append(f"{day(end)}: Pending: Job has been requeued;")
            elif state(row) == "COMPLETED":
                told.append(f"{day(end)}: Done successfully. The CPU time used is 1.5 seconds;")
            else:
                how = f"by signal {signal}" if signal else f"with exit code {code}"
                told.append(f"{day(end)}: Exited {how}. The CPU time used is 911244.0 seconds;")
            if state(row) in reasons:
                told.append(f"{day(end)}: Completed <exit>; {reasons[state(row)]}: job killed;")
        for line in told:
            yield line[:79]
            yield from (" " * 21 + line[at : at + 58] for at in range(79, len(line), 58))
        yield from ("", "Summary of time in seconds spent in various states by  Mon Mar  2 10:00:00")


def day(text: str) -> str:
    """Return a time of accounting as the commands of LSF print it."""
    return f"{datetime.fromisoformat(text):%a %b %e %H:%M:%S}"


def sge(rows: list[Row]) -> Iterator[str]:
    failed = {"TIMEOUT": 37, "NODE_FAIL": 25}
    for row in rows:
        code, signal = ended(row)
        times = ":".join(f"{epoch(row[name])}000" for name in ("Submit", "Start", "End"))
        why = failed.get(state(row), 100 if signal else 0)
        yield (
            f"h100.q:{hosts(row)[0]}:llm:mira:{row['JobName']}:{row['JobIDRaw']}:sge:0:{times}:{why}:"
            f"{128 + signal if signal else code}:0.0{':0' * 17}:NONE:defaultdepartment:mpi:224:0:0:0:0:"
            "-l gpu=8:0.0:NONE:0.0:0:0:NONE:NONE:0:0:login1:/fs:qsub run.sh:0.0:0"
        )
        if row["End"] != "Unknown":
            for host in 2 * hosts(row)[1:]:
                yield (
                    f"h100.q:{host}:llm:mira:{row['JobName']}:{row['JobIDRaw']}:sge:0:{times}:0:0:0.0"
                    f"{':0' * 17}:NONE:defaultdepartment:mpi:224:0:0:0:0:-pe mpi 224:0.0:1.{host}:0.0:0:0:"
                    "NONE:NONE:0:0:login1:/fs:qsub run.sh:0.0:0"
                )


def qacct(rows: list[Row]) -> Iterator[str]:
    """What `qacct -j` prints, with a block for each task on a further host."""
    failed = {"TIMEOUT": "37  : qmaster enforced h_rt", "NODE_FAIL": "25  : rescheduling"}
    for row in rows:
        code, signal = ended(row)
        why = failed.get(state(row), "100 : assumedly after job" if signal else "0")
        for number, host in enumerate(hosts(row)):
            submitted = "Thu Jan  1 01:00:00 1970" if number else year(row["Submit"])
            yield "=" * 62
            yield from ("qname        h100.q", f"hostname     {host}", "owner        mira")
            yield from (f"jobname      {row['JobName']}", f"jobnumber    {row['JobIDRaw']}")
            yield from (f"qsub_time    {submitted}", f"start_time   {year(row['Start'])}")
            yield from (f"end_time     {year(row['End'])}", "granted_pe   mpi", "slots        224")
            yield f"failed       {'0' if number else why}"
            yield f"exit_status  {0 if number else 128 + signal if signal else code}"
            yield f"category     {'' if number else '-l gpu=8 '}-pe mpi 224"


def year(text: str) -> str:
    """Return a time of accounting as `ctime` prints it."""
    return "-/-" if text == "Unknown" else f"{datetime.fromisoformat(text):%a %b %e %H:%M:%S %Y}"


def completion_log(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        yield (
            f"JobId={row['JobIDRaw']} UserId=mira(5001) GroupId=llm(1) Name={row['JobName']} "
            f"JobState={state(row)} Partition=h100 TimeLimit=2880 StartTime={row['Start']} "
            f"EndTime={row['End']} NodeList={row['NodeList']} NodeCnt={row['NNodes']} ProcCnt=1 WorkDir=/fs "
            f"ReservationName= Tres={row['AllocTRES']} Account=llm QOS=normal WcKey= Cluster=aviary "
            f"SubmitTime={row['Submit']} EligibleTime={row['Eligible']} DerivedExitCode=0:0 "
            f"ExitCode={row['ExitCode']} "
        )


def completion_json(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(
            {
                "jobid": int(row["JobIDRaw"]),
                "username": "mira",
                "job_name": row["JobName"],
                "@submit": row["Submit"],
                "@eligible": row["Eligible"],
                "@start": row["Start"],
                "@end": row["End"],
                "nodes": row["NodeList"],
                "total_nodes": int(row["NNodes"]),
                "tres_alloc": row["AllocTRES"],
                "state": state(row),
                "exit_code": row["ExitCode"],
                "cluster": "aviary",
            }
        )


def controller_jobs(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        yield f"JobId={row['JobIDRaw']} JobName={row['JobName']}"
        yield "   UserId=mira(5001) GroupId=llm(1) MCS_label=N/A"
        yield f"   JobState={state(row)} Reason=None Dependency=(null)"
        yield f"   Requeue=1 Restarts={row['Restarts']} BatchFlag=1 Reboot=0 ExitCode={row['ExitCode']}"
        yield f"   SubmitTime={row['Submit']} EligibleTime={row['Eligible']}"
        yield f"   StartTime={row['Start']} EndTime={row['End']} Deadline=N/A"
        yield f"   NodeList={row['NodeList']}"
        yield f"   NumNodes={row['NNodes']} NumCPUs=1"
        yield f"   AllocTRES={row['AllocTRES']}"
        yield ""


def old_json(rows: list[Row]) -> Iterator[str]:
    jobs = [
        {
            "allocation_nodes": int(row["NNodes"]),
            "cluster": "aviary",
            "derived_exit_code": {"status": "SUCCESS", "return_code": 0},
            "exit_code": {"status": "SUCCESS", "return_code": 0},
            "job_id": int(row["JobIDRaw"]),
            "name": row["JobName"],
            "nodes": row["NodeList"],
            "state": {"current": state(row), "reason": "None"},
            "time": {
                "submission": epoch(row["Submit"]),
                "eligible": epoch(row["Eligible"]),
                "start": epoch(row["Start"]),
                "end": epoch(row["End"]),
            },
            "tres": {
                "allocated": [{"type": "gres", "name": "gpu", "id": 1001, "count": 8 * len(hosts(row))}]
            },
            "user": "mira",
        }
        for row in rows
    ]
    yield from json.dumps({"meta": {}, "errors": [], "jobs": jobs}, indent=2).splitlines()


def test_accounting_as_json_fills_rows_as_text_does() -> None:
    """Requeues, resized jobs and running ones included."""
    plan = Plan(gpus=32, target=400, max_attempts=14, ends=dict.fromkeys((*WORDY, "prolog_failed"), 1.0))
    plan = replace(plan, goes_on=True, shrink=1.0)
    runs = [run for seed in range(12) for run in invent(seed, (plan,)).runs]
    rows = []
    for name, lines in (
        ("slurm_sacct", accounting(runs, Style())),
        ("slurm_sacct_json", accounting_json(runs)),
    ):
        found = match_format(registry()[name], pl.Series(list(lines))).tables["allocations"]
        rows.append(found.drop("line", "segment", "format", "pattern", "ts_raw", "ts_quality"))
    assert {"RESIZING", "NODE_FAIL", "TIMEOUT", "REQUEUED", "PREEMPTED", "RUNNING"} <= set(rows[0]["state"])
    assert rows[0].equals(rows[1])


#: Who tells of the allocations of a run: what is written, the format it is read as, the ends it can tell,
#: and the seed with which each of them comes.
FORMS: tuple[Form, ...] = (
    (pbs, "pbs_accounting", PLAIN, 1),
    (lsf, "lsf_accounting", WORDY, 0),
    (lsf_prose, "lsf_jobs", WORDY, 20),
    (qacct, "sge_qacct", PLAIN, 14),
    (completion_log, "slurm_jobcomp", WORDY, 3),
    (completion_json, "slurm_jobcomp_json", WORDY, 7),
    (controller_jobs, "scontrol_job", WORDY, 12),
    (old_json, "slurm_sacct_json", WORDY, 16),
    (sge, "sge_accounting", PLAIN, 4),
)


def story_of(ends: tuple[str, ...], seed: int) -> Story:
    plan = Plan(gpus=16, target=400, steps_between=(20, 60), max_attempts=12, ends=dict.fromkeys(ends, 1.0))
    return invent(seed, (plan,))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Return a cluster, read, of whose runs each is told of by another scheduler or command."""
    stories = {name.replace("_", "-"): story_of(ends, seed) for _, name, ends, seed in FORMS}
    folder = tmp_path_factory.mktemp("forms")
    write_apart(side_by_side(stories), folder, {})
    accounting = folder / "logs" / "sacct.txt"
    with accounting.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    accounting.unlink()
    for write, name, *_ in FORMS:
        own = [row for row in rows if row["JobName"] == name.replace("_", "-")]
        text = "".join(f"{line}\n" for line in write(own))
        (folder / "logs" / f"{name}.txt").write_text(text, encoding="utf-8")
    return tell(folder)


def test_each_end_that_a_form_can_tell_comes() -> None:
    for _, name, ends, seed in FORMS:
        (run,) = story_of(ends, seed).runs
        came = {attempt.end.fault for attempt in run.attempts if attempt.end is not None}
        assert set(ends) <= came, name


@pytest.mark.parametrize("name", [name for _, name, *_ in FORMS])
def test_the_ledger_is_the_truth_whoever_tells_of_allocations(name: str, told: Told) -> None:
    with ledger(told.folder) as con:
        read = con.execute(
            "select format, unknown_lines, bad_lines from events.sources where path = ?", [f"{name}.txt"]
        ).fetchall()
    assert read == [(name, 0, 0)]
    assert told.differences(name.replace("_", "-")) == []
