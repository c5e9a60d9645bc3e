"""The two sentences that everybody reads, from the facts."""

from __future__ import annotations

from collections import defaultdict

from pipeline.report.budget import build_budget
from pipeline.report.facts import Facts
from pipeline.report.sections.given import Given
from pipeline.report.words import Headline, headline, second_line


def build_headline(facts: Facts, given: Given) -> str:
    """Return the headline of the review."""
    total = facts.total
    costs: dict[str, float] = defaultdict(float)
    for incident in facts.disruptions:
        costs[incident.title or incident.cause or "unknown"] += incident.period_gpu_s
    cost = sum(costs.values())
    top = min(costs, key=lambda title: (-costs[title], title), default="")
    loss = next(iter(facts.loss_causes), None)
    budget = build_budget(facts)
    before = None if given.previous is None else given.previous.figures.get("training_time_goodput")
    return headline(
        Headline(
            goodput=total.training_time_goodput,
            undefined_reason=total.undefined_reason or "",
            unknown_share=total.unknown_share,
            held_gpu_s=total.held_gpu_s,
            previous=before,
            disruptions=sum(facts.happened(incident) for incident in facts.disruptions),
            cost_gpu_s=cost,
            top_cause=top,
            top_share=costs[top] / cost if cost > 0 else 0.0,
            top_loss=loss.title if loss else "",
            top_loss_gpu_s=loss.loss_gpu_s if loss else 0.0,
            top_loss_share=loss.loss_gpu_s / total.training_gpu_s
            if loss and total.training_gpu_s > 0
            else 0.0,
            budget_gpu_s=None if budget is None else budget.left_gpu_s,
            budget_name="" if budget is None else budget.name,
        )
    )


def build_second_line(facts: Facts) -> str:
    """Return the line below the headline."""
    total = facts.total
    return second_line(
        total.held_gpu_s,
        total.productive_gpu_s,
        total.composite,
        facts.composite_reason,
    )
