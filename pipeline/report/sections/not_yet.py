"""Pages 4, 6 and 7: they keep their place, and say why they are empty."""

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


def build(number: int) -> Page:
    """Return a page of one line."""
    return next(Page(*page) for page in _PAGES if page[0] == number)
