"""Weights & Biases: a history as a table, as its data frame is written to a file."""

from __future__ import annotations

from pipeline.formats._wandb_history import LINK, STEP_TIME, UNRENDERED, VERSIONS, derived, patterns
from pipeline.formats.format import Format

FORMAT = Format(
    name="wandb_csv",
    title="Weights & Biases, history as CSV",
    link=LINK,
    role="trainer",
    shape="csv",
    header=("_step", "_timestamp", "_runtime"),
    header_min=2,
    patterns=patterns(pointers=False),
    derive=derived(pointers=False),
    step_time=STEP_TIME,
    step_time_excludes_stalls=False,
    deciding=("step", "evaluation"),
    unrendered=UNRENDERED,
    versions=VERSIONS,
)
