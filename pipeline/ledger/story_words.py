"""Small words that all parts of a story share."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.ledger.phrases import gpu_hours
from pipeline.ledger.story import Head

#: Gives a line a colour by its kind: ``head``, ``mark`` or ``dim``; its text stays as it is.
Paint = Callable[[str, str], str]


def plain(text: str, kind: str) -> str:
    """Return a line without colours."""
    return text


def is_failure(head: Head) -> bool:
    """Return whether something was ended: neither a completion nor the end of the logs."""
    return head.kind not in ("completed", "ongoing")


def time_marks(mark: str) -> str:
    """Return those of the marks of an incident that are about its time: † and ‡."""
    return "".join(one for one in mark if one in "†‡")


def hours(gpu_us: int, whole_us: int) -> str:
    """Return GPU-hours with one digit more than elsewhere: parts are to be seen to add up."""
    return gpu_hours(gpu_us, whole_us // 10)


def us(gpu_s: float) -> int:
    """Return GPU-seconds as whole GPU-microseconds."""
    return round(gpu_s * 1_000_000)
