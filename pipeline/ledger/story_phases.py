"""The time line of an incident as text: points, what was paid between them, and bars on one axis."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from pipeline.ledger.phrases import duration
from pipeline.ledger.story import Head, Phase
from pipeline.ledger.story_words import Paint, hours, us

#: Points of the time line as they are printed.
TITLES = {
    "before": "lost with it",
    "last_progress": "last progress",
    "fault": "fault",
    "detected": "detected",
    "released": "released",
    "allocated": "new allocation",
    "processes_up": "processes up",
    "restored": "checkpoint read",
    "first_step": "first step",
    "caught_up": "caught up",
}

#: Why points have no time, where that is no lack of knowledge.
UNKNOWN = {
    "kept": "a restart inside the allocation, so that there is none",
    "not_applicable": "nothing went wrong, so that there is none",
    "none_follows": "no later attempt in these logs, so that there is none",
}

#: What is known of points that have no time, where they have a line of their own.
MISSING = {
    ("first_step", "not_made"): "none: the next attempt made no step",
    ("caught_up", "not_made"): "not in these logs: no later attempt came so far",
}

#: What the mark at a point means.
ESTIMATED = "† estimated: no line tells the moment itself, and what bounds it stands in"

#: Characters of the shortest axis that still tells something, and of the longest.
_LEAST_BAR, _MOST_BAR = 12, 40


def phase_lines(head: Head, phases: Sequence[Phase], width: int, paint: Paint) -> Iterator[str]:
    """Yield the time line: points, lengths, what was paid in each, and bars on one axis."""
    known = [phase.at for phase in phases if phase.at is not None]
    if not known:
        yield paint("time line", "head")
        yield "  no line of this attempt carries a time"
        return
    days = {at.astimezone(UTC).date() for at in known}
    stamp = "%H:%M:%S" if len(days) == 1 else "%m-%d %H:%M:%S"
    day = f", {known[0].astimezone(UTC):%Y-%m-%d}" if len(days) == 1 else f", {known[0].astimezone(UTC):%Y}"
    blank = " " * len(known[0].strftime(stamp))
    total = sum(phase.gpu_s for phase in phases)
    told = [phase for phase in phases if _is_told(phase)]
    rows = [_phase_row(phase, head, stamp, blank, total) for phase in told]
    yield paint(f"time line (UTC{day}; GPU-hours paid until the next point)", "head")
    longest_title = max(15, *(len(title) for _, title, *_ in rows))
    left = [
        f"  {when}  {title:<{longest_title}}  {takes:>13}  {paid:>8}" for when, title, takes, paid, _ in rows
    ]
    room = width - max(map(len, left)) - 2
    spent = [cell for *_, cell in rows]
    longest = min(max(map(len, spent)), max(24, room - _LEAST_BAR - 2))
    bars = _bars(told, room - longest - 2)
    for text, cell, bar, phase in zip(left, spent, bars, told, strict=True):
        cut = cell if len(cell) <= min(longest, room) else cell[: min(longest, room) - 1] + "…"
        line = f"{text}  {cut:<{longest}}  {bar}" if bar else f"{text}  {cut}"
        yield line.rstrip() if phase.at or phase.point == "before" else paint(line.rstrip(), "dim")
    if any(phase.estimated for phase in told):
        yield paint(f"  {blank}  {ESTIMATED}"[:width], "dim")
    for why in ("kept", "not_applicable", "none_follows"):
        titles = [TITLES[phase.point] for phase in phases if phase.known == why]
        if titles:
            reason = f"{UNKNOWN[why]}: {', '.join(titles)}"
            indent = f"  {blank}  "
            for line in textwrap.wrap(reason, width, initial_indent=indent, subsequent_indent=indent):
                yield paint(line, "dim")


def _is_told(phase: Phase) -> bool:
    """Return whether a point has a line of its own: it has a time, or nobody knows it."""
    return phase.gpu_s > 0 if phase.point == "before" else phase.known in ("known", "unknown", "not_made")


def _phase_row(
    phase: Phase, head: Head, stamp: str, blank: str, total: float
) -> tuple[str, str, str, str, str]:
    """Return time, title, length, price and what it was for."""
    title = TITLES[phase.point]
    if phase.point == "last_progress" and head.stepless:
        title = "started"
    if phase.point == "before" and "lost_work" not in phase.categories:
        title = "before that"
    if phase.estimated:
        title += " †"
    paid = hours(us(phase.gpu_s), us(total)) if phase.gpu_s else ""
    spent = ", ".join(name.replace("_", " ") for name in phase.categories)
    if phase.point == "before":
        return blank, title, "", paid, spent
    if phase.at is None:
        return blank, title, "", "", MISSING.get((phase.point, phase.known), "not known: no line tells")
    takes = "" if phase.seconds is None else duration(timedelta(seconds=round(phase.seconds, 1)))
    return phase.at.astimezone(UTC).strftime(stamp), title, takes, paid, spent


def _bars(phases: Sequence[Phase], width: int) -> list[str]:
    """Return for each phase a bar on the one axis from the first point to the last."""
    known = [phase.at for phase in phases if phase.at is not None]
    first, last = min(known), max(known)
    whole = (last - first).total_seconds()
    if width < _LEAST_BAR or whole <= 0:
        return ["" for _ in phases]
    width = min(width, _MOST_BAR)

    def column(at: datetime) -> int:
        return min(width - 1, int((at - first).total_seconds() / whole * width))

    bars = []
    for phase in phases:
        if phase.at is None:
            bars.append("")
            continue
        begin = column(phase.at)
        end = begin if phase.seconds is None else column(phase.at + timedelta(seconds=phase.seconds))
        bars.append(" " * begin + ("█" * (end - begin) or "│"))
    return bars
