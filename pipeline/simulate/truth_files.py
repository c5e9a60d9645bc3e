"""The truth beside the logs: totals as JSON, intervals and incidents as Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.efficiency import efficiencies
from pipeline.simulate.folder import FILES, TOTALS, count_files
from pipeline.simulate.lines import Style
from pipeline.simulate.slack import RunSlack, slack_of
from pipeline.simulate.story import Story
from pipeline.simulate.truth import Truth
from pipeline.simulate.windows import totals

_TS = pl.Datetime("us", "UTC")

_INTERVALS: dict[str, Any] = {
    "run_id": pl.String,
    "attempt": pl.Int64,
    "part": pl.String,
    "start_ts": _TS,
    "end_ts": _TS,
    "gpus": pl.Int64,
    "gpu_us": pl.Int64,
    "category": pl.String,
    "was": pl.String,
    "incident": pl.Int64,
}
_INCIDENTS: dict[str, Any] = {
    "run_id": pl.String,
    "attempt": pl.Int64,
    "kind": pl.String,
    "cause": pl.String,
    "host": pl.String,
    "stop_ts": _TS,
    "detected_ts": _TS,
    "released_ts": _TS,
    "lost_steps": pl.Int64,
}


def write_truth(
    story: Story, truth: Truth, style: Style, blemishes: Blemishes, out: Path, asked: Mapping[str, Any]
) -> None:
    """Write ``truth/intervals.parquet``, ``truth/incidents.parquet`` and, last of all, ``truth.json``."""
    folder = out / "truth"
    folder.mkdir(parents=True, exist_ok=True)
    intervals = [
        (
            p.run,
            p.attempt,
            p.part,
            p.start_us,
            p.end_us,
            p.gpus,
            p.gpu_us,
            p.category,
            p.was or None,
            p.incident,
        )
        for p in truth.pieces
    ]
    _frame(intervals, _INTERVALS).write_parquet(folder / "intervals.parquet")
    incidents = [
        (
            i.run,
            i.attempt,
            i.kind,
            i.cause,
            i.host or None,
            i.stop_us,
            i.detected_us,
            i.released_us,
            i.lost_steps,
        )
        for i in truth.incidents
    ]
    _frame(incidents, _INCIDENTS).write_parquet(folder / "incidents.parquet")
    told = totals(truth)
    if known := efficiencies(story, truth):
        told["efficiency"] = {name: asdict(efficiency) for name, efficiency in known.items()}
    told["slack"] = {run.name: _slack(slack_of(run, style, blemishes)) for run in story.runs}
    told["blemishes"] = asdict(blemishes)
    told["asked"] = dict(asked)
    told[FILES] = count_files(out)
    (out / TOTALS).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _slack(slack: RunSlack) -> dict[str, Any]:
    """Return a slack as JSON has it."""
    return {**asdict(slack), "stamped": sorted(slack.stamped), "boundary_us": slack.boundary_us}


def _frame(rows: list[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    """Return rows as a table; times are microseconds since the epoch."""
    plain = {name: pl.Int64 if kind == _TS else kind for name, kind in schema.items()}
    times = [pl.col(name).cast(_TS) for name, kind in schema.items() if kind == _TS]
    return pl.DataFrame(rows, schema=plain, orient="row").with_columns(times)
