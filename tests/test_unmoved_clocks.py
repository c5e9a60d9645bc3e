"""Goodput had no clock been corrected: that of a ledger which corrects none."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from pipeline.config import load_config
from pipeline.ledger.build import DATABASE, sql_folder
from pipeline.ledger.build import classify as build_ledger
from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.lines import Style
from pipeline.simulate.write import write_story
from pipeline.windows import WindowOptions
from tests.simulated import classify, ledger
from tests.test_simulate_clocks import story_of

FIGURES = "select run_id, as_is, clocks_not_corrected from marts.sensitivity order by run_id"


def test_without_a_correction_the_figure_is_that_of_a_ledger_that_corrects_none(tmp_path: Path) -> None:
    story, found = story_of(3, trainer="torchtitan"), {}
    for name, skew in (("true", {}), ("ahead", {"gx101": 5_500_000})):
        out = tmp_path / name
        write_story(story, out, Style(1, 0, skew), Blemishes(every_rank=True, prefix="host"))
        classify(out)
        with ledger(out) as con:
            found[name] = con.execute(FIGURES).fetchall()
    # Nothing was corrected, nothing differs; what was corrected tells what it would have been.
    assert all(as_is == unmoved for _, as_is, unmoved in found["true"])
    assert [row[:2] for row in found["ahead"]] == [row[:2] for row in found["true"]]
    assert all(as_is != unmoved for _, as_is, unmoved in found["ahead"])

    store = tmp_path / "ahead" / "store"
    sql = tmp_path / "sql"
    shutil.copytree(sql_folder(), sql)
    clocks = sql / "staging" / "clock_offsets.sql"
    text = clocks.read_text(encoding="utf-8")
    assert text.count("abs(ahead_us) > 1000000 as moves") == 1
    clocks.write_text(text.replace("abs(ahead_us) > 1000000 as moves", "false as moves"), encoding="utf-8")
    again = tmp_path / "again"
    again.mkdir()
    for part in ("events", "config", "manifest.json"):
        (again / part).symlink_to(store / part)
    build_ledger(again, load_config([str(tmp_path / "ahead" / "logs")]), WindowOptions(), sql)
    with duckdb.connect(str(again / DATABASE), read_only=True) as con:
        other = con.execute(
            "select run_id, training_time_goodput from marts.period order by run_id"
        ).fetchall()
    assert [(row[0], row[2]) for row in found["ahead"]] == other
