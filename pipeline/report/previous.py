"""The review before this one, as far as this one compares itself with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import GoodputError
from pipeline.report.model import SCHEMA

_FIGURES = ("training_time_goodput", "g_known", "g_infra", "g_framework", "g_model", "composite")


@dataclass(frozen=True, slots=True)
class Previous:
    """Figures of all runs, and the share of training capacity that each cause took."""

    figures: Mapping[str, float | None]
    cause_shares: Mapping[str, float]


def read_previous(path: Path) -> Previous:
    """Read a model.json.

    Raises:
        GoodputError: it cannot be read, or is not a model of this shape.
    """
    try:
        model = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GoodputError(
            "the earlier review cannot be read", where=str(path), why=str(error), now="name its model.json"
        ) from error
    if not isinstance(model, dict) or model.get("schema") != SCHEMA:
        raise GoodputError(
            "the earlier review has another shape",
            where=str(path),
            why=f"its model.json is not of schema {SCHEMA}",
            now="make that review again with this version",
        )
    facts: dict[str, Any] = model["facts"]
    whole = facts["total"]["capacity_gpu_s"] - facts["total"]["planned_gpu_s"] or 1.0
    return Previous(
        figures={name: facts["total"][name] for name in _FIGURES},
        cause_shares={row["cause"]: (row["gpu_s"] - row["planned_gpu_s"]) / whole for row in facts["causes"]},
    )
