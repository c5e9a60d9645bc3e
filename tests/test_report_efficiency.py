"""Page 6: its sentence, charts and tables, what it says where little is known; the bridge's model part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.ledger.query import open_store
from pipeline.report import units
from pipeline.report.charts.bridge import Bridge
from pipeline.report.charts.pace import Paces
from pipeline.report.charts.split import Splits
from pipeline.report.efficiency_rows import Efficiency
from pipeline.report.facts import Facts
from pipeline.report.load import load_facts
from pipeline.report.model import Beside, Figure, Listing, Page, Table
from pipeline.report.sections import efficiency
from pipeline.report.sections.bridge import build_bridge
from tests.report.fixture import SHORT, STEPLESS, WEEK, RunStory, build_store


def facts_of(folder: Path, stories: tuple[RunStory, ...]) -> Facts:
    with open_store(build_store(folder, stories)) as con:
        return load_facts(con)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of(tmp_path_factory.mktemp("week"), WEEK)


@pytest.fixture(scope="module")
def page(week: Facts) -> Page:
    return efficiency.build(week)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return efficiency.build(facts_of(tmp_path_factory.mktemp("short"), SHORT))


def figure_of(page: Page, name: str) -> Figure:
    return next(block for block in page.blocks if isinstance(block, Figure) and block.name == name)


def table_of(page: Page, name: str) -> Table:
    return next(table for table in tables_of(page) if table.name == name)


def tables_of(page: Page) -> list[Table]:
    """Return the tables of a page, those side by side as well."""
    beside = [
        side for block in page.blocks if isinstance(block, Beside) for side in (block.left, block.right)
    ]
    return [block for block in (*page.blocks, *beside) if isinstance(block, Table)]


def verdicts_of(page: Page) -> dict[str, str]:
    listing = next(block for block in page.blocks if isinstance(block, Listing))
    return {item.lead: plain(item.text) for item in listing.items}


def plain(text: str) -> str:
    return text.replace(units.THIN, " ").replace(units.SPACE, " ")


def changed(facts: Facts, **changes: object) -> Facts:
    """Return facts in which the largest run alone is there, and differs."""
    runs = tuple(
        replace(run, **changes) for run in facts.productive.efficiencies if run.run_id == "heron-70b"
    )  # type: ignore[arg-type]
    return replace(facts, productive=replace(facts.productive, efficiencies=runs))


def test_the_sentence_has_what_slow_steps_cost_and_what_most_time_is_bound_by(
    week: Facts, page: Page
) -> None:
    """Each run is at 0.975 of its reference pace: 0.025 of 197,865 productive GPU-hours are 4,947."""
    assert round(week.total.productive_gpu_s / 3600) == 197_865
    assert plain(page.sentence) == (
        "Model goodput is not known; slow steps cost 4,947 GPU-hours; "
        "2 of 3 runs, with 96.4 % of this time, are bound by the network."
    )


def test_the_sentence_of_one_run_names_the_figure_behind_its_verdict(week: Facts) -> None:
    facts = changed(week, lost_gpu_s=0.0)
    known = replace(facts, total=replace(facts.total, g_model=0.41))
    assert plain(efficiency.build(known).sentence) == (
        "Model goodput 41.0 %; heron-70b is bound by the network (24.5 % of a step is exposed communication)."
    )


@pytest.mark.parametrize(
    ("verdict", "share", "expected"),
    [
        ("input_bound", "data_wait_share", "bound by its input (40.0 % of a step waits for data)"),
        ("bubble_bound", "bubble_share", "bound by the bubble of its pipeline (40.0 % of a step is bubble)"),
        ("compute_bound", "compute_share", "bound by computing (40.0 % of a step computes)"),
        ("balanced", "compute_share", "balanced: no part of a step stands out"),
    ],
)
def test_each_verdict_has_its_words(expected: str, verdict: str, share: str, week: Facts) -> None:
    facts = changed(week, **{"verdict": verdict, share: 0.4})
    assert plain(efficiency.build(facts).sentence).endswith(f"heron-70b is {expected}.")


def test_a_verdict_comes_with_its_reason_its_gain_and_its_line(page: Page, week: Facts) -> None:
    """0.23 of the productive time of heron-70b, which has windows of one verdict only."""
    run = next(run for run in week.productive.efficiencies if run.run_id == "heron-70b")
    gain = units.number(0.23 * run.productive_gpu_s / 3600, 0)
    assert verdicts_of(page)["heron-70b"] == (
        "Bound by the network: gradient all-reduce takes 1.3 times the backward pass and hides under 41 % of "
        f"it. Hiding communication under computing would win up to {gain} GPU-hours (23.0 % of its "
        "productive time). Evidence: heron-70b/job-880001.out:412. GPU 5 of gx017 says that a fault holds "
        "its clock down: steps 1,200 to 2,280 cost 200 GPU-hours beyond the reference pace."
    )


def test_without_evidence_the_verdict_is_not_known_and_says_why(page: Page) -> None:
    told = verdicts_of(page)["plover-3b"]
    assert told.startswith("Not known: no timer, trace or span tells what a step is spent on. ")
    splits = figure_of(page, "split").chart
    assert isinstance(splits, Splits)
    row = next(row for row in splits.rows if row.title == "plover-3b")
    assert (row.shares, row.reason) == ((), "no line tells communication")


def test_no_bar_is_drawn_where_nothing_tells_of_any_run(week: Facts) -> None:
    parts = ("compute", "exposed_comm", "data_wait", "bubble", "memory_copy")
    built = efficiency.build(changed(week, **{f"{part}_share": None for part in parts}, other_share=1.0))
    assert [block.name for block in built.blocks if isinstance(block, Figure)] == ["pace"]


def test_a_verdict_of_some_windows_only_says_of_how_many(week: Facts) -> None:
    facts = changed(week, windows=7, verdict_windows=5)
    assert " So in 5 of 7 windows. " in verdicts_of(efficiency.build(facts))["heron-70b"]


def test_the_parts_of_a_step_are_the_whole_step(page: Page) -> None:
    splits = figure_of(page, "split").chart
    assert isinstance(splits, Splits)
    sums = [sum(share for _, share in row.shares) for row in splits.rows if row.shares]
    assert sums == [pytest.approx(1.0)] * 2
    alt = plain(figure_of(page, "split").alt)
    assert "heron-70b computing 66.0 %, exposed communication 24.5 %, waiting for data 2.0 %" in alt


def test_pace_is_mfu_where_it_is_known_and_time_elsewhere(page: Page) -> None:
    paces = figure_of(page, "pace").chart
    assert isinstance(paces, Paces)
    assert [(panel.title, panel.unit) for panel in paces.panels] == [
        ("heron-70b", "%"),
        ("egret-13b", "%"),
        ("plover-3b", "s"),
    ]
    heron = paces.panels[0]
    assert heron.reference == pytest.approx(100 * 0.41 / 0.975)
    assert sum(count for _, count in heron.restarts) == 6
    assert all(hour.low <= hour.middle <= hour.high for hour in heron.hours)
    assert "heron-70b (MFU, median 41.8 %)" in plain(figure_of(page, "pace").alt)


def test_a_run_has_its_factors_and_the_reason_of_those_that_are_not_known(page: Page) -> None:
    rows = {row.cells[0]: row for row in table_of(page, "factors").rows}
    assert [plain(cell) for cell in rows["heron-70b"].cells[1:]] == [
        *("4.33 · 10¹¹", "989.4", "41.8 %", "42.1 %", "41.0 %"),
        *("97.5 %", "98.0 %", "75.0 %", "57.2 %"),
    ]
    assert rows["plover-3b"].cells[1:6] == ("–",) * 5
    assert rows["plover-3b"].detail == (
        "Input not known: no line tells a wait for data; network not known: no line tells communication; "
        "computing not known: no line tells FLOPs."
    )


def test_sources_that_runs_share_are_said_once(page: Page, week: Facts) -> None:
    told = (
        "FLOPs derived from TFLOP/s and tokens of the same lines, attention halved, since it is causal; "
        "6.2 % away from what is derived from the shape of the model; peak of H100-SXM from the device "
        "table; parts of a step measured by timers."
    )
    factors = table_of(page, "factors")
    assert plain(factors.after) == f"Where a row says nothing else: {told}"
    assert [row.detail == "" for row in factors.rows] == [True, True, False]
    alone = table_of(efficiency.build(changed(week)), "factors")
    assert (plain(alone.rows[0].detail), alone.after) == (told, "")


def test_factors_that_lack_for_one_reason_share_it(week: Facts) -> None:
    facts = changed(
        week,
        input_efficiency=None,
        network_efficiency=None,
        input_reason="No timers",
        network_reason="No timers",
    )
    assert (
        table_of(efficiency.build(facts), "factors")
        .rows[0]
        .detail.endswith("Input and network not known: no timers.")
    )


def test_the_costliest_slow_stretches_come_first_and_single_lines_are_summed(page: Page) -> None:
    """A level of three hours of 1,024 GPUs at 0.065 is 200 GPU-hours, a stretch of one at 0.152 is 156."""
    slow = table_of(page, "slow")
    assert [(row.cells[0], row.cells[5], row.cells[7]) for row in slow.rows[:2]] == [
        ("heron-70b", "level", "200"),
        ("heron-70b", "stretch", "156"),
    ]
    assert (len(slow.rows), len(slow.more)) == (6, 9)
    assert slow.after == "Besides, scattered slow lines in 12 attempts cost 38 GPU-hours."


def test_sizes_of_one_model_and_stragglers_have_their_tables(page: Page) -> None:
    scaling = table_of(page, "scaling").rows
    assert [row.cells[:3] for row in scaling] == [
        ("egret-13b", "256", "1,814"),
        ("heron-70b", "1,024", "1,766"),
    ]
    straggler = table_of(page, "stragglers").rows[0]
    assert [plain(cell) for cell in straggler.cells[1:]] == [
        *("gx017", "5", "backward-compute", "412 ms", "361 ms", "1.14", "< 0.001")
    ]


def test_links_have_their_share_of_the_peak_and_the_line(short: Page) -> None:
    """310 of 450 GB/s are 68.9 %; a benchmark belongs to no run."""
    rows = [[plain(cell) for cell in row.cells] for row in table_of(short, "links").rows]
    assert rows[0] == [
        "smoke-1b",
        "summary",
        "all-reduce",
        "64 MiB and more",
        "NVLink, 1 host",
        "310.0",
        "68.9 %",
        "18.0 %",
        "smoke-1b/train.log:812",
    ]
    assert rows[-1][:5] == ["–", "benchmark", "not named", "64 MiB and more", "NVLink, 1 host"]


def test_devices_name_the_host_that_stands_out_and_why(short: Page) -> None:
    rows = [[plain(cell) for cell in row.cells] for row in table_of(short, "devices").rows]
    assert [row[1] for row in rows] == ["all", "gx017, GPU 5"]
    assert rows[1][2:] == [
        "80.0 %",
        "41.0 %",
        "35.0 %",
        "40.0",
        "1.1",
        "598",
        "1,788",
        "12.0 %",
        "heat",
        "a fault held its clock down",
    ]


def test_one_size_is_no_scaling(week: Facts) -> None:
    ran = replace(week.productive, scaling=week.productive.scaling[:1], stragglers=())
    built = efficiency.build(replace(week, productive=ran))
    names = [table.name for table in tables_of(built)]
    assert names == ["factors", "slow"]


def test_data_that_do_not_fit_are_named(week: Facts, page: Page) -> None:
    listings = {block.title: block for block in page.blocks if isinstance(block, Listing)}
    faults = listings["Data behind MFU that do not fit"].items
    assert {item.lead: item.text for item in faults}["heron-70b"] == "FLOPs per token differ by 6 %."
    fitting = efficiency.build(replace(week, model_faults=()))
    assert [block.title for block in fitting.blocks if isinstance(block, Listing)] == [
        "What steps are bound by, and the change that would pay most"
    ]


def test_a_period_without_steps_says_so_in_one_line(tmp_path: Path, week: Facts) -> None:
    stepless = efficiency.build(facts_of(tmp_path, STEPLESS))
    assert (stepless.sentence, stepless.blocks) == ("No productive time in this period.", ())
    timeless = efficiency.build(replace(week, productive=replace(week.productive, paces=())))
    assert (timeless.sentence, timeless.blocks) == ("No step times in the logs of this period.", ())


def test_the_bridge_measures_the_model_against_the_reference_of_the_runs(week: Facts) -> None:
    """What is productive and what is slow are together what was productive, and the strip is all capacity."""
    figure = build_bridge(week)
    bridge = figure.chart
    assert isinstance(bridge, Bridge)
    parts = {part.title: part.gpu_s for part in bridge.strip}
    slow = 0.025 * week.total.productive_gpu_s
    assert parts["Model"] == pytest.approx(slow)
    assert parts["Productive, at pace"] == pytest.approx(week.total.productive_gpu_s - slow)
    assert sum(parts.values()) == pytest.approx(week.total.capacity_gpu_s)
    assert {row.title: row.gpu_s for row in bridge.rows}["Slow steps"] == pytest.approx(slow)
    assert plain(bridge.total.label).endswith(" planned, 4,947 slow")


def test_the_distance_from_the_reference_to_the_peak_stands_apart(week: Facts) -> None:
    """0.41 at 0.975 of the pace is 0.4205 at the pace."""
    heron = changed(week)
    assert plain(build_bridge(heron).caption).endswith(
        "at that pace, 42.1 % of peak FLOP/s are used; the 57.9 % beyond are not drawn."
    )


def test_a_bridge_without_a_reference_says_so(week: Facts) -> None:
    figure = build_bridge(changed(week, lost_gpu_s=None, reference_mfu=None))
    bridge = figure.chart
    assert isinstance(bridge, Bridge)
    assert bridge.strip[0].title == "Productive"
    assert "Slow steps" not in {row.title for row in bridge.rows}
    assert figure.caption.endswith("How steadily steps ran is not known.")


def test_a_row_is_named_as_its_columns() -> None:
    assert {"steadiness", "input_efficiency", "network_efficiency", "compute_efficiency"} < set(
        Efficiency.__dataclass_fields__
    )


def test_computing_is_not_told_from_communication_that_no_timer_tells(week: Facts) -> None:
    """0.66 computes, or communicates, and 0.02 is in no part."""
    facts = changed(week, exposed_comm_share=None, bubble_share=None, other_share=0.32)
    splits = figure_of(efficiency.build(facts), "split").chart
    assert isinstance(splits, Splits)
    assert dict(splits.rows[0].shares) == pytest.approx({"data_wait": 0.02, "other": 0.98})
