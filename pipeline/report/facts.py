"""Everything that a review is made of: the rows of the marts, and what they were computed with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.report.efficiency_rows import Productive
from pipeline.report.program_rows import ModelFault, ModelInput
from pipeline.report.reliability_rows import Reliability
from pipeline.report.rows import (
    Cause,
    Comparison,
    Coverage,
    Goodput,
    Hour,
    Incident,
    Loss,
    Metric,
    Run,
    Sensitivity,
    Source,
    Stretch,
    Unknown,
)
from pipeline.report.saving_rows import (
    CheckpointCost,
    Checkpoints,
    CurvePoint,
    Definition,
    ExpectedEttr,
    Stall,
)
from pipeline.report.verdict_rows import Verdict


@dataclass(frozen=True, slots=True)
class Context:
    """What the figures were computed with.

    Attributes:
        fleet: name of the log folder.
        window_s: length of a window in seconds.
        policy: category and layer where the policy is not the default.
        targets: figure to the value aimed at.
        price_gpu_hour, currency: what a GPU-hour costs, where it was stated.
        rules: version of program and rules.
        asked: whether the period was asked for; else the records decide.
    """

    fleet: str
    window_s: float
    policy: tuple[tuple[str, str], ...]
    targets: tuple[tuple[str, float], ...]
    price_gpu_hour: float | None
    currency: str
    rules: str
    asked: bool

    def target(self, figure: str) -> float | None:
        """Return the target of a figure, or None."""
        return dict(self.targets).get(figure)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a review is made of."""

    context: Context
    total: Goodput
    runs_goodput: tuple[Goodput, ...]
    windows: tuple[Goodput, ...]
    losses: tuple[Loss, ...]
    causes: tuple[Cause, ...]
    incidents: tuple[Incident, ...]
    verdicts: tuple[Verdict, ...]
    lanes: tuple[Stretch, ...]
    runs: tuple[Run, ...]
    hours: tuple[Hour, ...]
    comparisons: tuple[Comparison, ...]
    sources: tuple[Source, ...]
    unknown: tuple[Unknown, ...]
    coverage: tuple[Coverage, ...]
    sensitivity: tuple[Sensitivity, ...]
    model_inputs: tuple[ModelInput, ...]
    model_faults: tuple[ModelFault, ...]
    metrics: tuple[Metric, ...]
    reliability: Reliability
    checkpoints: tuple[Checkpoints, ...]
    stalls: tuple[Stall, ...]
    checkpoint_costs: tuple[CheckpointCost, ...]
    checkpoint_curves: tuple[CurvePoint, ...]
    expected_ettr: tuple[ExpectedEttr, ...]
    definitions: tuple[Definition, ...]
    productive: Productive

    @property
    def loss_causes(self) -> tuple[Cause, ...]:
        """Causes that lost training capacity, the costliest first; what was planned is no loss."""
        causes = (cause for cause in self.causes if cause.loss_gpu_s > 0)
        return tuple(sorted(causes, key=lambda cause: (-cause.loss_gpu_s, cause.cause)))

    @property
    def interruptions(self) -> tuple[Incident, ...]:
        """Ends of attempts that were not completions, in order of time."""
        return tuple(i for i in self.incidents if i.is_interruption)

    @property
    def disruptions(self) -> tuple[Incident, ...]:
        """Interruptions that nobody had planned; some may have begun before the period and cost in it."""
        return tuple(i for i in self.incidents if i.is_disruption)

    def happened(self, incident: Incident) -> bool:
        """Whether an incident happened inside the period: only then does it count as one of its events."""
        moment = incident.moment
        return moment is None or self.total.start <= moment < self.total.end

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The period; where nobody asked for it and runs lived less than half of it, only what they lived."""
        start, end = self.total.start, self.total.end
        if self.context.asked or not self.lanes:
            return start, end
        first = max(start, min(stretch.start_ts for stretch in self.lanes))
        last = min(end, max(stretch.end_ts for stretch in self.lanes))
        return (first, last) if 0 < (last - first) / (end - start) < 0.5 else (start, end)

    @property
    def composite_reason(self) -> str:
        """Why composite goodput is not known; names how many runs where it is not all of them."""
        if self.total.undefined_reason and self.total.training_time_goodput is None:
            return self.total.undefined_reason
        runs = [run for run in self.runs_goodput if run.g_model_reason and run.productive_gpu_s > 0]
        if not runs:
            return self.total.g_model_reason or "no model FLOPs in the logs"
        reason = runs[0].g_model_reason or ""
        if len(runs) == len(self.runs_goodput):
            return reason
        which = runs[0].run_id if len(runs) == 1 else f"{len(runs)} of {len(self.runs_goodput)} runs"
        return f"{reason} ({which})"

    @property
    def run_name(self) -> str:
        """Name of the run, or of the fleet when there are several."""
        if len(self.runs_goodput) == 1:
            return self.runs_goodput[0].run_id
        return self.context.fleet
