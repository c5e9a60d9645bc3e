"""Table of page 3: what people decided, beside what the logs alone say."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.text import elide
from pipeline.report.verdict_rows import Verdict
from pipeline.report.words import clause

#: Characters of a reason that are printed.
_MOST_TEXT = 240

#: What the logs say to a verdict.
_FIT = {
    "agrees": "say the same",
    "adds": "do not say so",
    "contradicts": "CONTRADICT it",
}

#: Verdicts that the logs contradict come first, then those that the logs know nothing of.
_ORDER = ("contradicts", "adds", "agrees")


def count_contradicted(facts: Facts) -> int:
    """Return how many verdicts the logs contradict."""
    return sum(verdict.verdict_fit == "contradicts" for verdict in facts.verdicts)


def build_verdicts(facts: Facts) -> Table:
    """Return one row per verdict, those that the logs contradict first."""
    ranked = sorted(facts.verdicts, key=lambda v: _ORDER.index(v.verdict_fit))
    years = facts.total.start.year != facts.total.end.year
    return Table(
        name="verdicts",
        caption="What people decided in verdicts.csv, which counts, beside what the logs alone say.",
        columns=(
            Column("when"),
            Column("incident", share=4),
            Column("a person says", share=5),
            Column("the logs alone say", share=5),
            Column("confidence"),
            Column("the logs"),
        ),
        rows=tuple(
            Row(
                (
                    f"{units.stamp(verdict.at_ts, year=years)}{verdict.mark or ''}",
                    elide(verdict.incident_id),
                    verdict.title,
                    verdict.title_by_evidence,
                    verdict.confidence or "–",
                    _FIT[verdict.verdict_fit],
                ),
                detail=_detail(verdict),
            )
            for verdict in ranked
        ),
    )


def _detail(verdict: Verdict) -> str:
    """Return who decided, when and why, and the line that the logs go by."""
    by = ", ".join(
        part for part in (verdict.role, verdict.date.isoformat() if verdict.date else None) if part
    )
    parts = [by] if by else []
    parts += [clause(elide(verdict.reason, _MOST_TEXT))] if verdict.reason else []
    parts += [f"the logs: {verdict.evidence}"] if verdict.evidence else []
    return " · ".join(parts)
