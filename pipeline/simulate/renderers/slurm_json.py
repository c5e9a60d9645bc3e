"""Accounting of Slurm as JSON: what ``sacct --json`` of 24.11 prints of the jobs of a story."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pipeline.simulate.ranges import host_list
from pipeline.simulate.renderers.slurm import by_submission
from pipeline.simulate.story import SECOND, Job, Run

#: What the state is besides a flag that hides it in the text form.
_BASES = {"REQUEUED": "COMPLETED", "RESIZING": "RUNNING"}


def accounting_json(runs: list[Run]) -> Iterator[str]:
    """Yield the lines of the document; its times are seconds since the epoch, whatever the zone."""
    document = {
        "jobs": [_job(job, run) for job, run in by_submission(runs)],
        "meta": {
            "plugin": {"type": "", "name": "", "data_parser": "data_parser/v0.0.42"},
            "slurm": {"version": {"major": "24", "micro": "6", "minor": "11"}, "release": "24.11.6"},
        },
        "errors": [],
        "warnings": [],
    }
    yield from json.dumps(document, indent=2).replace("/", "\\/").splitlines()


def _job(job: Job, run: Run) -> dict[str, Any]:
    """Return the record of one allocation."""
    state, _, uid = job.state.partition(" by ")
    running = state == "RUNNING"
    end = 0 if running else job.end_us // SECOND
    start = job.start_us // SECOND
    resources = [
        _resource("cpu", "", 1, job.gpus * 28),
        _resource("node", "", 4, len(job.hosts)),
        _resource("billing", "", 5, job.gpus * 14),
        _resource("gres", "gpu", 1001, job.gpus),
        _resource("gres", "gpu:h100", 1002, job.gpus),
    ]
    code = _exit_code(job.exit_code)
    return {
        "account": "llm",
        "allocation_nodes": len(job.hosts),
        "array": {"job_id": 0, "task_id": _number(None)},
        "cluster": "aviary",
        "derived_exit_code": code,
        "time": {
            "elapsed": (job.end_us - job.start_us) // SECOND,
            "eligible": job.eligible_us // SECOND,
            "end": end,
            "start": start,
            "submission": job.submit_us // SECOND,
            "suspended": 0,
            "limit": _number(2880),
        },
        "exit_code": code,
        "failed_node": "",
        "job_id": job.job_id,
        "restart_cnt": job.restart,
        "name": run.name,
        "nodes": host_list(job.hosts),
        "partition": "h100",
        "qos": "normal",
        "kill_request_user": uid,
        "state": {"current": [_BASES[state], state] if state in _BASES else [state], "reason": "None"},
        "steps": [
            {
                "time": {"elapsed": 1, "start": _number(start), "end": _number(end or None)},
                "step": {"id": f"{job.job_id}.batch", "name": "batch"},
                "exit_code": code,
                "state": [_BASES.get(state, state)],
            }
        ],
        "tres": {"allocated": resources, "requested": resources},
        "user": "mira",
    }


def _resource(kind: str, name: str, number: int, count: int) -> dict[str, Any]:
    """Return one trackable resource."""
    return {"type": kind, "name": name, "id": number, "count": count}


def _number(value: int | None) -> dict[str, Any]:
    """Return a number that may be unset."""
    return {"set": value is not None, "infinite": False, "number": value or 0}


def _exit_code(text: str) -> dict[str, Any]:
    """Return how a job ended, from its code and signal."""
    code, _, signal = text.partition(":")
    if signal != "0":
        return {
            "status": ["SIGNALED"],
            "return_code": _number(None),
            "signal": {"id": _number(int(signal)), "name": ""},
        }
    status = "SUCCESS" if code == "0" else "ERROR"
    return {
        "status": [status],
        "return_code": _number(int(code)),
        "signal": {"id": _number(None), "name": ""},
    }
