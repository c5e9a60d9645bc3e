"""What nobody saw is said to be unseen, and alike by the ledger, the recovery and the story."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.cli import run
from pipeline.ledger.phrases import records
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import trainers
from pipeline.simulate.slack import slack_of
from tests.simulated import ENDS, ledger, violations

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
HEAD = (
    "JobIDRaw|JobID|State|Submit|Eligible|Start|End|ElapsedRaw|NNodes|AllocTRES|ExitCode|NodeList"
    "|Restarts|JobName\n"
)
ERROR = """\
Traceback (most recent call last):
  File "/opt/heron/train.py", line 61, in main
    model = build_model(args)
AttributeError: 'Namespace' object has no attribute 'hiden'
"""
DATED = "[after megatron is initialized] datetime: 2026-03-03 07:04:00.000000\n"


def without_the_trainer_of_job_41233(logs: Path) -> None:
    """Copy the sample whose second attempt then has left accounting alone."""
    shutil.copytree(SAMPLES / "fallen-gpu", logs)
    for log in logs.glob("heron-70b/job-41233.*"):
        log.unlink()


def an_error_without_a_clock(logs: Path) -> None:
    """Write a job that held eight GPUs for half an hour and left an error, and nothing that has a time."""
    write_job(logs, ERROR)


def an_error_in_the_whole_output(logs: Path) -> None:
    """Write the same error into the one output of the job."""
    write_job(logs, ERROR, name="slurm-700.out")


def an_error_below_a_time(logs: Path) -> None:
    """Write the same job with one dated line above the error."""
    write_job(logs, DATED + ERROR)


def error_streams_alone(logs: Path) -> None:
    """Copy the sample that has lost the output of its trainers: error streams and what nodes tell is left."""
    shutil.copytree(SAMPLES / "fallen-gpu", logs)
    for log in logs.glob("heron-70b/job-*.out"):
        log.unlink()


def error_streams_and_accounting(logs: Path) -> None:
    """Copy nothing but the error streams and the accounting of the sample."""
    error_streams_alone(logs)
    shutil.rmtree(logs / "nodes")


def write_job(logs: Path, text: str, name: str = "job-700.err") -> None:
    """Write the output of job 700 and its record of accounting."""
    (logs / "heron").mkdir(parents=True)
    (logs / "heron" / name).write_text(text, encoding="utf-8")
    (logs / "sacct.txt").write_text(
        f"{HEAD}700|700|FAILED|2026-03-03T06:50:00|2026-03-03T06:50:00|2026-03-03T07:00:00|2026-03-03T07:30:00"
        "|1800|1|gres/gpu=8,node=1|1:0|gx010|0|heron\n",
        encoding="utf-8",
    )


#: How logs are written, the attempt, and what is expected of its end.
CASES: dict[str, tuple[Callable[[Path], None], str, dict[str, Any]]] = {
    # Held from 08:27 to 09:13, and no line of it: its release is all that is known. The next step at 09:25:45
    # is 765 s later. The kernel of gx012 tells of a process that went, which is no time of a fault.
    "accounting alone": (
        without_the_trainer_of_job_41233,
        "heron-70b/41233.0/1",
        {
            "at": "2026-03-03T09:13:00Z",
            "mark": "†¶",
            "points": {"last_progress": None, "fault": None, "detected": None, "released": "09:13:00"},
            "estimated": [],
            "failed_start": False,
            "categories": [("unobserved", 2760.0)],
            "recovery": (None, 765.0, 765.0),
            "life": (2760.0, True),
        },
    ),
    # An error stream without a clock tells of an error, and neither of steps nor of when in the 1,800 s.
    "an error without a clock": (
        an_error_without_a_clock,
        "heron/700.0/1",
        {
            "at": "2026-03-03T07:30:00Z",
            "points": {"last_progress": None, "fault": None, "detected": None, "released": "07:30:00"},
            "estimated": [],
            "failed_start": False,
            "categories": [("unobserved", 1800.0)],
            "recovery": (None, None, None),
            "life": (1800.0, True),
        },
    ),
    # In the whole output of the job the same error tells why a start failed.
    "an error in the whole output": (
        an_error_in_the_whole_output,
        "heron/700.0/1",
        {
            "at": "2026-03-03T07:30:00Z",
            "points": {"last_progress": None, "fault": None, "detected": None, "released": "07:30:00"},
            "estimated": [],
            "failed_start": True,
            "categories": [("unobserved", 1800.0)],
            "recovery": (None, None, None),
            "life": (1800.0, False),
        },
    ),
    # Held from 07:00. A rank said at 08:13:26 that it had waited 600.002 s, since 08:03:25.998, and the
    # kernel of gx017 lost its card at 08:03:20: processes were up by then, and 3,800 s before it nobody
    # saw. From there to 08:13:26 are 606 s, and 94 s more to the release at 08:15:00. No later attempt is
    # known to have made a step.
    "error streams alone": (
        error_streams_alone,
        "heron-70b/41207.0/1",
        {
            "at": "2026-03-03T08:03:20Z",
            "points": {
                "last_progress": None,
                "fault": "08:03:20",
                "detected": "08:13:26",
                "released": "08:15:00",
                "processes_up": "09:01:00",
            },
            "estimated": ["processes_up"],
            "mark": "",
            "failed_start": False,
            "categories": [("teardown", 94.0), ("hang", 606.0), ("unobserved", 3800.0)],
            "recovery": (606.0, None, None),
            "life": (3800.0, True),
        },
    ),
    # The same without the kernel's word: since 08:03:25.998, and 3,805.998 s that nobody saw.
    "error streams and accounting": (
        error_streams_and_accounting,
        "heron-70b/41207.0/1",
        {
            "at": "2026-03-03T08:03:25.998000Z",
            "points": {
                "last_progress": None,
                "fault": "08:03:25",
                "detected": "08:13:26",
                "released": "08:15:00",
                "processes_up": "09:01:00",
            },
            "estimated": ["processes_up"],
            "mark": "",
            "failed_start": False,
            "categories": [("teardown", 94.0), ("hang", 600.002), ("unobserved", 3805.998)],
            "recovery": (600.002, None, None),
            "life": (3805.998, True),
        },
    ),
    # Up at 07:04 at the latest, and alive then: nobody saw a process in the 240 s before,
    # and in the 1,560 s after it may have gone.
    "an error below a time": (
        an_error_below_a_time,
        "heron/700.0/1",
        {
            "at": "2026-03-03T07:04:00Z",
            "points": {
                "last_progress": "07:04:00",
                "fault": None,
                "detected": "07:04:00",
                "released": "07:30:00",
            },
            "estimated": ["last_progress", "detected"],
            "failed_start": True,
            "categories": [("provisioning", 240.0), ("teardown", 1560.0)],
            "recovery": (None, None, None),
            "life": (0.0, False),
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_time_that_nobody_saw_is_known_nowhere(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, incident, expected = CASES[case]
    write(tmp_path / "logs")
    store = tmp_path / "store"
    assert run(["ingest", str(tmp_path / "logs"), "--store", str(store)]) == 0
    assert run(["classify", "--store", str(store)]) == 0
    capsys.readouterr()
    assert run(["explain", incident, "--store", str(store), "--neighbours", "0", "--format", "json"]) == 0
    story = json.loads(capsys.readouterr().out)
    head, phases = story["incident"], {phase["point"]: phase for phase in story["phases"]}
    points = {name: (phases[name]["at"] or "")[11:19] or None for name in expected["points"]}
    assert (head["at"], head["failed_start"]) == (expected["at"], expected["failed_start"])
    assert points == expected["points"]
    assert head["mark"] == expected.get("mark", "†")
    assert [name for name in expected["points"] if phases[name]["estimated"]] == expected["estimated"]
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        row = records(con, "from ledger.incidents where incident_id = ?", [incident])[0]
        recovery = records(con, "from marts.recovery where incident_id = ?", [incident])[0]
        life = records(con, "from marts.lifetimes where incident_id = ?", [incident])[0]
        held = records(
            con,
            "select category, sum(seconds) as s from ledger.intervals where held and attempt = ? "
            "group by all order by s",
            [row["attempt"]],
        )
    told = [name for name, at in points.items() if at is not None]
    assert [name for name in points if row[f"{name}_ts"] is not None] == told
    assert (recovery["detected_ts"], recovery["fault_ts"]) == (row["detected_ts"], row["fault_ts"])
    assert (
        tuple(recovery[f"{name}_s"] for name in ("detection", "recovery", "outage")) == expected["recovery"]
    )
    assert [(one["category"], one["s"]) for one in held] == expected["categories"]
    assert (life["life_s"], life["counted"]) == expected["life"]


@pytest.mark.parametrize("trainer", ["levanter", "megatron_bridge", "nanotron"])
def test_a_start_of_which_its_trainer_told_no_time_is_unobserved(trainer: str, tmp_path: Path) -> None:
    """What its time was spent on is true of the story, and not known to anybody who reads its logs."""
    plan = Plan(trainer=trainer, gpus=16, target=60, steps_between=(12, 24), max_attempts=6, failed_start=0.6)
    story = invent(1, (trainers()[trainer].fit(replace(plan, ends=dict.fromkeys(ENDS, 1.0))),))
    (story_run,) = story.runs
    failed = [it for it in story_run.attempts if it.init_us is None]
    untold = slack_of(story_run, Style()).untold
    assert [story_run.jobs[it.job].start_us for it in failed] == [start for start, _ in untold] != []
    assert violations(story, tmp_path, Style()) == []
    # From the allocation to what ended it, and nothing of the others.
    with ledger(tmp_path) as con:
        told = con.execute("""
            select epoch_us(start_ts), epoch_us(end_ts) from ledger.intervals
            where category = 'unobserved' order by start_ts
        """).fetchall()
    assert [start for start, _ in told] == [start for start, _ in untold]
    for (_, end), it in zip(told, failed, strict=True):
        assert it.end is not None
        assert abs(end - it.end.stop_us) <= 2_000_000
