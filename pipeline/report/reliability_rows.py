"""Rows of the marts of reliability as frozen values: lives of attempts, recovery, hosts.

Times are UTC, durations are in the unit of their names, shares are of 1. Null stays None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

#: Fewer failures than this make no curve of survival.
FEWEST_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Survival:
    """What share of attempts outlives an age."""

    age_s: float
    at_risk: int
    failures: int
    censored: int
    survival: float
    survival_low: float | None
    survival_high: float | None
    attempts: int
    group_failures: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed, and how long it had lived."""

    run_id: str
    attempt: int
    incident_id: str
    gpus: int
    life_s: float
    cause: str | None


@dataclass(frozen=True, slots=True)
class FailureRate:
    """Failures of a span and group against what was exposed to them, with limits of 95 %."""

    span: str
    span_start: datetime
    span_end: datetime
    grouped_by: str
    gpus_class: str | None
    domain: str | None
    attempts: int
    failures: int
    failed_starts: int
    crash_loops: int
    preemptions: int
    planned_ends: int
    run_hours: float
    gpu_hours: float
    node_days: float
    per_1000_node_days: float | None
    per_1000_node_days_low: float | None
    per_1000_node_days_high: float | None
    time_to_failure_h: float | None
    time_to_failure_low_h: float | None
    time_to_failure_high_h: float | None
    time_to_failure_1000_gpus_h: float | None
    time_to_failure_1000_gpus_low_h: float | None
    time_to_failure_1000_gpus_high_h: float | None
    undefined_reason: str | None
    mark: str


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of the recovery from one disruption."""

    incident_id: str
    phase: str
    rank: int
    title: str
    inside_allocation: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """How long a phase of recovery takes, over the disruptions of the period."""

    phase: str
    rank: int
    title: str
    owner: str | None
    disruptions: int
    median_s: float | None
    p90_s: float | None
    worst_s: float | None
    worst_incident_id: str | None
    downtime_share: float | None


@dataclass(frozen=True, slots=True)
class Host:
    """A host that brought about an event, and what chance would give it."""

    host: str
    events_1w: int
    events_4w: int
    events: int
    host_days: float
    expected: float | None
    chance_adjusted: float | None
    hosts_looked_at: int
    is_repeat: bool
    gpu_s: float
    causes: str | None
    parts: str | None
    state: str | None
    state_ts: datetime | None
    state_reason: str | None


@dataclass(frozen=True, slots=True)
class HostEvent:
    """An incident that a part of a host brought about."""

    host: str
    incident_id: str
    at_ts: datetime
    title: str


@dataclass(frozen=True, slots=True)
class Fleet:
    """Hosts that runs held in the twelve weeks before the end of the period, as far as the records reach."""

    hosts: int
    host_days: float
    events: int
    start: datetime | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """How attempts end, how fast runs recover, and which hosts come back."""

    survival: tuple[Survival, ...]
    failures: tuple[Failure, ...]
    rates: tuple[FailureRate, ...]
    phases: tuple[Phase, ...]
    recovery: tuple[PhaseSummary, ...]
    hosts: tuple[Host, ...]
    host_events: tuple[HostEvent, ...]
    fleet: Fleet

    def rate(self, span: str) -> FailureRate | None:
        """Return the figures of all attempts over a span, where the records reach so far."""
        return next((r for r in self.rates if r.span == span and r.grouped_by == "all"), None)

    @property
    def has_curve(self) -> bool:
        """Whether there are failures enough for a curve of survival."""
        return bool(self.survival) and self.survival[0].group_failures >= FEWEST_FAILURES

    @property
    def median_life_s(self) -> float | None:
        """The age that half of the attempts outlive; None where the curve stays above a half."""
        if not self.has_curve:
            return None
        return next((row.age_s for row in self.survival if row.survival <= 0.5), None)
