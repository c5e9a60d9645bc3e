"""Table of page 8: the same period by every definition of goodput in use."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.words import clause

#: Not shares of all time: how well silicon was used, and the worst hour.
_OTHER_KINDS = ("program_goodput", "sliding_ettr_least")


def build_others(facts: Facts) -> Table:
    """Return the definitions from the kindest to the strictest, this ledger's own among them."""
    values = [
        row.value for row in facts.definitions if row.value is not None and row.definition not in _OTHER_KINDS
    ]
    spread = ""
    if len(values) > 1:
        points = units.points(max(values) - min(values))
        spread = f" Of shares of time, the kindest and the strictest differ by {points} points."
    sizes = [row.denominator_gpu_s or 0.0 for row in facts.definitions]
    decimals = units.gpu_hours_decimals(sizes)

    def hours(gpu_s: float | None) -> str:
        return "–" if gpu_s is None else units.gpu_hours(gpu_s, decimals)

    return Table(
        name="others",
        caption="The same time by the definitions in use, all from this ledger; docs/definitions.md says "
        f"where each disagrees and why.{spread}",
        columns=(
            Column("definition"),
            Column("by whom", share=5),
            Column("value", "right"),
            Column("good, GPU-h", "right"),
            Column("of, GPU-h", "right"),
        ),
        rows=tuple(
            Row(
                (
                    row.title,
                    row.defined_by,
                    units.percent(row.value),
                    hours(row.numerator_gpu_s),
                    hours(row.denominator_gpu_s),
                ),
                detail=f"No value: {clause(row.reason)}." if row.value is None and row.reason else "",
            )
            for row in facts.definitions
        ),
    )
