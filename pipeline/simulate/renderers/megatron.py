"""The console of Megatron-LM, core 0.16 on: times in microseconds, also in front of the lines of saves."""

from __future__ import annotations

from pipeline.simulate.renderers import ALL_PARTS, Trainer
from pipeline.simulate.renderers._megatron import Release

TRAINER = Trainer(
    "megatron",
    Release().render,
    frozenset({"checkpoint_stall", "evaluation", "loop_gap"}),
    exact=frozenset({"checkpoint_stall"}),
    farewells=True,
    tells=ALL_PARTS,
)
