"""The console of Megatron-LM, core 0.6 to 0.15: times in whole seconds, and none before lines of saves."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import ALL_PARTS, Trainer
from pipeline.simulate.renderers._megatron import Release
from pipeline.simulate.story import SECOND


def suits(plan: Plan) -> Plan:
    """Return a plan without starts that fail: nothing would tell when they began."""
    return replace(plan, failed_start=0.0)


# A gap in the loop cannot be told from a save or an evaluation of the same interval.
TRAINER = Trainer(
    "megatron_core_0_15",
    Release(fraction=False).render,
    frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    dialect_of="megatron",
    resolution_us=SECOND,
    farewells=True,
    tells=ALL_PARTS,
    dates_start=False,
)
