"""Data behind MFU that contradict themselves, on the page that uses it; the page of trust says more."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.facts import Facts
from pipeline.report.model import Item, Listing
from pipeline.report.text import elide


def build_model_faults(facts: Facts, most: int) -> tuple[Listing, ...]:
    """Return what does not fit, one item per run and fault; nothing where everything fits."""
    faults = facts.model_faults
    if not faults:
        return ()
    items = tuple(Item(elide(fault.run_id), _capital(fault.sentence)) for fault in faults)
    hidden = len(items) - most
    return (
        Listing(
            title="Data behind MFU that do not fit",
            items=items[:most],
            more=items[most:],
            note=f"{units.counted(hidden, 'fault')} more in review.html." if hidden > 0 else "",
        ),
    )


def _capital(sentence: str) -> str:
    text = sentence.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
