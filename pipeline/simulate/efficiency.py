"""What productive time was truly worth: the four factors of model goodput of runs whose steps divide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pipeline.simulate.renderers import trainers
from pipeline.simulate.split import PEAK, Told, flops_of_a_step
from pipeline.simulate.story import SECOND, Run, Split, Story
from pipeline.simulate.survival import survival
from pipeline.simulate.truth import Truth

NOT_KNOWN = "not_known"

#: What a log has to tell of for a verdict.
_DECIDING: Mapping[str, Told] = {
    "network_bound": "exposed_comm",
    "memory_bound": "memory_copy",
    "compute_bound": "flops",
    "input_bound": "data_wait",
    "bubble_bound": "bubble",
    "balanced": "flops",
}


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The product behind model goodput of one run, as far as its trainer tells of it; shares of 1.

    A factor that nothing tells of is None, and what it would hold is in the next one that is known.

    Attributes:
        steadiness: planned time of the surviving steps / productive time.
        input_efficiency: share of a step that does not wait for data.
        network_efficiency: of the rest, the share that is not exposed communication.
        compute_efficiency: model FLOPs / (peak × what remains of the planned time).
        g_model: model FLOPs of surviving steps / (productive time × peak).
        verdict: what a step is bound by, or ``not_known``.
        reference_step_s: planned time of a step at the size of the run.
    """

    steadiness: float
    input_efficiency: float | None
    network_efficiency: float | None
    compute_efficiency: float | None
    g_model: float | None
    verdict: str
    reference_step_s: float


def efficiencies(story: Story, truth: Truth) -> dict[str, Efficiency]:
    """Return by name the efficiency of each run that has a split and a surviving step."""
    productive: Counter[str] = Counter()
    for piece in truth.pieces:
        if piece.category == "productive":
            productive[piece.run] += piece.gpu_us
    return {
        run.name: _efficiency(run, run.split, productive[run.name])
        for run in story.runs
        if run.split is not None and productive[run.name]
    }


def _efficiency(run: Run, split: Split, productive_us: int) -> Efficiency:
    """Return the efficiency of a run from its productive GPU-microseconds."""
    told = trainers()[run.trainer].tells
    survives = survival(run)
    steps: Counter[int] = Counter()
    for attempt in run.attempts:
        kept = sum(step.number <= survives[attempt.number] for step in attempt.steps)
        steps[attempt.step_us * attempt.gpus(run)] += kept
    reference_us = sum(gpu_us * count for gpu_us, count in steps.items())
    flops = flops_of_a_step(run, trainers()[run.trainer].flops_per_token) * steps.total()
    waits = split.data_wait if "data_wait" in told else 0.0
    exposed = split.exposed_comm if "exposed_comm" in told else 0.0
    is_told = "flops" in told
    return Efficiency(
        steadiness=reference_us / productive_us,
        input_efficiency=1 - waits if "data_wait" in told else None,
        network_efficiency=(1 - waits - exposed) / (1 - waits) if "exposed_comm" in told else None,
        compute_efficiency=flops / (PEAK * reference_us / SECOND * (1 - waits - exposed))
        if is_told
        else None,
        g_model=flops / (PEAK * productive_us / SECOND) if is_told else None,
        verdict=_verdict(split.verdict, told),
        reference_step_s=max(attempt.step_us for attempt in run.attempts if attempt.gpus(run) == run.gpus)
        / SECOND,
    )


def _verdict(verdict: str, told: Collection[Told]) -> str:
    """Return what a step is bound by, where its log tells of what decides."""
    return verdict if _DECIDING[verdict] in told else NOT_KNOWN
