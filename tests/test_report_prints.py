"""The review as it is printed: HTML and PDF of invented stores."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pipeline.config import EMPTY_CONFIG, Config, ReportConfig
from pipeline.ledger.query import open_store
from pipeline.report.load import load_facts
from pipeline.report.model import Text
from pipeline.report.review import build_review, draw_charts, write_review
from pipeline.report.sections.given import Given
from pipeline.report.typeset.pdf import breakable, build_pdf
from tests.report.fixture import EVIL, HOSTILE, SHORT, STEPLESS, WEEK, build_store

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


# --- HTML


class Reader(HTMLParser):
    """Collects tags, attributes that load something, and text outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.silent = tag in ("script", "style")
        for name, value in attrs:
            if name in ("src", "srcset", "data", "action", "background") or name.startswith("on"):
                self.loads.append(f"{name}={value}")
            if name in ("href", "xlink:href"):
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.silent = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self.silent else data


def read_html(folder: Path) -> tuple[str, Reader]:
    html = (folder / "review.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(html)
    return html, reader


@pytest.mark.parametrize("name", STORIES)
def test_html_needs_no_network_and_no_script(name: str, outs: dict[str, Path]) -> None:
    html, reader = read_html(outs[name])
    assert reader.loads == []
    assert [link for link in reader.links if not link.startswith("#")] == []
    assert not {"link", "iframe", "img", "object", "embed", "base", "form"} & set(reader.tags)
    assert reader.tags.count("script") == 1
    assert "default-src 'none'" in html
    assert "@import" not in html
    assert set(re.findall(r"url\(([^)]*)\)", html)) <= {f"#{i}" for i in reader.ids}


@pytest.mark.parametrize("name", STORIES)
def test_html_links_lead_somewhere_and_ids_are_unique(name: str, outs: dict[str, Path]) -> None:
    _, reader = read_html(outs[name])
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))


def test_html_shows_hostile_text_and_runs_none_of_it(outs: dict[str, Path]) -> None:
    html, reader = read_html(outs["hostile"])
    assert EVIL in reader.text
    assert EVIL not in html
    assert "{{ 7 * 7 }}" in reader.text
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "中文" in reader.text


@pytest.mark.parametrize("name", STORIES)
def test_html_holds_the_model(name: str, outs: dict[str, Path]) -> None:
    html, _ = read_html(outs[name])
    embedded = re.search(r'<script type="application/json" id="model">\n(.*?)\n</script>', html, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded[1]) == json.loads((outs[name] / "model.json").read_text(encoding="utf-8"))


# --- PDF


def pdf_text(path: Path) -> str:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    done = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    return re.sub(r"[\u200b\u2060]", "", done.stdout.decode())


def pages_in(path: Path) -> int:
    """Number of pages, from the page tree."""
    return pages_of_pdf(path.read_bytes())


def pages_of_pdf(data: bytes) -> int:
    return max(int(n) for n in re.findall(rb"/Type/Pages/Count (\d+)", data))


@pytest.mark.parametrize(("name", "most"), [("week", 8), ("short", 6), ("stepless", 5), ("hostile", 8)])
def test_pdf_has_few_pages(name: str, most: int, outs: dict[str, Path]) -> None:
    assert 4 <= pages_in(outs[name] / "review.pdf") <= most


def test_pdf_is_tagged_and_says_so(outs: dict[str, Path]) -> None:
    data = (outs["week"] / "review.pdf").read_bytes()
    assert b"pdfuaid:part" in data
    assert b"/StructTreeRoot" in data


def test_pdf_prints_headline_head_and_foot(outs: dict[str, Path]) -> None:
    text = pdf_text(outs["week"] / "review.pdf")
    assert "Goodput 94.1" in text
    assert "all times UTC" in text
    assert "15 input files" in text
    assert "Model goodput is not known" in text
    assert "Watchdog caught collective operation timeout" in text


def test_pdf_prints_hostile_text_as_text(outs: dict[str, Path]) -> None:
    text = pdf_text(outs["hostile"] / "review.pdf")
    assert '#panic("x")' in text
    assert "<script>" in text
    assert "@ref <label>" in text


@pytest.mark.parametrize("lines", [10, 23, 30, 45])
def test_the_last_page_settles_below_a_page_of_any_length(lines: int, stores: dict[str, Path]) -> None:
    """It goes on below a short page; where the page before fills its sheet it begins another one."""
    with open_store(stores["stepless"]) as con:
        review = build_review(load_facts(con), Given(), "a4")
    filled = replace(review.pages[6], blocks=tuple(Text(f"Line {n}.") for n in range(lines)))
    pages = (*review.pages[:6], filled, replace(review.pages[7], blocks=(Text("The end."),)))
    data = build_pdf(replace(review, pages=pages), draw_charts(review))
    assert pages_of_pdf(data) - pages_of_pdf(
        build_pdf(replace(review, pages=pages[:7]), draw_charts(review))
    ) == int(lines > 20)


def test_pdf_can_be_letter(tmp_path: Path) -> None:
    store = build_store(tmp_path / "store", SHORT)
    write_review(store, tmp_path, Config(report=ReportConfig(paper="letter")))
    assert b"MediaBox[0 0 612 792]" in (tmp_path / "review.pdf").read_bytes()


def test_the_template_imports_nothing() -> None:
    template = Path(__file__).resolve().parents[1] / "pipeline" / "report" / "typeset" / "review.typ"
    lines = [line for line in template.read_text().splitlines() if not line.lstrip().startswith("//")]
    assert not [line for line in lines if re.search(r"@preview|#?import|#?include|plugin\(|read\(", line)]
    assert len(lines) < 200


def test_long_names_may_be_broken_and_short_ones_may_not() -> None:
    assert breakable("heron-70b ran") == "heron-70b ran"
    assert (
        breakable("heron-70b/job-880001.err:12")
        == "heron-\u200b70b/\u200bjob-\u200b880001.\u200berr:\u200b12"
    )
    pieces = breakable("x" * 40).split("\u200b")
    assert "".join(pieces) == "x" * 40
    assert max(len(piece) for piece in pieces) < 18
