"""The pods of a story tell what its accounting tells: the same ledger, however the objects were written."""

from __future__ import annotations

import json
import shutil
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from explained import build_logs

from pipeline.ingest.hostlist import expand_hostlist
from pipeline.ledger.query import open_store
from tests.once import sample_store

STORY = Path(__file__).resolve().parents[1] / "data" / "samples" / "fallen-gpu"

LEDGER = (
    "select attempt, part, start_ts, end_ts, gpus, category, was from ledger.intervals order by all",
    "select attempt, kind, cause, evidence_text, lost_steps, total_gpu_s from ledger.incidents order by all",
)


def pod(job: dict[str, str], attempt: int, number: int, host: str) -> dict[str, Any]:
    """Return one pod of a job of accounting."""
    good = job["State"] == "COMPLETED"
    start, end = (f"{job[name]}Z" for name in ("Start", "End"))
    terminated = {
        "exitCode": int(job["ExitCode"].split(":")[0]),
        "reason": "Completed" if good else "Error",
        "startedAt": start,
        "finishedAt": end,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{job['JobName']}-worker-0-{number}-{attempt}x9k2",
            "namespace": job["Account"],
            "creationTimestamp": f"{job['Submit']}Z",
            "labels": {
                "jobset.sigs.k8s.io/jobset-name": job["JobName"],
                "jobset.sigs.k8s.io/restart-attempt": str(attempt),
            },
        },
        "spec": {
            "nodeName": host,
            "containers": [{"name": "trainer", "resources": {"limits": {"nvidia.com/gpu": "8"}}}],
        },
        "status": {
            "phase": "Succeeded" if good else "Failed",
            "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": start}],
            "containerStatuses": [{"name": "trainer", "state": {"terminated": terminated}}],
        },
    }


def pods_of(accounting: Path) -> list[dict[str, Any]]:
    """Return a pod for each node of each job of an export of accounting."""
    header, *lines = (line.split("|") for line in accounting.read_text(encoding="utf-8").splitlines())
    jobs = [job for line in lines if (job := dict(zip(header, line, strict=True)))["JobID"].isdigit()]
    return [
        pod(job, attempt, number, host)
        for attempt, job in enumerate(jobs)
        for number, host in enumerate(expand_hostlist(job["NodeList"]))
    ]


def ledger_of(store: Path) -> list[Any]:
    """Return the intervals and incidents that a store holds, which breaks no law."""
    with open_store(store) as con:
        assert con.execute("select * from checks.results where rows > 0").fetchall() == []
        return list(chain.from_iterable(con.execute(sql).fetchall() for sql in LEDGER))


@pytest.fixture(scope="module")
def told_by_slurm(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return ledger_of(sample_store(tmp_path_factory, STORY.name))


@pytest.mark.parametrize("written", ["one line", "yaml"])
def test_pods_give_the_ledger_of_accounting(written: str, told_by_slurm: list[Any], tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(STORY, logs)
    pods = pods_of(logs / "sacct.txt")
    (logs / "sacct.txt").unlink()
    whole = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": pods}
    text = {
        "one line": json.dumps(whole),
        "yaml": yaml.safe_dump(whole),
    }[written]
    (logs / "objects").write_text(text, encoding="utf-8")
    assert len(told_by_slurm) > 20
    assert ledger_of(build_logs(logs, tmp_path / "store")) == told_by_slurm
