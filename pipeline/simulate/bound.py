"""Stories whose steps divide in a way that is known: what each of them is bound by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipeline.simulate.plan import Ending, Plan
from pipeline.simulate.story import SECOND, Split, Throttle

#: Half an hour of 64 GPUs that fails once; steps hardly differ, so that a share is known to a thousandth.
_CLEAN = Plan(
    name="heron-8b",
    batch=448,
    target=320,
    step_s=5.0,
    jitter=0.002,
    save_every=60,
    watchdog_s=120.0,
    script=(Ending("gpu_off_bus_hang", 700.0),),
)

#: Computing and the transfer of gradients, of which little is exposed.
_BUSY = Split("compute_bound", data_wait=0.01, exposed_comm=0.04)

PLANS: Mapping[str, tuple[Plan, ...]] = {
    # The reduction of gradients hides under little of the backward pass.
    "network_bound": (replace(_CLEAN, split=Split("network_bound", 0.01, 0.42)),),
    # The optimizer's state lies in the memory of the host, and is copied in each step.
    "memory_bound": (replace(_CLEAN, split=Split("memory_bound", 0.01, 0.05, memory_copy=0.36)),),
    # Too few workers read what the steps need.
    "input_bound": (replace(_CLEAN, split=Split("input_bound", 0.38, 0.05)),),
    # Eight stages and 13 micro batches: 7 of 20 turns of each stage are empty.
    "bubble_bound": (
        replace(_CLEAN, batch=416, split=Split("bubble_bound", 0.01, 0.04, bubble=0.35, pipeline=8)),
    ),
    "compute_bound": (replace(_CLEAN, batch=928, split=_BUSY),),
    # One host computes longer than the seven others, which wait for it in each reduction.
    "straggler_host": (replace(_CLEAN, batch=768, split=replace(_BUSY, straggler=3, straggler_share=0.15)),),
    # From a step on a GPU runs with a lower clock.
    "throttled_gpu": (replace(_CLEAN, batch=928, split=_BUSY, throttle=Throttle(220, 1.3)),),
    # As many samples for each GPU, and the same 4.75 s of computing: what grows is communication.
    "scaling": tuple(
        replace(
            _CLEAN,
            name=f"heron-8b-{gpus}",
            gpus=gpus,
            batch=14 * gpus,
            step_s=round(4.75 / (0.99 - exposed), 3),
            start_us=_CLEAN.start_us + at * 600 * SECOND,
            split=Split(verdict, 0.01, exposed),
        )
        for at, (gpus, exposed, verdict) in enumerate(
            ((16, 0.04, "compute_bound"), (32, 0.12, "compute_bound"), (64, 0.40, "network_bound"))
        )
    ),
    # A trainer that prints no timers: nothing tells how its steps divide.
    "no_timers": (replace(_CLEAN, trainer="torchtitan", split=Split("network_bound", 0.01, 0.42)),),
}
