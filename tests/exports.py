"""Rows of accounting as other schedulers and other commands would have exported them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from pipeline.ingest.hostlist import expand_hostlist

Row = dict[str, str]


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


def qstat(rows: list[Row]) -> Iterator[str]:
    """Yield the last run of each job alone; lines are cut at column 78."""
    for row in rows:
        code, signal = ended(row)
        status = {"TIMEOUT": -29, "NODE_FAIL": -14}.get(state(row), 256 + signal if signal else code)
        gone = row["End"] != "Unknown"
        times = {
            "ctime": row["Submit"],
            "stime": row["Start"],
            "etime": row["Eligible"],
            **({"obittime": row["End"]} if gone else {}),
        }
        told = {
            "Job_Name": row["JobName"],
            "Job_Owner": "mira@login2",
            "job_state": "F" if gone else "R",
            "queue": "h100",
            "exec_host": "+".join(f"{host}/0*112" for host in hosts(row)),
            "exec_vnode": "+".join(f"({host}:ncpus=112:ngpus=8)" for host in hosts(row)),
            **{name: f"{datetime.fromisoformat(at):%a %b %e %H:%M:%S %Y}" for name, at in times.items()},
            "substate": "91" if state(row) == "CANCELLED" else "92",
            "run_count": str(int(row["Restarts"]) + 1),
            **({"Exit_status": str(status)} if gone else {}),
        }
        yield f"Job Id: {row['JobIDRaw']}.pbs1"
        for name, value in told.items():
            line = f"    {name} = {value}"
            yield line[:79]
            yield from (f"\t{line[at : at + 71]}" for at in range(79, len(line), 71))
        yield ""


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
