"""Rows of the marts as frozen values, named as their columns are.

GPU time is in GPU-seconds (``_gpu_s``), times are UTC, shares are of 1. Null stays None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

#: Name of the row that sums over all runs.
ALL = "(all)"


@dataclass(frozen=True, slots=True)
class Goodput:
    """Goodput of one run, or of all, over one window or the whole period."""

    run_id: str
    start: datetime
    end: datetime
    gpus: int | None
    capacity_gpu_s: float
    held_gpu_s: float
    productive_gpu_s: float
    infrastructure_gpu_s: float
    framework_gpu_s: float
    planned_gpu_s: float
    unknown_gpu_s: float
    spare_gpu_s: float
    provisional_gpu_s: float
    sst_gpu_s: float
    lst_gpu_s: float
    first_queue_wait_gpu_s: float
    training_time_goodput: float | None
    g_known: float | None
    g_infra: float | None
    g_framework: float | None
    g_model: float | None
    mfu_steady: float | None
    composite: float | None
    undefined_reason: str | None
    g_model_reason: str | None

    @property
    def training_gpu_s(self) -> float:
        """Training capacity, ``W − L``: the denominator of the headline."""
        return self.capacity_gpu_s - self.planned_gpu_s

    @property
    def lost_gpu_s(self) -> float:
        """Training capacity that did not become progress, unattributed time included."""
        return self.training_gpu_s - self.productive_gpu_s

    @property
    def unknown_share(self) -> float:
        """Share of training capacity that is unattributed."""
        return self.unknown_gpu_s / self.training_gpu_s if self.training_gpu_s > 0 else 0.0

    def layer_gpu_s(self, layer: str) -> float:
        """Return the GPU-seconds of a layer."""
        return {
            "productive": self.productive_gpu_s,
            "infrastructure": self.infrastructure_gpu_s,
            "framework": self.framework_gpu_s,
            "planned": self.planned_gpu_s,
            "unknown": self.unknown_gpu_s,
        }.get(layer, 0.0)


@dataclass(frozen=True, slots=True)
class Loss:
    """Time of one run and category over the period."""

    run_id: str
    layer: str
    category: str
    title: str
    gpu_s: float


@dataclass(frozen=True, slots=True)
class Cause:
    """What one cause cost over the period; ``category:…`` for time that no incident brought about."""

    cause: str
    title: str
    domain: str | None
    layer: str | None
    owner: str | None
    charged_to: str | None
    events: int | None
    lost_work_gpu_s: float
    downtime_gpu_s: float
    gpu_s: float
    planned_gpu_s: float
    first_action: str | None
    mark: str | None

    @property
    def loss_gpu_s(self) -> float:
        """What it cost, planned time left out: that is no loss."""
        return self.gpu_s - self.planned_gpu_s

    @property
    def is_incident(self) -> bool:
        """Whether incidents brought the time about."""
        return not self.cause.startswith("category:")


@dataclass(frozen=True, slots=True)
class Incident:
    """One end of an attempt and what it cost."""

    incident_id: str
    run_id: str
    attempt: int | None
    job_id: str | None
    kind: str
    at_ts: datetime | None
    last_progress_ts: datetime | None
    fault_ts: datetime | None
    detected_ts: datetime | None
    released_ts: datetime | None
    first_step_ts: datetime | None
    lost_steps: int | None
    lost_work_s: float | None
    downtime_s: float | None
    lost_gpu_s: float | None
    downtime_gpu_s: float | None
    total_gpu_s: float | None
    period_gpu_s: float
    gpus: int | None
    cause: str | None
    title: str | None
    domain: str | None
    charged_to: str | None
    owner: str | None
    host: str | None
    gpu: str | None
    confidence: str | None
    confidence_reason: str | None
    evidence: str | None
    evidence_text: str | None
    runner_up_cause: str | None
    mark: str | None
    failed_start: bool | None
    first_action: str | None

    @property
    def moment(self) -> datetime | None:
        """When it happened, as well as is known."""
        return self.at_ts

    @property
    def is_interruption(self) -> bool:
        """Whether it counts among interruptions: completion and a run that goes on do not."""
        return self.kind not in ("completed", "ongoing")

    @property
    def is_disruption(self) -> bool:
        """Whether nobody had planned it."""
        return self.is_interruption and self.kind != "planned"


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one run did over a stretch of time, for the lanes of attempts."""

    run_id: str
    lane: str
    start_ts: datetime
    end_ts: datetime


@dataclass(frozen=True, slots=True)
class Run:
    """One run over the period: identity first, measures after."""

    run_id: str
    gpus: int | None
    gpu_model: str | None
    formats: str | None
    attempts: int | None
    first_step: int | None
    last_step: int | None
    held_gpu_s: float
    capacity_gpu_s: float
    training_time_goodput: float | None
    g_infra: float | None
    g_framework: float | None
    g_model: float | None
    top_loss: str | None
    top_loss_gpu_s: float | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hour:
    """All runs in one hour of the day."""

    day: date
    hour: int
    w_gpu_s: float
    planned_gpu_s: float
    loss_gpu_s: float
    top_category: str | None

    @property
    def due_gpu_s(self) -> float:
        """Training capacity of the hour."""
        return self.w_gpu_s - self.planned_gpu_s


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two independent sources say about the same thing."""

    run_id: str
    comparison: str
    title: str
    left_name: str | None
    left_value: float | None
    right_name: str | None
    right_value: float | None
    difference: float | None
    unit: str | None
    tolerance: float | None
    status: str
    note: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """One input file and how much of it was understood."""

    source_id: str
    path: str
    format: str | None
    role: str | None
    run_id: str | None
    lines: int
    parsed_lines: int
    unknown_lines: int
    bad_lines: int
    parsed_share: float | None
    first_ts: datetime | None
    last_ts: datetime | None
    zone: str | None
    clock_offset_s: float | None
    undated_events: int | None
    gaps: int | None
    top_templates: str | None
    duplicate_of: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why time of a run is unattributed or unobserved."""

    run_id: str
    reason: str
    gpu_s: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """A stretch in which a source had lines, or was silent."""

    source_id: str
    start_ts: datetime
    end_ts: datetime
    state: str


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Goodput of a run, or of all, under other assumptions."""

    run_id: str
    as_is: float | None
    unknown_all_lost: float | None
    unknown_all_productive: float | None
    lost_to_last_announced: float | None
    clocks_not_corrected: float | None


@dataclass(frozen=True, slots=True)
class Metric:
    """The definition of a figure."""

    metric: str
    title: str
    unit: str | None
    formula: str | None
    denominator: str | None
