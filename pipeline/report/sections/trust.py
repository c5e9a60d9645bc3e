"""Page 8: can these numbers be trusted?"""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.charts.coverage import Known, Lanes, SourceLane
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Column, Figure, Page, Row, Table
from pipeline.report.rows import ALL, Comparison, Coverage, Sensitivity, Source
from pipeline.report.sections.definitions import build_others
from pipeline.report.sections.given import Given
from pipeline.report.sections.model_inputs import build_model_inputs
from pipeline.report.text import elide
from pipeline.report.words import alternative

_MOST_LANES = 24
_MOST_SOURCES = 20
_MOST_RUNS = 12


def build(facts: Facts, given: Given) -> Page:
    """Return the page."""
    blocks: list[Block] = []
    if any(_in_span(c, facts) for c in facts.coverage):
        blocks.append(_build_coverage(facts))
    blocks.append(_build_sources(facts))
    blocks.append(_build_unknown(facts))
    blocks.append(_build_comparisons(facts))
    blocks.append(_build_sensitivity(facts))
    if facts.model_inputs:
        blocks.append(build_model_inputs(facts))
    if facts.definitions:
        blocks.append(build_others(facts))
    if facts.metrics:
        blocks.append(_build_definitions(facts))
    return Page(8, "trust", "Can these numbers be trusted?", _sentence(facts), tuple(blocks))


def parsed_share(facts: Facts) -> float | None:
    """Return the share of lines, over all files, whose meaning is known."""
    lines = sum(source.lines for source in facts.sources)
    return sum(source.parsed_lines for source in facts.sources) / lines if lines else None


def _sentence(facts: Facts) -> str:
    lines = sum(source.lines for source in facts.sources)
    read = [source for source in facts.sources if not source.error]
    judged = [c for c in facts.comparisons if c.status != "not comparable"]
    agree = sum(c.status == "agrees" for c in judged)
    unknown = units.percent(facts.total.unknown_share) if facts.total.unknown_gpu_s > 0 else "none"
    text = (
        f"{units.percent(parsed_share(facts))} of {units.counted(lines, 'line')} in "
        f"{units.counted(len(read), 'file')} are understood; "
        f"{unknown} of training capacity is unattributed"
    )
    if judged:
        text += f"; {agree} of {units.counted(len(judged), 'comparison')} between sources agree"
    else:
        text += "; no two independent sources could be compared"
    unread = len(facts.sources) - len(read)
    if unread:
        text += f"; {units.counted(unread, 'file')} could not be read"
    return f"{text}."


def _in_span(stretch: Coverage, facts: Facts) -> bool:
    """Return whether a stretch of a file reaches into the period of the review."""
    start, end = facts.span
    return stretch.start_ts < end and stretch.end_ts > start


def _build_coverage(facts: Facts) -> Figure:
    """Return a lane per source that has dated lines; of many sources, the largest."""
    stretches: dict[str, list[Known]] = {}
    for c in facts.coverage:
        if _in_span(c, facts):
            stretches.setdefault(c.source_id, []).append(Known(c.state != "lines", c.start_ts, c.end_ts))
    dated = [source for source in facts.sources if source.source_id in stretches]
    kept = {s.source_id for s in sorted(dated, key=lambda s: (-s.lines, s.path))[:_MOST_LANES]}
    lanes = tuple(SourceLane(s.path, tuple(stretches[s.source_id])) for s in dated if s.source_id in kept)
    hidden = len(dated) - len(lanes)
    silent = sum(known.silent for lane in lanes for known in lane.stretches)
    return Figure(
        name="coverage",
        caption="When each file has lines, is silent, or does not reach."
        + (f" The {_MOST_LANES} largest files; {hidden:,} more in the table." if hidden else ""),
        alt=alternative(
            "Coverage by source",
            [
                units.counted(len(lanes), "file"),
                units.counted(silent, "silent stretch", "silent stretches"),
            ],
        ),
        chart=Lanes(*facts.span, lanes),
    )


def _build_sources(facts: Facts) -> Table:
    """Return the files; of many, those that were understood worst come first."""
    ranked = sorted(facts.sources, key=lambda s: (s.error is None, -(s.unknown_lines + s.bad_lines), s.path))
    kept = {s.source_id for s in ranked[:_MOST_SOURCES]}
    rows = [_source_row(s) for s in facts.sources if s.source_id in kept]
    hidden = len(facts.sources) - len(rows)
    counts = [sum(getattr(s, n) for s in facts.sources) for n in ("lines", "unknown_lines", "bad_lines")]
    total = Row(
        (
            units.counted(len(facts.sources), "file"), "",
            f"{counts[0]:,}", units.percent(parsed_share(facts)), f"{counts[1]:,}", f"{counts[2]:,}",
            "", "", "",
        ),
        weight="total",
    )  # fmt: skip
    return Table(
        name="sources",
        caption="Files and how far they were understood; below a file, its most frequent unknown lines."
        + (
            f" The {_MOST_SOURCES} with most unknown lines; {hidden:,} more in review.html." if hidden else ""
        ),
        columns=(
            Column("file", share=6),
            Column("taken for", share=3),
            Column("lines", "right"),
            Column("parsed", "right"),
            Column("unknown", "right"),
            Column("bad", "right"),
            Column("zone", share=2),
            Column("clock, s", "right"),
            Column("gaps", "right"),
        ),
        rows=(*rows, total),
        more=tuple(_source_row(s) for s in facts.sources if s.source_id not in kept),
    )


def _source_row(source: Source) -> Row:
    offset = source.clock_offset_s
    detail = ""
    if source.error:
        detail = f"Not read: {source.error}"
    elif source.duplicate_of:
        detail = f"Same content as {source.duplicate_of}, which was read instead."
    elif source.unknown_lines and source.top_templates:
        detail = elide(source.top_templates, 240)
    return Row(
        (
            elide(source.path, 80),
            source.format or "–",
            f"{source.lines:,}",
            units.percent(source.parsed_share),
            f"{source.unknown_lines:,}",
            f"{source.bad_lines:,}",
            source.zone or "–",
            "–" if offset is None else units.number(offset, 1),
            "–" if source.gaps is None else f"{source.gaps:,}",
        ),
        detail=detail,
    )


def _build_unknown(facts: Facts) -> Table:
    rows = sorted(facts.unknown, key=lambda u: (-u.gpu_s, u.run_id, u.reason))[:_MOST_RUNS]
    decimals = units.gpu_hours_decimals(u.gpu_s for u in rows)
    several = len(facts.runs_goodput) > 1
    return Table(
        name="unknown",
        caption="Unattributed time and why; share of the training capacity of the run.",
        columns=(
            *((Column("run", share=3),) if several else ()),
            Column("reason", share=8),
            Column("GPU-h", "right"),
            Column("share", "right"),
        ),
        rows=tuple(
            Row(
                (
                    *((elide(u.run_id),) if several else ()),
                    u.reason,
                    units.gpu_hours(u.gpu_s, decimals),
                    units.percent(u.share),
                )
            )
            for u in rows
        ),
    )


def _build_comparisons(facts: Facts) -> Table:
    """Return what independent sources say; those that differ first."""
    order = {"differs": 0, "agrees": 1}
    ranked = sorted(facts.comparisons, key=lambda c: (order.get(c.status, 2), c.run_id, c.comparison))
    shown = ranked[: max(_MOST_SOURCES, sum(c.status == "differs" for c in ranked))]
    several = len(facts.runs_goodput) > 1
    return Table(
        name="reconciliation",
        caption="Reconciliation: what independent sources say about the same thing.",
        columns=(
            *((Column("run", share=3),) if several else ()),
            Column("comparison", share=5),
            Column("one source", share=4),
            Column("another", share=4),
            Column("difference", "right"),
            Column("verdict"),
        ),
        rows=tuple(_comparison_row(c, several) for c in shown),
        more=tuple(_comparison_row(c, several) for c in ranked[len(shown) :]),
    )


def _comparison_row(c: Comparison, several: bool) -> Row:
    verdict = c.status if c.status != "differs" else "DIFFERS"
    return Row(
        (
            *((elide(c.run_id),) if several else ()),
            c.title,
            _side(c.left_name, c.left_value, c.unit),
            _side(c.right_name, c.right_value, c.unit),
            "–" if c.difference is None else _value(c.difference, c.unit),
            verdict,
        ),
        detail=(c.note or "") if c.status != "agrees" else "",
    )


def _side(name: str | None, value: float | None, unit: str | None) -> str:
    return f"{name or '–'}: {_value(value, unit)}" if value is not None else f"{name or '–'}: not known"


def _value(value: float, unit: str | None) -> str:
    if unit in ("gpu_s", "GPU-seconds", "GPU-s"):
        return f"{units.gpu_hours(value)}{units.THIN}GPU-h"
    text = units.number(value, 0 if value == round(value) else None)
    return f"{text}{units.THIN}{unit}" if unit in ("s", "h") else text


def _build_sensitivity(facts: Facts) -> Table:
    ranked = sorted(facts.sensitivity, key=lambda s: (s.run_id == ALL, s.run_id))
    if len(ranked) > _MOST_RUNS or len(facts.runs_goodput) == 1:
        ranked = [s for s in ranked if (s.run_id == ALL) == (len(facts.runs_goodput) > 1)]
    return Table(
        name="sensitivity",
        caption="Sensitivity: goodput under other assumptions.",
        columns=(
            Column("run", share=3),
            Column("as reported", "right"),
            Column("unattributed all lost", "right"),
            Column("unattributed all productive", "right"),
            Column("loss counted to last announced save", "right"),
            Column("no clock corrected", "right"),
        ),
        rows=tuple(
            Row(
                (
                    "all runs" if s.run_id == ALL else elide(s.run_id),
                    *(units.percent(v) for v in _figures(s)),
                ),
                weight="total" if s.run_id == ALL and len(ranked) > 1 else "body",
            )
            for s in ranked
        ),
    )


def _figures(row: Sensitivity) -> tuple[float | None, ...]:
    return (
        row.as_is,
        row.unknown_all_lost,
        row.unknown_all_productive,
        row.lost_to_last_announced,
        row.clocks_not_corrected,
    )


def _build_definitions(facts: Facts) -> Table:
    return Table(
        name="definitions",
        caption="Definitions. W capacity, L planned, U unknown, I infrastructure, F framework, P productive.",
        columns=(
            Column("figure", share=4),
            Column("formula", share=7),
            Column("out of", share=5),
            Column("unit"),
        ),
        rows=tuple(Row((m.title, m.formula or "", m.denominator or "", m.unit or "")) for m in facts.metrics),
    )
