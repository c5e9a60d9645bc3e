"""Page 6: it keeps its place, and says why it is empty."""

from __future__ import annotations

from pipeline.report.model import Page


def build() -> Page:
    """Return the page of one line."""
    return Page(
        6,
        "efficiency",
        "How well did the productive time run?",
        "Not computed yet: step times by hour, and how a step divides into computing, communication and "
        "waiting for data. Model goodput on page 1 is their product.",
    )
