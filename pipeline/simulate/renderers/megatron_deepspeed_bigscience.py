"""The console of BigScience's Megatron-DeepSpeed, with seconds for a step and few lines of DeepSpeed."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._megatron_deepspeed import Fork
from pipeline.simulate.story import SECOND


def suits(plan: Plan) -> Plan:
    """Return a plan without what nothing dates: starts that fail, and the end of a run that goes on.

    The loop waits for each save.
    """
    return replace(plan, failed_start=0.0, goes_on=False, save_async=False)


TRAINER = Trainer(
    "megatron_deepspeed_bigscience",
    Fork(seconds=True, engine=False).render,
    frozenset({"checkpoint_stall"}),
    suits=suits,
    dialect_of="megatron_deepspeed",
    resolution_us=SECOND,
    farewells=True,
    dates_start=False,
    dates_steps=False,
)
