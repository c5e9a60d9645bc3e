"""The console of Megatron-Bridge 0.6: words of Megatron-LM, whole seconds, and none before lines of saves."""

from __future__ import annotations

from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._megatron import Release
from pipeline.simulate.story import SECOND

# A gap in the loop cannot be told from a save or an evaluation of the same interval.
TRAINER = Trainer(
    "megatron_bridge",
    Release(fraction=False, bridge=True).render,
    frozenset({"checkpoint_stall", "evaluation"}),
    resolution_us=SECOND,
    farewells=True,
    dates_start=False,
    shows_world=False,
)
