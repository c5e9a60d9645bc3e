"""Kinds of ends: the catalogue of signals knows their lines, and the ledger finds their causes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from pipeline.ingest.lines import build_frame
from pipeline.ingest.signals import load_signals
from pipeline.simulate.faults import BY_NAME, FAULTS
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style, last_words
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import Story

SEEDS = Path(__file__).resolve().parents[1] / "sql" / "seeds"
KINDS = {row["code"]: row["kind"] for row in pl.read_csv(SEEDS / "causes.csv").rows(named=True)}
CAUSES = {row["signal_id"]: row for row in pl.read_csv(SEEDS / "signals.csv").rows(named=True)}

#: Kinds that no signal tells of: the state of the job, or what the trainer says when it leaves, does.
UNSIGNALLED = {"completed", "in_progress"}
ENDS = [fault for fault in FAULTS if fault.name not in UNSIGNALLED]


def story_of(*names: str, **more: object) -> Story:
    """Return a small story in which the kinds of ends have equal chances."""
    plan = Plan(
        gpus=16,
        target=60,
        save_every=10,
        steps_between=(3, 8),
        max_attempts=4,
        ends=dict.fromkeys(names, 1.0),
        **more,  # type: ignore[arg-type]
    )
    return invent(7, (plan,))


@cache
def said(name: str) -> tuple[str, ...]:
    """Return every line that the first end of a kind leaves behind."""
    (run,) = story_of(name).runs
    it = run.attempts[0]
    places = ("kernel", "rank", "scheduler")
    return tuple(
        line.text for place in places for line in last_words(run, run.jobs[it.job], it, Style(), place)
    )


@cache
def signals_of(name: str) -> tuple[str, ...]:
    """Return the signals that ingest takes the lines of a kind for."""
    frame = build_frame(pl.Series(said(name), dtype=pl.String), 1)
    best: list[str | None] = [None] * frame.height
    for signal in load_signals():
        hit = frame["text"].str.contains(signal.literal, literal=True)
        for at in (hit & frame["text"].str.contains(signal.regex)).arg_true():
            best[at] = best[at] or signal.signal_id
    return tuple(name for name in best if name is not None)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(FAULTS)


def test_every_kind_of_end_has_a_cause_of_the_taxonomy() -> None:
    wrong = {
        f.name: (f.cause, f.kind) for f in FAULTS if f.cause != "in_progress" and KINDS[f.cause] != f.kind
    }
    assert wrong == {}


@pytest.mark.parametrize("name", [fault.name for fault in ENDS])
def test_the_catalogue_knows_its_cause(name: str) -> None:
    fault = BY_NAME[name]
    found = {CAUSES[signal]["cause"] for signal in signals_of(name)}
    if fault.farewell:
        found |= {"time_limit"} if fault.farewell.startswith("exiting program after 2") else set()
    assert fault.cause in found
