"""The console of AMD Primus of 2026-08: Megatron-LM behind a header, with edited step lines."""

from __future__ import annotations

from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._megatron import Release

TRAINER = Trainer(
    "primus",
    Release(primus=True).render,
    frozenset({"checkpoint_stall", "evaluation", "loop_gap"}),
    exact=frozenset({"checkpoint_stall"}),
    farewells=True,
)
