"""The console of Megatron-LM, core 0.6 to 0.15: times in whole seconds, and none before lines of saves."""

from __future__ import annotations

from pipeline.simulate.renderers import ALL_PARTS, Trainer
from pipeline.simulate.renderers._megatron import Release
from pipeline.simulate.story import SECOND

# A gap in the loop cannot be told from a save or an evaluation of the same interval.
TRAINER = Trainer(
    "megatron_core_0_15",
    Release(fraction=False).render,
    frozenset({"checkpoint_stall", "evaluation"}),
    dialect_of="megatron",
    resolution_us=SECOND,
    farewells=True,
    tells=ALL_PARTS,
    dates_start=False,
)
