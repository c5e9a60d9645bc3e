"""Trainers of the simulator: each line is read as what it was, and each story comes out as it was."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import get_args

import duckdb
import polars as pl
import pytest

from pipeline.cli import run as command
from pipeline.formats import registry
from pipeline.ingest.match import match_format
from pipeline.simulate.blemishes import AccountingForm, Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Ending, Plan
from pipeline.simulate.renderers import BESIDE, Trainer, trainers
from pipeline.simulate.story import SECOND
from pipeline.simulate.write import write_story
from tests.simulated import violations
from tests.together import side_by_side
from tests.trainer_lines import LINES

ENDS = {
    "gpu_off_bus_hang": 1.0,
    "double_bit_ecc": 1.0,
    "collective_hang": 1.0,
    "time_limit": 1.0,
    "operator_stop": 1.0,
}


def run_of(trainer: str) -> str:
    return f"heron-{trainer.replace('_', '-')}"


def plan_of(trainer: str, seed: int) -> Plan:
    """Return a small run with a fault of every second seed inside its allocation."""
    rng = Random(f"{trainer}/{seed}")
    return Plan(
        name=run_of(trainer),
        trainer=trainer,
        target=120,
        max_attempts=3,
        steps_between=(55, 75),
        eval_every=70,
        loop_gap=0.02,
        ends=ENDS,
        save_async=rng.random() < 0.5,
        requeue=rng.choice((0.0, 0.5)),
        restart_inside=rng.choice((0.0, 0.5)),
        narrow=rng.choice((0.0, 0.3)),
    )


@pytest.mark.parametrize(("seed", "interval"), [(1, 1), (2, 5)])
def test_the_ledger_is_the_truth(seed: int, interval: int, tmp_path: Path) -> None:
    """In a cluster with every trainer no stretch differs by more than stamps and one interval allow."""
    story = invent(seed, tuple(plan_of(trainer, seed) for trainer in trainers()))
    assert violations(story, tmp_path, Style(log_interval=interval)) == []


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cluster, read, with a run of every trainer that has all there is to tell."""
    plans = {
        run_of(trainer): Plan(
            trainer=trainer,
            target=120,
            max_attempts=2,
            steps_between=(55, 58),
            eval_every=70,
            loop_gap=0.02,
            ends={"time_limit": 1.0},
        )
        for trainer in trainers()
    }
    folder = tmp_path_factory.mktemp("printed")
    write_story(side_by_side({name: invent(5, (plan,)) for name, plan in plans.items()}), folder, Style())
    assert command(["ingest", str(folder / "logs"), "--store", str(folder / "store")]) == 0
    return folder


@pytest.mark.parametrize("trainer", trainers().values(), ids=trainers())
def test_every_line_is_known(trainer: Trainer, printed: Path) -> None:
    """The format of the trainer reads every line of its run."""
    files = str(printed / "store" / "events" / "sources" / "**" / "*.parquet")
    rows = duckdb.sql(
        f"select format, unknown_lines, bad_lines from read_parquet('{files}')"
        f" where role = 'trainer' and path like '{run_of(trainer.name)}/%'"
    ).fetchall()
    assert rows == [(trainer.format, 0, 0)] * len(rows)
    assert rows
    logs = sorted((printed / "logs" / run_of(trainer.name)).iterdir())
    text = "\n".join(log.read_text(encoding="utf-8") for log in logs)
    for pattern, piece in LINES.get(trainer.name, {}).items():
        assert piece in text, pattern
        assert pattern in {known.name for known in registry()[trainer.format].patterns}


def test_every_format_is_written_or_says_why() -> None:
    """A format without a renderer names its reason, and one that has a renderer none."""
    written = {trainer.format for trainer in trainers().values()} | BESIDE
    silent = {name for name, fmt in registry().items() if fmt.unrendered}
    assert set(registry()) == written | silent
    assert not written & silent


def test_what_is_written_beside_trainers_is_read(tmp_path: Path) -> None:
    """Each format that stories are said to hold knows lines of a story with ends of many kinds."""
    kinds = ("collective_hang", "gpu_off_bus_hang", "key_error", "time_limit", "prolog_failed")
    plan = Plan(gpus=16, target=400, max_attempts=12, ends=dict.fromkeys(kinds, 1.0))
    story = invent(3, (plan,))
    for form in get_args(AccountingForm):
        write_story(story, tmp_path / form, Style(), Blemishes(accounting=form))
    write_story(story, tmp_path / "kernel", Style(), Blemishes(kernel="json"))
    files = sorted(path for path in tmp_path.glob("*/logs/**/*") if path.is_file())
    lines = [pl.Series(path.read_text(encoding="utf-8").splitlines()) for path in files]
    found = {name for name in BESIDE for text in lines if match_format(registry()[name], text).known.len()}
    assert sorted(BESIDE - found) == []


def test_a_plan_loses_what_a_trainer_cannot_show() -> None:
    """A benchmark that saves nothing and loads nothing gets no save, and its start is one phase."""
    plan = trainers()["mlperf"].fit(Plan(trainer="mlperf", data_stall=0.5, eval_every=10))
    assert (plan.save_every, plan.data_stall, plan.eval_every) == (0, 0.0, 10)
    assert plan.setup_s == plan.warmup_s == (0.0, 0.0)
    attempts = invent(3, (Plan(trainer="mlperf", max_attempts=3),)).runs[0].attempts
    assert not any(attempt.saves or attempt.restore for attempt in attempts)


def test_the_last_step_is_saved_where_a_trainer_does_so() -> None:
    """The loop stands still until the last save is whole, and ends then."""
    plan = Plan(trainer="torchtitan", target=60, max_attempts=1)
    last = invent(1, (plan,)).runs[0].attempts[-1]
    save = last.saves[-1]
    assert save.step == 60
    assert last.end is not None
    assert save.blocked_us == save.durable_us == last.end.stop_us
    # Nor does an end come that would have come inside of it: whoever made the last step completes.
    assert last.loop_us is not None
    script = (Ending("key_error", (save.start_us - last.loop_us) / SECOND + 1.0),)
    assert invent(1, (replace(plan, script=script),)).runs[0].attempts == [last]
    other = invent(1, (replace(plan, trainer="megatron"),)).runs[0].attempts[-1]
    assert other.saves[-1].step == 50


def test_the_line_after_the_first_one_is_a_mean_of_both() -> None:
    """Releases with a line for the first step of a process do not set their timer to zero for it."""
    told = invent(1, (Plan(target=60, max_attempts=1),)).runs[0]
    attempt = told.attempts[0]
    lines = [
        line.text
        for line in trainers()["megatron"].render(told, told.jobs[0], attempt, Style())
        if "elapsed time per iteration" in line.text
    ]
    mean = float(re.findall(r"iteration \(ms\): ([\d.]+)", lines[1])[0])
    first, second = attempt.steps[:2]
    assert mean == pytest.approx((second.end_us - first.start_us) / 2000, abs=0.06)
