"""The console of Megatron-Bridge 0.6: words of Megatron-LM, whole seconds, and none before lines of saves."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._megatron import Release
from pipeline.simulate.story import SECOND


def suits(plan: Plan) -> Plan:
    """Return a plan without starts that fail: none of their words has a time.

    A fault that has one is taken for their first sign of life, and the time before it for provisioning.
    """
    return replace(plan, failed_start=0.0)


# A gap in the loop cannot be told from a save or an evaluation of the same interval.
TRAINER = Trainer(
    "megatron_bridge",
    Release(fraction=False, bridge=True).render,
    frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    resolution_us=SECOND,
    farewells=True,
    dates_start=False,
    shows_world=False,
)
