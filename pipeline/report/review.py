"""From a classified store to the review: PDF, HTML, charts and the model that all of them print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pipeline.config import Config
from pipeline.ledger.query import open_store
from pipeline.report import units
from pipeline.report.facts import Facts
from pipeline.report.load import load_facts
from pipeline.report.model import Beside, Block, Figure, Page, Review
from pipeline.report.previous import read_previous
from pipeline.report.sections import (
    broke,
    checkpoints,
    efficiency,
    hosts,
    recovery,
    summary,
    trust,
    where,
)
from pipeline.report.sections.given import Given
from pipeline.report.sections.headline import build_second_line
from pipeline.report.serialise import to_json
from pipeline.report.text import elide
from pipeline.report.typeset.html import build_html
from pipeline.report.typeset.pdf import build_pdf


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """What was written, and the two sentences on top of it."""

    headline: str
    second: str
    files: tuple[Path, ...]


def write_review(store: Path, out: Path, config: Config, *, previous: Path | None = None) -> ReviewSummary:
    """Write review.pdf, review.html, model.json and charts/*.svg into a folder.

    Args:
        store: folder that holds goodput.duckdb.
        out: folder to write into; made when it does not exist.
        config: gives the paper and the actions carried over.
        previous: model.json of an earlier review, to print changes against.

    Raises:
        GoodputError: the store cannot be opened or holds no run, or the earlier review cannot be read.
    """
    with closing(open_store(store)) as con:
        facts = load_facts(con)
    given = Given(config.actions, None if previous is None else read_previous(previous))
    review = build_review(facts, given, config.report.paper)
    charts = draw_charts(review)
    model = to_json(review)
    files: dict[str, bytes] = {
        "review.pdf": build_pdf(review, charts),
        "review.html": build_html(review, charts, model).encode(),
        "model.json": model.encode(),
        **{f"charts/{name}.svg": svg.encode() for name, svg in charts.items()},
    }
    return ReviewSummary(review.headline, review.second, tuple(_write(out, files)))


def build_review(facts: Facts, given: Given, paper: str) -> Review:
    """Return the review of what a ledger says."""
    pages = (
        summary.build(facts, given),
        where.build(facts, given),
        broke.build(facts, given),
        recovery.build(facts, given),
        checkpoints.build(facts, given),
        efficiency.build(facts, paper),
        hosts.build(facts, given),
        trust.build(facts, given),
    )
    return Review(
        name=elide(facts.run_name, 60),
        period=units.period(*facts.span),
        start=facts.total.start,
        end=facts.total.end,
        paper=paper,
        headline=pages[0].sentence,
        second=build_second_line(facts),
        footer=_footer(facts),
        pages=pages,
        facts=facts,
    )


def draw_charts(review: Review) -> dict[str, str]:
    """Return the SVG of every figure by its name."""
    return {figure.name: figure.chart.draw(figure.name, figure.alt) for figure in _figures(review.pages)}


def _figures(pages: Iterable[Page]) -> Iterator[Figure]:
    blocks: list[Block] = [block for page in pages for block in page.blocks]
    for block in blocks:
        parts = (block.left, block.right) if isinstance(block, Beside) else (block,)
        yield from (part for part in parts if isinstance(part, Figure))


def _footer(facts: Facts) -> str:
    """Return what the numbers rest on."""
    return " · ".join(
        (
            units.counted(len(facts.sources), "input file"),
            f"{units.percent(trust.parsed_share(facts))} of lines parsed",
            f"window {units.duration(facts.context.window_s)}",
            f"rules {facts.context.rules}",
        )
    )


def _write(out: Path, files: dict[str, bytes]) -> Iterator[Path]:
    """Write files, and remove charts that an earlier review left and this one does not have."""
    folder = out / "charts"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.svg")):
        if f"charts/{old.name}" not in files:
            old.unlink()
    for name, data in files.items():
        path = out / name
        path.write_bytes(data)
        yield path
