"""The console of Megatron-LM, core 0.5: step lines without any time, after the `datetime` of the loop."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import ALL_PARTS, Trainer
from pipeline.simulate.renderers._megatron import Release
from pipeline.simulate.story import SECOND


def suits(plan: Plan) -> Plan:
    """Return a plan without the end of a run that goes on, which nothing dates.

    Saves in the background came later.
    """
    return replace(plan, goes_on=False, save_async=False)


TRAINER = Trainer(
    "megatron_core_0_5",
    Release(fraction=False, stamps=False, formats=False, nests_reduction=False).render,
    frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    dialect_of="megatron",
    resolution_us=SECOND,
    farewells=True,
    tells=ALL_PARTS,
    dates_start=False,
    dates_steps=False,
)
