"""The truth in windows: totals for each run, day and category, and the incidents in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from pipeline.simulate.story import SECOND
from pipeline.simulate.truth import Piece, Truth

DAY = 86_400 * SECOND


def cut(piece: Piece) -> Iterator[tuple[int, Piece]]:
    """Yield the parts of a piece in each day (UTC), with the begin of the day."""
    start = piece.start_us
    while start < piece.end_us:
        day = start // DAY * DAY
        end = min(piece.end_us, day + DAY)
        yield day, replace(piece, start_us=start, end_us=end)
        start = end


def totals(truth: Truth) -> dict[str, Any]:
    """Return GPU-microseconds by category: of runs, of their days, of their incidents; and the incidents."""
    whole: dict[str, Counter[str]] = {}
    days: dict[str, dict[int, Counter[str]]] = {}
    costs: dict[str, dict[int, Counter[str]]] = {}
    for piece in truth.pieces:
        whole.setdefault(piece.run, Counter())[piece.category] += piece.gpu_us
        for day, part in cut(piece):
            days.setdefault(piece.run, {}).setdefault(day, Counter())[piece.category] += part.gpu_us
        if piece.incident is not None:
            costs.setdefault(piece.run, {}).setdefault(piece.incident, Counter())[piece.category] += (
                piece.gpu_us
            )
    return {
        "unit": "GPU-microseconds",
        "runs": whole,
        "windows": days,
        "costs": costs,
        "incidents": [asdict(incident) for incident in truth.incidents],
    }
