"""The truth of a story as it stands beside its logs, read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.errors import GoodputError
from pipeline.simulate.blemishes import LOSING
from pipeline.simulate.check import Slack
from pipeline.simulate.folder import TOTALS, TRUTH

_INTERVALS = ("attempt", "part", "start_ts", "end_ts", "category", "incident", "gpus", "gpu_us")
_ENDS = ("attempt", "kind", "cause", "host", "stop_ts", "detected_ts", "released_ts", "lost_steps")


@dataclass(frozen=True, slots=True)
class Written:
    """The truth that stands beside the logs of a folder.

    Attributes:
        slacks: by run, how far its boundaries may lie from the true ones.
        steps: by run, where the last step that an attempt is credited with lies is known to less than this.
        intervals, ends: true intervals and ends.
        missing: blemishes with which something is missing that the truth cannot be told without.
        efficiency: by run whose steps divide, its true factors and verdict, as far as its log tells of them.
    """

    slacks: Mapping[str, Slack]
    steps: Mapping[str, int]
    intervals: pl.DataFrame
    ends: pl.DataFrame
    missing: tuple[str, ...]
    efficiency: Mapping[str, Mapping[str, float | str | None]]


def read_truth(folder: Path) -> Written:
    """Return the truth that a simulation left in a folder.

    Raises:
        GoodputError: there is none, or it is damaged; names the file.
    """
    totals = folder / TOTALS
    if not totals.is_file():
        raise GoodputError(
            "this folder holds no truth" if folder.is_dir() else "there is no such folder",
            where=str(folder),
            why=f"`{TOTALS}` is missing, which `goodput simulate --out` writes",
            now="name a folder that `goodput simulate --out` has written",
        )
    at = totals
    try:
        facts = json.loads(totals.read_text(encoding="utf-8"))
        slacks = {run: slack_from(told) for run, told in facts["slack"].items()}
        steps = {run: int(told["steps"]) for run, told in facts["slack"].items()}
        lost = tuple(name for name in LOSING if facts["blemishes"][name])
        efficiency = {run: dict(told) for run, told in facts.get("efficiency", {}).items()}
        at = folder / TRUTH / "intervals.parquet"
        true = pl.read_parquet(at, glob=False).select("run_id", *_INTERVALS)
        at = folder / TRUTH / "incidents.parquet"
        ends = pl.read_parquet(at, glob=False).select("run_id", *_ENDS)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
        is_plain = isinstance(error, OSError | ValueError | pl.exceptions.PolarsError)
        raise GoodputError(
            "the truth cannot be read",
            where=str(at),
            why=str(error).splitlines()[0] if is_plain else "it is not what `goodput simulate` writes",
            now="simulate the story again",
        ) from None
    return Written(slacks, steps, true, ends, lost, efficiency)


def slack_from(told: Mapping[str, Any]) -> Slack:
    """Return the slack of a run as the file of its truth tells it."""
    blind, untold = (tuple((start, end) for start, end in told[name]) for name in ("blind", "untold"))
    return Slack(told["boundary_us"], told["stamp_us"], frozenset(told["stamped"]), blind, untold)
