"""The product strip of page 1."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.charts.product import Factor, Product
from pipeline.report.facts import Facts
from pipeline.report.model import Figure
from pipeline.report.sections.given import Given
from pipeline.report.words import alternative, clause

#: Below this coverage the strip shows the bar of what is known.
_FULL_COVERAGE = 0.9995


def build_product(facts: Facts, given: Given) -> Figure:
    """Return the factors of goodput, their product, and with model goodput the composite."""
    total = facts.total

    def factor(figure: str, title: str, definition: str, layer: str, reason: str = "") -> Factor:
        value = getattr(total, figure)
        before = None if given.previous is None else given.previous.figures.get(figure)
        return Factor(title, definition, layer, value, reason, facts.context.target(figure), before)

    undefined = clause(total.undefined_reason or "no capacity in this period")
    model_reason = clause(facts.composite_reason)
    factors = [
        factor(
            "g_infra", "Infrastructure", "of known time, not lost to machines", "infrastructure", undefined
        ),
        factor("g_framework", "Framework", "of that, steps that survived", "framework", undefined),
        factor(
            "training_time_goodput", "Goodput", "training time that became progress", "productive", undefined
        ),
        factor("g_model", "Model", "of peak FLOP/s, in surviving steps", "model", model_reason),
        factor(
            "composite",
            "Composite goodput",
            "of peak FLOP/s, over training capacity",
            "productive",
            model_reason,
        ),
    ]
    if total.g_known is not None and total.g_known < _FULL_COVERAGE:
        factors.insert(0, factor("g_known", "Known", "of training capacity, attributed by logs", "unknown"))
    values = [
        f"{f.title.lower()} {units.percent(f.value) if f.value is not None else 'not known'}" for f in factors
    ]
    return Figure(
        name="product",
        caption=f"Factors of goodput; each is a share of what the one above left. {_evaluation(facts)}",
        alt=alternative("Factors of goodput and their products", values),
        chart=Product(tuple(factors)),
    )


def _evaluation(facts: Facts) -> str:
    """Return planned hours, and what goodput would be if evaluation counted otherwise."""
    total = facts.total
    parts = [f"Planned time: {units.gpu_hours(total.planned_gpu_s)}{units.THIN}GPU-h."]
    evaluation = sum(x.gpu_s for x in facts.losses if x.category == "evaluation" and x.layer == "planned")
    whole = total.training_gpu_s + evaluation
    if evaluation > 0 and whole > 0:
        as_progress = units.percent((total.productive_gpu_s + evaluation) / whole)
        as_loss = units.percent(total.productive_gpu_s / whole)
        size = f"{units.gpu_hours(evaluation)}{units.THIN}GPU-h"
        parts.append(
            f"With its evaluation ({size}) as progress, goodput is {as_progress}; as loss, {as_loss}."
        )
    if total.mfu_steady is not None:
        parts.append(f"MFU of undisturbed steps: {units.percent(total.mfu_steady)}.")
    return " ".join(parts)
