"""The loss budget: what a target allows to be lost, what was lost, and what is left."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.facts import Facts
from pipeline.report.rows import Goodput

FOUR_WEEKS_S = 28 * 86400.0

#: From this length on, the capacity of a period says something about four weeks.
_ENOUGH_S = 86400.0


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget in GPU-seconds.

    Attributes:
        target: training-time goodput aimed at.
        allowed_gpu_s: what may be lost in the period.
        used_gpu_s: what was lost in the period, unattributed time included.
        four_weeks_gpu_s: what may be lost in four weeks at the capacity of the period; None for a period
            that is too short to say, or as long itself.
        is_long: whether the period is four weeks or longer.
    """

    target: float
    allowed_gpu_s: float
    used_gpu_s: float
    four_weeks_gpu_s: float | None
    is_long: bool

    @property
    def left_gpu_s(self) -> float:
        """What is left of the four weeks, else of the period; negative when it is overdrawn."""
        allowed = self.allowed_gpu_s if self.four_weeks_gpu_s is None else self.four_weeks_gpu_s
        return allowed - self.used_gpu_s

    @property
    def name(self) -> str:
        """What the budget is called in a sentence."""
        return "budget of this period" if self.four_weeks_gpu_s is None else "four-week budget"


def build_budget(facts: Facts) -> Budget | None:
    """Return the budget, or None where no target is set."""
    target = facts.context.target("training_time_goodput")
    return None if target is None else _budget(facts.total, target)


def _budget(total: Goodput, target: float) -> Budget:
    length = (total.end - total.start).total_seconds()
    allowed = (1 - target) * total.training_gpu_s
    is_long = length >= FOUR_WEEKS_S
    four_weeks = allowed * FOUR_WEEKS_S / length if _ENOUGH_S <= length < FOUR_WEEKS_S else None
    return Budget(target, allowed, total.lost_gpu_s, four_weeks, is_long)
