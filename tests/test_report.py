"""The review end to end: model, PDF and HTML of invented stores."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from pipeline.config import EMPTY_CONFIG
from pipeline.errors import GoodputError
from pipeline.ledger.build import classify
from pipeline.ledger.query import open_store
from pipeline.report.charts.days import Days
from pipeline.report.load import load_facts
from pipeline.report.model import Figure, Page, Table
from pipeline.report.review import build_review, write_review
from pipeline.report.sections.given import Given
from pipeline.windows import WindowOptions
from tests.report.fixture import HOSTILE, MONDAY, SHORT, STEPLESS, WEEK, RunStory, build_store
from tests.report.golden import GOLDEN, write_golden_review
from tests.stores import write_store

STORIES = {"week": WEEK, "short": SHORT, "stepless": STEPLESS, "hostile": HOSTILE}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("stores")
    return {name: build_store(folder / name, stories) for name, stories in STORIES.items()}


@pytest.fixture(scope="module")
def outs(stores: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A review of each story."""
    folder = tmp_path_factory.mktemp("outs")
    for name, store in stores.items():
        write_review(store, folder / name, EMPTY_CONFIG)
    return {name: folder / name for name in stores}


def pages_of(store: Path) -> dict[str, Page]:
    with open_store(store) as con:
        review = build_review(load_facts(con), Given(), "a4")
    return {page.key: page for page in review.pages}


def table_of(page: Page, name: str) -> Table:
    return next(block for block in page.blocks if isinstance(block, Table) and block.name == name)


def test_golden_model(tmp_path: Path) -> None:
    """`python -m tests.report.golden` rewrites it; read the difference line by line."""
    assert json.loads(write_golden_review(tmp_path).read_text()) == json.loads(GOLDEN.read_text())


def test_the_summary_tells_what_was_written(stores: dict[str, Path], tmp_path: Path) -> None:
    summary = write_review(stores["week"], tmp_path, EMPTY_CONFIG)
    names = {str(path.relative_to(tmp_path)) for path in summary.files}
    charts = (
        *("product", "bridge", "days", "hours", "multiples", "attempts", "pareto"),
        *("survival", "failures", "anatomy", "saves", "lost", "overhead", "pace", "split", "events"),
        "coverage",
    )
    assert names == {"review.pdf", "review.html", "model.json", *(f"charts/{name}.svg" for name in charts)}
    assert all(path.stat().st_size > 0 for path in summary.files)
    model = json.loads((tmp_path / "model.json").read_text())
    assert summary.headline == model["headline"]
    assert summary.headline == model["pages"][0]["sentence"]
    assert summary.second == model["second"]


@pytest.mark.parametrize("name", STORIES)
def test_same_store_same_bytes(
    name: str, stores: dict[str, Path], outs: dict[str, Path], tmp_path: Path
) -> None:
    summary = write_review(stores[name], tmp_path, EMPTY_CONFIG)
    for path in summary.files:
        inner = path.relative_to(tmp_path)
        assert path.read_bytes() == (outs[name] / inner).read_bytes(), inner


def test_a_chart_that_an_earlier_review_left_is_removed(stores: dict[str, Path], tmp_path: Path) -> None:
    write_review(stores["week"], tmp_path, EMPTY_CONFIG)
    write_review(stores["short"], tmp_path, EMPTY_CONFIG)
    assert not (tmp_path / "charts" / "multiples.svg").exists()


@pytest.mark.parametrize("name", STORIES)
def test_pages_keep_their_order_and_each_says_something(name: str, stores: dict[str, Path]) -> None:
    pages = list(pages_of(stores[name]).values())
    assert [page.number for page in pages] == list(range(1, 9))
    for page in pages:
        assert page.sentence.endswith("."), page.key
    empty = {page.number for page in pages if not page.blocks}
    assert empty == {"short": {4, 7}, "stepless": {5, 6, 7}}.get(name, set())


@pytest.mark.parametrize("name", STORIES)
def test_tables_are_complete(name: str, stores: dict[str, Path]) -> None:
    for page in pages_of(stores[name]).values():
        for block in page.blocks:
            if isinstance(block, Table):
                rows = (*block.rows, *block.more)
                assert {len(row.cells) for row in rows} == {len(block.columns)}, block.name
                if any(row.detail for row in rows):
                    assert 0 in (block.columns[0].share, block.columns[-1].share), block.name


def test_losses_of_page_one_add_up_to_the_total(stores: dict[str, Path]) -> None:
    table = table_of(pages_of(stores["week"])["summary"], "causes")
    hours = [float(row.cells[4].replace(",", "")) for row in table.rows]
    assert hours[-1] == pytest.approx(sum(hours[:-1]), abs=len(hours) / 2)
    shares = [float(row.cells[5].rstrip("\u202f%")) for row in table.rows]
    assert shares[-1] == pytest.approx(sum(shares[:-1]), abs=len(shares) * 0.05)


def test_shares_are_of_training_capacity_and_agree_with_the_headline(stores: dict[str, Path]) -> None:
    with open_store(stores["week"]) as con:
        facts = load_facts(con)
    total = facts.total
    assert total.training_time_goodput == pytest.approx(
        1 - total.lost_gpu_s / total.training_gpu_s, abs=1e-12
    )
    lost = sum(cause.gpu_s for cause in facts.causes)
    assert lost == pytest.approx(total.capacity_gpu_s - total.productive_gpu_s, rel=1e-12)


def test_incidents_are_listed_with_owner_and_evidence(stores: dict[str, Path]) -> None:
    table = table_of(pages_of(stores["week"])["broke"], "incidents")
    first = table.rows[0]
    assert first.cells[4] == "GPU fell off the bus"
    assert first.cells[-1] == "cluster operations"
    assert first.detail.startswith(
        "goodput explain heron-70b/880001.0/1 · heron-70b/job-880001.err:1237  NVRM: Xid"
    )
    assert first.anchor == "incident-heron-70b-880001.0-1"
    assert len(table.rows) == 11


def test_what_nobody_saw_lost_is_a_dash_and_told(stores: dict[str, Path]) -> None:
    with open_store(stores["week"]) as con:
        facts = load_facts(con)
    first, *rest = facts.interruptions
    unseen = replace(facts, incidents=(replace(first, lost_work_s=None), *rest))
    table, before = (
        table_of({page.key: page for page in build_review(one, Given(), "a4").pages}["broke"], "incidents")
        for one in (unseen, facts)
    )
    lost = [column.title.startswith("lost work") for column in table.columns].index(True)
    assert (table.rows[0].cells[lost], before.rows[0].cells[lost] == "–") == ("–", False)
    reason = "Lost work –: no log tells whether the attempt made steps, so that it is not known."
    assert (reason in table.after, reason in before.after) == (True, False)


def test_footnotes_are_set_by_the_data(stores: dict[str, Path]) -> None:
    pages = pages_of(stores["week"])
    assert [mark[0] for mark in pages["broke"].marks] == ["†", "¶"]
    assert pages["where"].marks == ()
    assert pages_of(stores["short"])["broke"].marks == ()


def test_marks_of_causes_are_told_as_those_of_incidents(stores: dict[str, Path]) -> None:
    with open_store(stores["short"]) as con:
        facts = load_facts(con)
    marked = replace(
        facts, causes=tuple(replace(one, mark="§") if one.is_incident else one for one in facts.causes)
    )
    assert any(one.is_incident for one in marked.loss_causes)
    page = {page.key: page for page in build_review(marked, Given(), "a4").pages}["broke"]
    assert [mark[0] for mark in page.marks] == ["§"]


def test_of_many_incidents_the_costliest_are_printed_and_the_rest_is_kept(tmp_path: Path) -> None:
    one = WEEK[0].ends[0]
    many = replace(WEEK[0], ends=(*(replace(one, hours=2.0 + n / 10, lost=5.0 + n) for n in range(26)), one))
    table = table_of(pages_of(build_store(tmp_path, (many,)))["broke"], "incidents")
    assert (len(table.rows), len(table.more)) == (21, 7)


def test_actions_are_carried_over_and_proposed(tmp_path: Path) -> None:
    items = json.loads(write_golden_review(tmp_path).read_text())["pages"][0]["blocks"][3]["left"]["items"]
    assert [item["lead"] for item in items] == [
        "A-7 · cluster operations",
        "new 1 · cluster operations",
        "new 2 · network",
    ]


def test_without_a_target_the_budget_says_so_in_one_line(outs: dict[str, Path], tmp_path: Path) -> None:
    store = build_store(tmp_path / "store", SHORT, targets=(), price=None)
    write_review(store, tmp_path, EMPTY_CONFIG)
    box = json.loads((tmp_path / "model.json").read_text())["pages"][0]["blocks"][3]["right"]
    assert box["rows"] == []
    assert box["note"].startswith("No target is set")
    assert "budget" not in json.loads((tmp_path / "model.json").read_text())["headline"]


def test_a_review_is_compared_with_the_one_before(stores: dict[str, Path], tmp_path: Path) -> None:
    before = build_store(tmp_path / "before", (replace(WEEK[0], save_s=300.0), *WEEK[1:]))
    write_review(before, tmp_path / "one", EMPTY_CONFIG)
    previous = tmp_path / "one" / "model.json"
    summary = write_review(stores["week"], tmp_path / "two", EMPTY_CONFIG, previous=previous)
    assert re.match(r"Goodput 94\.1\u202f%, up 2\.9 points;", summary.headline)
    columns = json.loads((tmp_path / "two" / "model.json").read_text())["pages"][0]["blocks"][2]["columns"]
    assert "Δ points" in [column["title"] for column in columns]


def test_an_earlier_review_that_is_none_is_named(stores: dict[str, Path], tmp_path: Path) -> None:
    wrong = tmp_path / "model.json"
    for text in ("{", "[]", '{"schema": 0}'):
        wrong.write_text(text)
        with pytest.raises(GoodputError, match="the earlier review"):
            write_review(stores["short"], tmp_path / "out", EMPTY_CONFIG, previous=wrong)


@pytest.mark.parametrize(
    ("window", "expected"), [(timedelta(hours=1), 28), (timedelta(hours=24), 7), (timedelta(days=70), 1)]
)
def test_rows_of_windows_stay_few(window: timedelta, expected: int, tmp_path: Path) -> None:
    days = pages_of(build_store(tmp_path, WEEK[:1], window=window))["where"].blocks[0]
    assert isinstance(days, Figure)
    assert isinstance(days.chart, Days)
    assert len(days.chart.rows) == expected


def test_a_store_without_any_run_is_an_error_that_says_so(tmp_path: Path) -> None:
    """Also proves that every mart has the columns that the review reads."""
    classify(write_store(tmp_path), EMPTY_CONFIG, WindowOptions())
    with pytest.raises(GoodputError, match="the store holds no run"):
        write_review(tmp_path, tmp_path / "out", EMPTY_CONFIG)


def test_a_run_that_ended_before_the_period_ends_is_drawn_over_what_it_lived(stores: dict[str, Path]) -> None:
    story: tuple[RunStory, ...] = SHORT
    with open_store(stores["short"]) as con:
        facts = load_facts(con)
    assert facts.total.start == MONDAY
    assert facts.span[0] == story[0].begin
    assert facts.span[1] - facts.span[0] < timedelta(minutes=15)


def test_a_period_in_which_no_run_lived_is_named(tmp_path: Path) -> None:
    with duckdb.connect(str(build_store(tmp_path, SHORT) / "goodput.duckdb")) as con:
        con.execute("delete from marts.period; update config.report set week = '2020-W01'")
    with pytest.raises(GoodputError, match="no run lived in the period"):
        write_review(tmp_path, tmp_path / "out", EMPTY_CONFIG)


def test_the_page_on_saves_says_what_another_interval_would_gain_and_from_how_little(
    stores: dict[str, Path],
) -> None:
    page = pages_of(stores["week"])["checkpoints"]
    assert [block.name for block in page.blocks if isinstance(block, Figure)] == ["saves", "lost", "overhead"]
    assert "would gain" in page.sentence
    # Two of the three runs had fewer than five failures, and theirs tell nothing for the head of a page.
    assert "judging by 5 failures" in page.sentence
    table = table_of(page, "checkpoints")
    assert [row.cells[0] for row in table.rows] == ["egret-13b", "heron-70b", "plover-3b", "all"]
    assert all(row.detail.startswith("From ") for row in table.rows[:-1])
    saves = [int(row.cells[1].replace(",", "")) for row in table.rows]
    assert sum(saves[:-1]) == saves[-1]


def test_a_run_that_never_failed_gets_no_interval_and_the_reason(stores: dict[str, Path]) -> None:
    page = pages_of(stores["short"])["checkpoints"]
    assert "no failure in the period" in page.sentence
    (row, _) = table_of(page, "checkpoints").rows
    assert row.cells[-2:] == ("–", "–")
    assert row.detail.startswith("No suggestion: no failure")


def test_a_period_without_saves_says_so_in_one_line(stores: dict[str, Path]) -> None:
    page = pages_of(stores["stepless"])["checkpoints"]
    assert page.sentence == "No save in the logs of this period; 1 restore of earlier ones."


def test_definitions_stand_from_the_kindest_to_the_strictest(stores: dict[str, Path]) -> None:
    table = table_of(pages_of(stores["week"])["trust"], "others")
    values = [float(row.cells[2].split("\u202f")[0]) for row in table.rows if row.cells[2] != "–"]
    assert values == sorted(values, reverse=True)
    assert [bool(row.detail) for row in table.rows] == [row.cells[2] == "–" for row in table.rows]
