"""Rows of the marts about saves, what they protect, and other definitions of goodput, as frozen values.

Named as their columns are: GPU time in GPU-seconds (``_gpu_s``), times in seconds (``_s``), shares of 1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Saves, restores and lost work of one run over the period."""

    run_id: str
    gpus: int | None
    saves: int
    durable_saves: int
    failed_saves: int
    uncommitted_saves: int
    unknown_saves: int
    timed_saves: int
    interval_steps: float | None
    interval_s: float | None
    stall_median_s: float | None
    stall_p99_s: float | None
    stall_max_s: float | None
    background_median_s: float | None
    stalled_gpu_s: float
    restores: int
    restore_median_s: float | None
    losing_incidents: int
    lost_gpu_s: float
    lost_median_s: float | None
    lost_max_s: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Stall:
    """Saves of one run that ended alike and stalled about equally long; ``stall_s`` is their median."""

    run_id: str
    outcome: str
    stall_s: float | None
    saves: int


@dataclass(frozen=True, slots=True)
class CheckpointCost:
    """What the interval between saves of one run costs by the model, and which one would cost least."""

    run_id: str
    failures: int
    mttf_s: float | None
    stall_s: float | None
    background_s: float | None
    interval_s: float | None
    interval_steps: float | None
    overhead_used: float | None
    overhead_measured: float | None
    young_s: float | None
    daly_s: float | None
    overhead_least: float | None
    flat_from_s: float | None
    flat_to_s: float | None
    is_flat: bool | None
    suggested_s: float | None
    suggested_steps: float | None
    gain_gpu_s_per_week: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Modelled overhead of one run at one interval between saves."""

    run_id: str
    interval_s: float
    stall_share: float
    loss_share: float
    overhead: float
    is_flat: bool


@dataclass(frozen=True, slots=True)
class ExpectedEttr:
    """Effective training time ratio that failures, saves and restarts lead one to expect, by size of job."""

    run_id: str
    gpus: int
    is_own_size: bool
    nodes: int | None
    mttf_s: float | None
    restart_s: float | None
    wait_s: float | None
    interval_s: float | None
    stall_s: float | None
    expected_ettr_writes: float | None
    expected_ettr_queue: float | None
    measured_ettr: float | None
    best_interval_s: float | None
    expected_at_best: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Definition:
    """Goodput of all runs over the period by one definition."""

    definition: str
    title: str
    defined_by: str
    value: float | None
    numerator_gpu_s: float | None
    denominator_gpu_s: float | None
    reason: str | None
