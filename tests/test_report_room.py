"""Page 6 takes one sheet, whatever is on it: heights are estimated, rows beyond are in the other print."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil
from typing import TypeVar

import pytest

from pipeline.report.efficiency_rows import Devices, Efficiency, Pace, Scaling
from pipeline.report.facts import Facts
from pipeline.report.heights import SHEETS, head_height, height_of
from pipeline.report.model import Listing, Page
from pipeline.report.program_rows import ModelInput
from pipeline.report.review import build_review, draw_charts
from pipeline.report.sections import efficiency
from pipeline.report.sections.given import Given
from pipeline.report.typeset.pdf import build_pdf
from tests.report.fixture import SHORT, WEEK
from tests.test_report_efficiency import facts_of, tables_of

Row = TypeVar("Row", Efficiency, Pace, Scaling, Devices, ModelInput)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of(tmp_path_factory.mktemp("week"), WEEK)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """A story of which links and devices are told."""
    return facts_of(tmp_path_factory.mktemp("short"), SHORT)


def sheets_of(data: bytes) -> int:
    return max(int(n) for n in re.findall(rb"/Type/Pages/Count (\d+)", data))


def alone(page: Page) -> Page:
    """Return a page that can be printed without those before it."""
    return replace(page, number=2)


def crowded(week: Facts, other: Facts, times: int) -> Facts:
    """Return a week that has everything, with each of its runs under several names."""
    ran = week.productive

    def again(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(replace(row, run_id=f"{row.run_id}-{n}") for n in range(times) for row in rows)

    ran = replace(
        ran,
        efficiencies=again(ran.efficiencies),
        paces=again(ran.paces),
        scaling=again(ran.scaling),
        stragglers=ran.stragglers * times,
        links=other.productive.links * times,
        devices=again(other.productive.devices),
    )
    inputs = tuple(
        replace(work, run_id=f"{work.run_id}-{n}") for n in range(times) for work in week.model_inputs
    )
    return replace(week, productive=ran, model_inputs=inputs, model_faults=week.model_faults * times)


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_week_with_everything_takes_one_sheet_for_it(
    times: int, paper: str, other: Facts, week: Facts
) -> None:
    """What the sheet leaves out is in the other print, and each part says how much that is."""
    facts = crowded(week, other, times)
    page = efficiency.build(facts, paper)
    review = replace(build_review(facts, Given(), paper), pages=(alone(page),))
    data = build_pdf(review, draw_charts(review))
    assert sheets_of(data) == 1
    factors = next(table for table in tables_of(page) if table.name == "factors")
    assert len(factors.rows) + len(factors.more) == 3 * times
    assert bool(factors.more) == (f"{len(factors.more):,} more runs in review.html" in factors.caption)
    bound = next(block for block in page.blocks if isinstance(block, Listing))
    assert len(bound.items) + len(bound.more) == 3 * times
    assert {table.name for table in tables_of(page)} == {
        "factors",
        "slow",
        "scaling",
        "stragglers",
        "links",
        "devices",
    }


@pytest.mark.parametrize("block", range(9))
def test_heights_are_those_of_the_print(block: int, other: Facts, week: Facts) -> None:
    """As often as it is below the next one, a block fills a sheet: with one more there are two."""
    facts = crowded(week, other, 2)
    page = efficiency.build(facts)
    part = page.blocks[block]
    room = SHEETS["a4"] - head_height(page.sentence)
    fitting = int(room / (height_of(part) + 8))
    review = build_review(facts, Given(), "a4")
    for count, sheets in ((fitting, 1), (ceil(room / (height_of(part) - 8)), 2)):
        filled = replace(review, pages=(replace(alone(page), blocks=(part,) * count),))
        data = build_pdf(filled, draw_charts(filled))
        assert sheets_of(data) == sheets
