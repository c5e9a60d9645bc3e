"""Rows of the marts about how well productive time ran, as frozen values.

Named as their columns are: GPU time in GPU-seconds (``_gpu_s``), times in seconds (``_s``), shares of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The product behind model goodput of one run over the period, the parts of its steps, its verdict."""

    run_id: str
    productive_gpu_s: float
    windows: int
    g_model: float | None
    steadiness: float | None
    input_efficiency: float | None
    network_efficiency: float | None
    compute_efficiency: float | None
    reference_mfu: float | None
    lost_gpu_s: float | None
    data_wait_share: float | None
    exposed_comm_share: float | None
    bubble_share: float | None
    memory_copy_share: float | None
    compute_share: float | None
    other_share: float | None
    tokens_per_s_per_gpu: float | None
    step_median_s: float | None
    reference_step_s: float | None
    mfu_median: float | None
    verdict: str
    verdict_windows: int
    verdict_reason: str | None
    evidence_source: str | None
    evidence_line: str | None
    best_change: str | None
    best_change_gpu_s: float | None
    steadiness_reason: str | None
    input_reason: str | None
    network_reason: str | None
    compute_reason: str | None


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the steps of a run took in one stretch; only restarts where no step line ended in it."""

    run_id: str
    bin_ts: datetime
    bin_s: float
    start_ts: datetime | None
    end_ts: datetime | None
    step_p10_s: float | None
    step_median_s: float | None
    step_p90_s: float | None
    mfu_p10: float | None
    mfu_median: float | None
    mfu_p90: float | None
    restarts: int
    first_restart_ts: datetime | None


@dataclass(frozen=True, slots=True)
class SlowStretch:
    """Steps that took longer than the reference of their run."""

    run_id: str
    attempt: int
    start_ts: datetime
    end_ts: datetime
    step_first: int
    step_last: int
    slowdown: float | None
    cost_gpu_s: float | None
    kind: str
    host: str | None
    gpu: str | None
    host_reason: str | None


@dataclass(frozen=True, slots=True)
class Jitter:
    """Single slow steps of one run, all together, and in how many attempts they were."""

    run_id: str
    attempts: int
    cost_gpu_s: float


@dataclass(frozen=True, slots=True)
class Scaling:
    """A run of a family of one model and sequence length: its throughput against the smallest."""

    family: str
    run_id: str
    gpus: int
    tokens_per_s_per_gpu: float | None
    efficiency: float | None
    exposed_comm_share: float | None


@dataclass(frozen=True, slots=True)
class Straggler:
    """A host or rank whose time of a component stands out among all that do the same."""

    run_id: str
    host: str | None
    rank: int | None
    component: str
    seconds: float
    median_s: float | None
    ratio: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True)
class Link:
    """Bus bandwidth that a kind of collective reached with messages of one class of sizes.

    Attributes:
        measurement: benchmark, summary or operation.
        straggler_share: share of the time that the fastest rank did not need.
        link: nvlink or network; None where nothing tells which hosts took part.
        link_share: of the peak of the link.
    """

    run_id: str | None
    measurement: str
    operation: str | None
    size_class: str | None
    bus_bytes_per_s: float
    straggler_share: float | None
    hosts: int | None
    link: str | None
    link_share: float | None
    evidence_line: str


@dataclass(frozen=True, slots=True)
class Devices:
    """How busy the devices of a run were, or of a host of it that stands out.

    Attributes:
        host: None for all hosts of the run.
        finding: why the host stands out, in words.
    """

    run_id: str
    host: str | None
    hosts: int
    devices: int
    sm_active: float | None
    tensor_active: float | None
    dram_active: float | None
    nvlink_bytes_per_s: float | None
    pcie_bytes_per_s: float | None
    power_w: float | None
    sm_clock_mhz: float | None
    throttled_share: float | None
    reasons: str | None
    gpu: str | None
    finding: str | None


@dataclass(frozen=True, slots=True)
class Productive:
    """How well the productive time ran."""

    efficiencies: tuple[Efficiency, ...]
    paces: tuple[Pace, ...]
    slow_stretches: tuple[SlowStretch, ...]
    jitters: tuple[Jitter, ...]
    scaling: tuple[Scaling, ...]
    stragglers: tuple[Straggler, ...]
    links: tuple[Link, ...]
    devices: tuple[Devices, ...]

    @property
    def slow_gpu_s(self) -> float | None:
        """Productive time beyond the reference of each run; None where no run knows its own."""
        known = [run.lost_gpu_s for run in self.efficiencies if run.lost_gpu_s is not None]
        return sum(known) if known else None

    @property
    def reference_mfu(self) -> float | None:
        """MFU of all runs at their reference pace, weighted by that time; None where one is not known."""
        told: list[tuple[float, float]] = []
        for run in self.efficiencies:
            if run.reference_mfu is None or run.lost_gpu_s is None:
                return None
            told.append((run.reference_mfu, run.productive_gpu_s - run.lost_gpu_s))
        whole = sum(spent for _, spent in told)
        return sum(mfu * spent for mfu, spent in told) / whole if whole else None
