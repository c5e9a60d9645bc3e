"""Weights & Biases: a history as JSON lines, as the API gives it."""

from __future__ import annotations

from pipeline.formats._wandb_history import LINK, STEP_TIME, UNRENDERED, VERSIONS, derived, patterns
from pipeline.formats.format import Format

FORMAT = Format(
    name="wandb_history",
    title="Weights & Biases, history as JSON lines",
    link=LINK,
    role="trainer",
    shape="records",
    patterns=patterns(pointers=True),
    derive=derived(pointers=True),
    step_time=STEP_TIME,
    step_time_excludes_stalls=False,
    deciding=("step", "evaluation"),
    unrendered=UNRENDERED,
    versions=VERSIONS,
)
