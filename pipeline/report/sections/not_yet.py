"""Pages 4 to 7: they keep their place, and say why they are empty."""

from __future__ import annotations

from pipeline.report.model import Page

_PAGES = (
    (
        4,
        "recovery",
        "How long do attempts live, and how fast do we recover?",
        "Not computed yet: survival of attempts, time to failure and the phases of recovery. "
        "The times of each interruption are in ledger.incidents.",
    ),
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
    (
        7,
        "hosts",
        "Which hosts and parts come back?",
        "Not computed yet: hosts with more interruptions than chance would give. "
        "The host of each interruption is in the table of page 3.",
    ),
)


def build() -> tuple[Page, ...]:
    """Return the four pages, each one line."""
    return tuple(Page(number, key, question, why) for number, key, question, why in _PAGES)
