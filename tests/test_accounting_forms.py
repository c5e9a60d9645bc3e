"""What another scheduler or another command would have exported of a story gives the same ledger."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.ingest.match import match_format
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers.slurm import accounting
from pipeline.simulate.renderers.slurm_json import accounting_json
from pipeline.simulate.story import Story
from tests.exports import (
    Row,
    completion_json,
    completion_log,
    controller_jobs,
    lsf,
    lsf_prose,
    old_json,
    pbs,
    qacct,
    qstat,
    sge,
)
from tests.simulated import ledger
from tests.together import Told, side_by_side, tell, write_apart

Form = tuple[Callable[[list[Row]], Iterator[str]], str, tuple[str, ...], int]

#: Ends that every form can tell, and those for which it needs a word.
PLAIN = ("collective_hang", "gpu_off_bus_hang", "key_error", "time_limit", "node_lost")
WORDY = (*PLAIN, "preempted", "operator_stop")


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
    (qstat, "pbs_jobs", (*PLAIN, "operator_stop"), 3),
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
