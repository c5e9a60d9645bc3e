"""Slurm accounting that went through a spreadsheet or a data frame: cells are quoted where they need it."""

from __future__ import annotations

from dataclasses import replace

from pipeline.formats.slurm_sacct import FORMAT as TEXT

FORMAT = replace(
    TEXT,
    name="slurm_sacct_csv",
    title="Slurm accounting as quoted CSV (sacct, saved again)",
    shape="csv",
    shapes={},
    free=(),
    unrendered="The simulator writes the same records as sacct prints them.",
)
