"""The stories of data/samples and their expectations, which were worked out by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
STORIES = sorted(path.parent.name for path in SAMPLES.glob("*/expected.json"))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

#: Figure to the categories that count for it, by the default policy.
FIGURES = {
    "L": {"evaluation", "planned_stop"},
    "U": {"unattributed", "unobserved"},
    "I": {
        *("queue_wait", "requeue_delay", "provisioning", "hang", "teardown", "idle_held"),
        *("capacity_missing", "unscheduled_gap"),
    },
    "F": {
        *("init", "setup", "compile", "restore", "warmup", "checkpoint_stall", "lost_work", "loop_gap"),
        *("data_fast_forward", "data_stall", "shutdown"),
    },
    "P": {"productive"},
}

#: What lost work may have been that an expectation tells apart.
STALLS = {"checkpoint_stall", "evaluation", "restore", "warmup", "loop_gap"}

Json = dict[str, Any]


def read_expected(name: str) -> Json:
    return json.loads((SAMPLES / name / "expected.json").read_text(encoding="utf-8"))


def observed(runs: dict[str, Json]) -> dict[str, Json]:
    return {run_id: run for run_id, run in runs.items() if run["observed"]}


def micros(text: str | None) -> int | None:
    """Return microseconds since 1970 of a time of the expectation."""
    return None if text is None else (datetime.fromisoformat(text) - EPOCH) // MICROSECOND


def text_of(value: datetime | None) -> str | None:
    """Return a time of the ledger as the expectation writes it."""
    if value is None:
        return None
    moment = value.astimezone(UTC)
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def ratios(figures: dict[str, int]) -> dict[str, Fraction | None]:
    """Return the goodput figures as exact fractions; None where the denominator is zero."""
    unplanned = figures["W"] - figures["L"]
    known = unplanned - figures["U"]
    training = known - figures["I"]

    def share(part: int, whole: int) -> Fraction | None:
        return Fraction(part, whole) if whole else None

    return {
        "training_time_goodput": share(figures["P"], unplanned),
        "g_known": share(known, unplanned),
        "g_infra": share(training, known),
        "g_framework": share(figures["P"], training),
    }
