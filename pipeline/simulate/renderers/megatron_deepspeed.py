"""The console of Microsoft's Megatron-DeepSpeed, between lines of DeepSpeed that have a time."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._megatron_deepspeed import Fork
from pipeline.simulate.story import SECOND


def suits(plan: Plan) -> Plan:
    """Return a plan in which the loop waits for each save, as it does without another engine for them."""
    return replace(plan, save_async=False)


# The line of an evaluation has neither a time nor a length: of the last one before a fault nobody knows how
# long it took.
TRAINER = Trainer(
    "megatron_deepspeed",
    Fork().render,
    frozenset({"checkpoint_stall"}),
    suits=suits,
    resolution_us=SECOND,
    farewells=True,
    dates_steps=False,
)
