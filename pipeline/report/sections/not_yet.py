"""Pages 5 and 6: they keep their place, and say why they are empty."""

from __future__ import annotations

from pipeline.report.model import Page

_PAGES = (
    (
        5,
        "checkpoints",
        "What do checkpoints cost and save?",
        "Not computed yet: the cost of saves against the work they protect, and the interval that would cost "
        "least. What saves took is on page 1 as checkpoint stall and lost work.",
    ),
    (
        6,
        "efficiency",
        "How well did the productive time run?",
        "Not computed yet: step times by hour, and how a step divides into computing, communication and "
        "waiting for data. Model goodput on page 1 is their product.",
    ),
)


def build() -> tuple[Page, ...]:
    """Return the two pages, each one line."""
    return tuple(Page(number, key, question, why) for number, key, question, why in _PAGES)
