"""Pages 4 and 7: their sentences, their curves and tables, and what they say where data are few."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pipeline.ledger.query import open_store
from pipeline.report import units
from pipeline.report.charts.recovery import Recovery
from pipeline.report.charts.scale import Log, log_ticks
from pipeline.report.charts.survival import SurvivalCurve
from pipeline.report.facts import Facts
from pipeline.report.load import load_facts
from pipeline.report.model import Figure, Listing, Page, Table
from pipeline.report.reliability_rows import Fleet
from pipeline.report.sections import hosts, recovery
from pipeline.report.sections.given import Given
from tests.report.fixture import MONDAY, SHORT, STEPLESS, WEEK, End, RunStory, build_store

#: Two failures, of which one host had both, and a save an hour apart: too few for a curve.
FEW = (
    RunStory("heron-70b", 64, MONDAY, (
        End("gpu_fell_off_bus", 8, 30, 10, 6, 48, host="gx003", gpu="3"),
        End("node_failure", 5, 30, 5, 5, 12, mark="†", host="gx003"),
        End("completed", 3, kind="completed"),
    )),
)  # fmt: skip


def facts_of(folder: Path, stories: tuple[RunStory, ...]) -> Facts:
    store = build_store(folder, stories)
    with open_store(store) as con:
        return load_facts(con)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of(tmp_path_factory.mktemp("week"), WEEK)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of(tmp_path_factory.mktemp("few"), FEW)


def figure_of(page: Page, name: str) -> Figure:
    return next(block for block in page.blocks if isinstance(block, Figure) and block.name == name)


def table_of(page: Page, name: str) -> Table:
    return next(block for block in page.blocks if isinstance(block, Table) and block.name == name)


def plain(text: str) -> str:
    return text.replace(units.THIN, " ").replace(units.SPACE, " ")


def test_seven_failures_make_a_curve_with_band_and_ticks(week: Facts) -> None:
    chart = figure_of(recovery.build(week, Given()), "survival").chart
    assert isinstance(chart, SurvivalCurve)
    assert sum(step.censored for step in chart.steps) == 5
    assert [step.at_risk for step in chart.steps] == list(range(12, 0, -1))
    levels = [step.survival for step in chart.steps]
    assert levels == sorted(levels, reverse=True)
    assert all(s.low is None or s.low <= s.survival <= (s.high or 0) for s in chart.steps)


def test_fewer_than_five_failures_are_a_list_and_no_curve(few: Facts) -> None:
    page = recovery.build(few, Given())
    assert plain(page.sentence).startswith("Fewer than five failures: 2 failures in 17 h")
    listing = next(block for block in page.blocks if isinstance(block, Listing))
    assert [item.text for item in listing.items] == [
        "heron-70b, 64 GPUs: Node failure",
        "heron-70b, 64 GPUs: GPU fell off the bus",
    ]
    assert "no curve" in listing.note
    assert not any(block.name == "survival" for block in page.blocks if isinstance(block, Figure))


def test_without_a_failure_the_page_is_one_line_with_a_lower_limit(tmp_path: Path) -> None:
    """39.6 + 33 + 13.2 s of start-up, 684 s of steps, four saves of 1.5 s: 775.8 s; by ln 40: 210 s."""
    page = recovery.build(facts_of(tmp_path, SHORT), Given())
    assert page.blocks == ()
    assert plain(page.sentence) == (
        "No attempt failed in 12 min of training, "
        "which puts the time to failure above 3 min 30 s (limit of 95 %)."
    )


def test_attempts_without_a_step_have_no_life_to_tell_of(tmp_path: Path) -> None:
    page = recovery.build(facts_of(tmp_path, STEPLESS), Given())
    assert page.sentence.startswith("No attempt made a step")
    assert table_of(page, "recovery-phases").rows


def test_each_disruption_is_a_row_of_phases_that_links_to_its_incident(week: Facts) -> None:
    chart = figure_of(recovery.build(week, Given()), "anatomy").chart
    assert isinstance(chart, Recovery)
    rows = [row for row in chart.rows if row.anchor]
    assert len(rows) == len([i for i in week.disruptions if week.happened(i)])
    assert [row.title for row in chart.rows if not row.anchor] == ["median of each", "90th percentile"]
    # ten minutes until it was noticed, six until the job had ended, as the story says
    assert rows[0].phases[:2] == ((1, 600.0), (2, 360.0))


def test_shares_of_downtime_add_up(week: Facts) -> None:
    shares = [s.downtime_share for s in week.reliability.recovery if s.downtime_share is not None]
    assert sum(shares) == pytest.approx(1)
    rows = {
        row.cells[1]: row.cells for row in table_of(recovery.build(week, Given()), "recovery-phases").rows
    }
    assert rows["until it had caught up"][-2] == "–"
    assert rows["until a new allocation"][-1] == "scheduler and capacity"


def test_marks_of_undated_and_inferred_ends_are_explained(few: Facts, week: Facts) -> None:
    assert recovery.build(few, Given()).marks == ("† estimated: a bound was missing",)
    assert len(recovery.build(week, Given()).marks) == 2


def test_two_events_on_one_of_a_few_hosts_are_no_pattern(few: Facts) -> None:
    """Both of two events on one of eight hosts: (1/8)² × 8 hosts = 12.5 %."""
    page = hosts.build(few, Given())
    assert page.sentence == (
        "No host comes back more often than chance explains: 2 events on 1 host; 8 hosts looked at."
    )
    row = table_of(page, "hosts").rows[0].cells
    assert row[:4] == ("gx003", "2 / 2", row[2], "0.25")
    assert plain(row[4]) == "12.5 %"


def test_a_repeat_offender_is_named_with_what_chance_would_give(week: Facts) -> None:
    page = hosts.build(week, Given())
    assert page.sentence == ("gx017 comes back more often than chance explains: 2 events, 0.02 expected.")
    assert "a repeat offender" in figure_of(page, "events").alt


def test_without_lists_of_hosts_chance_is_not_known(few: Facts) -> None:
    known = few.reliability
    alone = tuple(
        replace(host, expected=None, chance_adjusted=None, is_repeat=False, host_days=0.0)
        for host in known.hosts
    )
    facts = replace(few, reliability=replace(known, hosts=alone, fleet=replace(known.fleet, hosts=0)))
    page = hosts.build(facts, Given())
    assert "no record names all hosts of a run" in page.sentence
    assert table_of(page, "hosts").rows[0].cells[3] == "not known"


def test_without_an_event_the_page_of_hosts_is_one_line(few: Facts) -> None:
    nothing = replace(few.reliability, hosts=(), host_events=(), fleet=Fleet(8, 6.0, 0, None))
    page = hosts.build(replace(few, reliability=nothing), Given())
    assert page.sentence == "No event is traced to a part of a host: 8 hosts, 6.0 host-days."
    assert page.blocks == ()


def test_an_event_before_the_period_links_nowhere(few: Facts) -> None:
    known = few.reliability
    earlier = tuple(
        replace(event, incident_id="heron/long-ago", at_ts=event.at_ts - timedelta(days=1))
        for event in known.host_events
    )
    facts = replace(few, reliability=replace(known, host_events=earlier))
    figure = figure_of(hosts.build(facts, Given()), "events")
    assert "<a href" not in figure.chart.draw(figure.name, figure.alt)


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios() -> None:
    scale = Log(1, 100, 0, 200)
    assert [round(scale.at(v)) for v in (0, 1, 10, 100, 1000)] == [0, 0, 100, 200, 200]
    assert log_ticks(25, 62) == pytest.approx([30, 40, 50, 60])
    assert log_ticks(0.9, 60) == pytest.approx([1, 2, 5, 10, 20, 50])
    assert log_ticks(0.9, 5000, most=8) == pytest.approx([1, 3, 10, 30, 100, 300, 1000, 3000])
