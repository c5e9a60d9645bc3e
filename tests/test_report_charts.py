"""Charts: labels are there, do not collide, and nothing from a log becomes markup."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pipeline.ledger.query import open_store
from pipeline.report.charts.font import fit, printable, text_width
from pipeline.report.charts.layout import spread
from pipeline.report.charts.palette import CODES, ORDER
from pipeline.report.charts.scale import nice_ticks, tick_texts, time_ticks
from pipeline.report.charts.svg import SIZE, WIDTH
from pipeline.report.load import load_facts
from pipeline.report.model import Review
from pipeline.report.review import build_review, draw_charts
from pipeline.report.sections.given import Given
from tests.report.fixture import HOSTILE, MONDAY, SHORT, STEPLESS, WEEK, RunStory, build_store

SVG = "{http://www.w3.org/2000/svg}"
STORIES = {"week": WEEK, "short": SHORT, "stepless": STEPLESS, "hostile": HOSTILE}


def review_of(folder: Path, stories: tuple[RunStory, ...]) -> Review:
    with open_store(build_store(folder, stories)) as con:
        return build_review(load_facts(con), Given(), "a4")


@pytest.fixture(scope="module", params=STORIES)
def drawn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The charts of a story by name."""
    return draw_charts(review_of(tmp_path_factory.mktemp("store"), STORIES[request.param]))


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return draw_charts(review_of(tmp_path_factory.mktemp("store"), WEEK))


def texts_of(svg: str) -> list[str]:
    return [
        text.text or ""
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        if "aria-hidden" not in text.attrib
    ]


def test_a_chart_is_an_image_with_a_text_alternative_and_ids_of_its_own(drawn: dict[str, str]) -> None:
    for name, svg in drawn.items():
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert (root.get("aria-label") or "").endswith(".")
        ids = [e.get("id") or "" for e in root.iter() if e.get("id")]
        assert name == ids[0]
        assert [i for i in ids[1:] if not i.startswith(f"{name}-")] == []
        used = [e.get("fill", "") for e in root.iter() if e.get("fill", "").startswith("url(")]
        assert set(used) <= {f"url(#{i})" for i in ids}


def test_no_label_leaves_its_chart(drawn: dict[str, str]) -> None:
    for name, svg in drawn.items():
        root = ElementTree.fromstring(svg)
        _, _, width, height = (float(n) for n in root.get("viewBox", "").split())
        assert width == WIDTH
        for text in root.iter(f"{SVG}text"):
            left, right = extent(text)
            assert left >= -0.5, f"{name}: {text.text}"
            assert right <= width + 0.5, f"{name}: {text.text}"
            assert 0 <= float(text.get("y", "0")) <= height, f"{name}: {text.text}"


def test_no_two_labels_of_a_line_collide(drawn: dict[str, str]) -> None:
    for name, svg in drawn.items():
        lines: dict[float, list[tuple[float, float, str]]] = {}
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
            if "aria-hidden" not in text.attrib and text.text:
                lines.setdefault(float(text.get("y", "0")), []).append((*extent(text), text.text))
        for labels in lines.values():
            labels.sort()
            for (_, end, one), (start, _, other) in itertools.pairwise(labels):
                assert end <= start + 0.3, f"{name}: {one!r} runs into {other!r}"


def extent(text: ElementTree.Element) -> tuple[float, float]:
    """Left and right end of a label in points."""
    size = float(text.get("font-size", str(SIZE)))
    width = text_width(text.text or "", size, bold=text.get("font-weight") == "bold")
    x = float(text.get("x", "0"))
    left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "start")]
    return left, left + width


def test_the_bridge_names_every_layer_and_ends_in_what_was_lost(week: dict[str, str]) -> None:
    texts = texts_of(week["bridge"])
    for title in ("Productive, at pace", "Model", "Infrastructure", "Framework", "Planned", "Unattributed"):
        assert title in texts
    assert [t for t in texts if t.endswith("slow") and "GPU-h lost" in t and " planned, " in t]


def test_unknown_is_drawn_as_zero_where_there_is_none(week: dict[str, str]) -> None:
    assert "0 · 0.0\u202f%" in texts_of(week["bridge"])


def test_attempts_number_their_interruptions_and_link_to_the_table(week: dict[str, str]) -> None:
    root = ElementTree.fromstring(week["attempts"])
    links = [link.get("href") for link in root.iter(f"{SVG}a")]
    assert len(links) == 10
    assert "#incident-heron-70b-880003.0-1" in links
    assert {str(n) for n in range(1, 11)} <= set(texts_of(week["attempts"]))


def test_axes_of_a_short_run_are_in_minutes(tmp_path: Path) -> None:
    charts = draw_charts(review_of(tmp_path, SHORT))
    assert {"14:08", "14:10", "Mon 5 Oct"} <= set(texts_of(charts["attempts"]))


def test_the_strip_shows_what_is_known_only_where_coverage_is_not_full(
    week: dict[str, str], tmp_path: Path
) -> None:
    assert "Known" not in texts_of(week["product"])
    assert "Known" in texts_of(draw_charts(review_of(tmp_path, STEPLESS))["product"])


def test_layers_differ_by_colour_and_by_hatch_or_lightness() -> None:
    assert ORDER == ("productive", "infrastructure", "framework", "model", "planned", "unknown")
    assert len(CODES) == len({code.colour for code in CODES.values()})
    # In grey, these fall together by colour: each needs a hatch of its own, or none at all.
    for alike in (("infrastructure", "unknown", "model"), ("framework", "planned")):
        assert len(alike) == len({CODES[layer].hatch for layer in alike})


@pytest.mark.parametrize(
    ("expected", "centres"),
    [
        ([50.0, 150.0], [50, 150]),
        ([50.0, 70.0], [50, 52]),
        ([170.0, 190.0], [199, 200]),
        ([10.0, 30.0], [0, 0]),
    ],
)
def test_labels_are_moved_apart_and_kept_inside(expected: list[float], centres: list[float]) -> None:
    assert expected == spread(centres, [20, 20], 0, 200)


def test_text_that_does_not_fit_is_cut_at_the_end_that_tells_less() -> None:
    assert fit("heron-70b-long", text_width("heron…", 7) + 0.1, 7) == "heron…"
    assert fit("heron-70b/job.out", text_width("….out", 7) + 0.1, 7, keep_end=True) == "….out"
    assert fit("heron", 100, 7) == "heron"


def test_characters_that_the_face_lacks_are_replaced() -> None:
    assert printable("a中文b") == "a��b"
    assert printable("Zürich → 5\u202f%") == "Zürich → 5\u202f%"


@pytest.mark.parametrize(
    ("expected", "high"),
    [
        ([0, 20, 40, 60, 80, 100], 100),
        ([0, 0.01, 0.02, 0.03], 0.034),
        ([0.0], 0.0),
        ([0, 2.5, 5, 7.5, 10, 12.5], 12.7),
    ],
)
def test_ticks_are_round(expected: list[float], high: float) -> None:
    assert expected == pytest.approx(nice_ticks(high, 5 if high == 100 else 6))


def test_labels_of_ticks_tell_them_apart() -> None:
    assert tick_texts([0.0, 2.5, 5.0, 12.5]) == ["0", "2.5", "5.0", "12.5"]
    assert tick_texts([0.0, 1000.0, 2000.0]) == ["0", "1,000", "2,000"]
    assert tick_texts(nice_ticks(0.07)) == ["0", "0.02", "0.04", "0.06"]


@pytest.mark.parametrize(
    ("expected", "length"),
    [
        (["00:00:00", "00:00:10"], timedelta(seconds=19)),
        (["00:00", "06:00", "12:00", "18:00"], timedelta(hours=23)),
        (["Mon 5 Oct", "Tue 6 Oct"], timedelta(days=1, hours=12)),
        (["5 Oct", "12 Oct"], timedelta(days=13)),
        (["Nov 2026", "Dec 2026"], timedelta(days=60)),
        (["Jan 2030"], timedelta(days=5 * 365)),
    ],
)
def test_times_are_round(expected: list[str], length: timedelta) -> None:
    most = len(expected)
    labels = [tick.label.replace("\u00a0", " ") for tick in time_ticks(MONDAY, MONDAY + length, most)]
    assert expected == labels
