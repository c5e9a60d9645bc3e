"""Rows of the marts on the program: what the model needs, and what the silicon could do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What the MFU of a run is computed from.

    Attributes:
        flops_per_token: model FLOPs, forward and backward.
        source: configured, line_ratio, log, shape or parameters.
        convention: how attention counts.
        proof: what the figure was computed from.
        other_source, other_flops_per_token, disagreement: what the next source says; share by which the
            larger is above the smaller.
        reason: why the FLOPs are not known.
        gpu_model, device: the accelerator as its logs name it, and as the device table does.
        peak_flops_per_gpu: FLOP/s, dense.
        printed_mfu: median of what the lines print, share of 1.
    """

    run_id: str
    flops_per_token: float | None
    source: str | None
    convention: str | None
    proof: str | None
    other_source: str | None
    other_flops_per_token: float | None
    disagreement: float | None
    reason: str | None
    gpu_model: str | None
    device: str | None
    precision: str
    peak_flops_per_gpu: float | None
    peak_source: str | None
    printed_mfu: float | None


@dataclass(frozen=True, slots=True)
class ModelFault:
    """Figures behind the MFU of a run that do not fit together, in words."""

    run_id: str
    fault: str
    sentence: str
