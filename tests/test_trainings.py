"""Several trainings in one log: one that had reached its last step is not overwritten by the next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions

BEGIN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
START = "using world size: 8, data-parallel size: 8, tensor-model-parallel size: 1\n"


def lines(first_s: int, steps: int, target: int) -> str:
    """Return the start and the step lines of a training: a step each ten seconds from ``first_s`` on."""
    text = START
    for step in range(1, steps + 1):
        at = (BEGIN + timedelta(seconds=first_s + 10 * step)).strftime("%Y-%m-%d %H:%M:%S")
        text += (
            f" [{at}] iteration {step:8d}/{target:8d} | consumed samples: {step * 64:12d} | elapsed time per "
            "iteration (ms): 10000.0 | learning rate: 1.5E-04 | global batch size:   64 | lm loss: 3.2E+00 | "
            "loss scale: 1.0 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        )
    return text


def ledger_of(
    text: str, folder: Path
) -> tuple[dict[tuple[int, str], float], list[tuple[int, int | None]], str]:
    """Return seconds by attempt and category, up to which step each attempt survives, and the flags."""
    (folder / "logs" / "heron-7b").mkdir(parents=True)
    (folder / "logs" / "heron-7b" / "train.log").write_text(text, encoding="utf-8")
    ingest([str(folder / "logs")], folder / "store", EMPTY_CONFIG, workers=1)
    assert classify(folder / "store", EMPTY_CONFIG, WindowOptions()).violations == ()
    with open_store(folder / "store") as con:
        spent = con.execute(
            "select attempt, category, sum(end_us - start_us) / 1e6 from ledger.intervals group by all"
        ).fetchall()
        survive = con.execute("select attempt, survives_to from ledger.survival order by attempt").fetchall()
        flags = con.execute("select array_to_string(flags, '; ') from ledger.runs").fetchall()
    return {(attempt, what): s for attempt, what, s in spent}, survive, flags[0][0]


def test_a_training_that_reached_its_last_step_survives_the_next_one(tmp_path: Path) -> None:
    # 30 of 30 steps from 10:00 on, then from 10:10 on 12 of 30: the first one's steps are nobody's loss.
    spent, survive, flags = ledger_of(lines(0, 30, 30) + lines(600, 12, 30), tmp_path)
    assert survive == [(1, 30), (2, 12)]
    assert [key for key in spent if key[1] == "lost_work"] == []
    # The run is known from its first stamp on, the end of step 1: 29 steps of 10 s, then all 12 of the other.
    assert (spent[1, "productive"], spent[2, "productive"]) == (290.0, 120.0)
    assert "several runs share this name" in flags


def test_a_training_that_was_cut_is_overwritten_by_the_next_one(tmp_path: Path) -> None:
    # The same, but that the first one meant to make 60 steps: it is done again from scratch.
    spent, survive, flags = ledger_of(lines(0, 30, 60) + lines(600, 12, 60), tmp_path)
    assert survive == [(1, None), (2, 12)]
    # 29 steps of 10 s behind the first stamp, and half an interval of lines for an end that nothing dates.
    assert spent[1, "lost_work"] == 295.0
    assert "several runs share this name" not in flags
