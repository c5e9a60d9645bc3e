"""Sentences: the grammar of the headline, the second line, and text alternatives of figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.report.units import THIN, counted, gpu_hours, percent, points

#: More unattributed time than this share of training capacity, and the headline is a range.
WEAK_SHARE = 0.02

#: A change that would print as 0.0 points is none.
SMALLEST_CHANGE = 0.0005

MARKS = {
    "†": "† estimated: a bound was missing",
    "‡": "‡ clock corrected by more than one second",
    "§": "§ the log has a gap inside the interval",
    "¶": "¶ inferred, not evidenced",
}


@dataclass(frozen=True, slots=True)
class Headline:
    """What the headline is made from; GPU time in GPU-seconds, shares of 1.

    Attributes:
        goodput: training-time goodput, None when it is not defined.
        undefined_reason: why it is not.
        unknown_share: unattributed share of training capacity.
        held_gpu_s: GPU time held.
        previous: goodput of the review before, or None.
        disruptions: number of interruptions that nobody had planned.
        cost_gpu_s: what they cost.
        top_cause, top_share: the costliest cause and its share of that cost.
        top_loss, top_loss_gpu_s, top_loss_share: the largest loss, and its share of training capacity.
        budget_gpu_s: budget left, negative when it is overdrawn; None without a target.
        budget_name: which budget that is.
    """

    goodput: float | None
    undefined_reason: str = ""
    unknown_share: float = 0.0
    held_gpu_s: float = 0.0
    previous: float | None = None
    disruptions: int = 0
    cost_gpu_s: float = 0.0
    top_cause: str = ""
    top_share: float = 0.0
    top_loss: str = ""
    top_loss_gpu_s: float = 0.0
    top_loss_share: float = 0.0
    budget_gpu_s: float | None = None
    budget_name: str = "four-week budget"


def headline(facts: Headline) -> str:
    """Return the headline; which sentence it is depends on the data alone."""
    first = _first_sentence(facts)
    return f"{first} {_budget(facts)}".rstrip()


def _first_sentence(facts: Headline) -> str:
    goodput = facts.goodput
    if goodput is None:
        reason = facts.undefined_reason or "no training capacity in this period"
        return f"Goodput is not defined: {reason}."
    if facts.unknown_share > WEAK_SHARE:
        low, high = percent(goodput, unit=False), percent(min(goodput + facts.unknown_share, 1.0))
        share = percent(facts.unknown_share)
        return f"Goodput between {low} and {high}: {share} of GPU-hours cannot be attributed."
    if goodput == 0:
        return f"Goodput 0{THIN}%: no step survived in {_hours(facts.held_gpu_s)} held."
    change = _change(facts)
    if change == ", unchanged" and facts.top_loss:
        size = f"{_hours(facts.top_loss_gpu_s)} ({percent(facts.top_loss_share)} of training capacity)"
        return f"Goodput {percent(goodput)}, unchanged; largest loss is {quoted(facts.top_loss)}, {size}."
    if facts.disruptions == 0 and facts.cost_gpu_s > 0:
        cost = f"those before or after cost {_hours(facts.cost_gpu_s)}"
        return f"Goodput {percent(goodput)}{change}; no disruption in this period, {cost} of it."
    if facts.disruptions == 0:
        return f"Goodput {percent(goodput)}{change}; no disruption in {_hours(facts.held_gpu_s)} held."
    cost = f"{counted(facts.disruptions, 'disruption')} cost {_hours(facts.cost_gpu_s)}"
    return f"Goodput {percent(goodput)}{change}; {cost}{_top(facts)}."


def _change(facts: Headline) -> str:
    """Return the clause on the change; one smaller than the uncertainty is none."""
    if facts.previous is None or facts.goodput is None:
        return ""
    delta = facts.goodput - facts.previous
    if abs(delta) < max(facts.unknown_share, SMALLEST_CHANGE):
        return ", unchanged"
    size = points(delta)
    return f", {'up' if delta > 0 else 'down'} {size} {'point' if size == '1.0' else 'points'}"


def _top(facts: Headline) -> str:
    if not facts.top_cause or facts.cost_gpu_s <= 0:
        return ""
    if facts.top_share > 1 - 1e-9:
        return f", {'its cause' if facts.disruptions == 1 else 'all of it from'} {quoted(facts.top_cause)}"
    return f", {percent(facts.top_share)} of it from {quoted(facts.top_cause)}"


def _budget(facts: Headline) -> str:
    if facts.budget_gpu_s is None or facts.goodput is None:
        return ""
    size = _hours(abs(facts.budget_gpu_s))
    if facts.budget_gpu_s < 0:
        return f"{size} over the {facts.budget_name}."
    return f"{size} of the {facts.budget_name} left."


def second_line(held_gpu_s: float, productive_gpu_s: float, composite: float | None, reason: str) -> str:
    """Return the line below the headline: what became of the hours held, and composite goodput or why not."""
    kept = f"Of {_hours(held_gpu_s)} held, {gpu_hours(productive_gpu_s)} became retained training progress"
    if composite is not None:
        return f"{kept}; composite goodput is {percent(composite)}."
    return f"{kept}; composite goodput is not known: {clause(reason)}."


def quoted(title: str) -> str:
    """Return a title as it stands inside a sentence; titles are no part of its grammar."""
    return f"“{title}”"


def clause(text: str) -> str:
    """Return a reason as the end of a sentence: no full stop, and no capital unless it is a name's."""
    words = text.strip().rstrip(".")
    return words if words[1:2].isupper() else words[:1].lower() + words[1:]


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as a list in a sentence."""
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def alternative(what: str, entries: Iterable[str], most: int = 12) -> str:
    """Return the text alternative of a figure: what it shows, then its values, the rest counted."""
    items = list(entries)
    shown = "; ".join(items[:most])
    rest = f"; and {len(items) - most:,} more" if len(items) > most else ""
    return f"{what}: {shown}{rest}." if items else f"{what}."


def marks_of(texts: Iterable[str | None]) -> tuple[str, ...]:
    """Return the meaning of each footnote mark that the data of a page set."""
    seen = set("".join(text or "" for text in texts))
    return tuple(meaning for mark, meaning in MARKS.items() if mark in seen)


def _hours(gpu_s: float) -> str:
    return f"{gpu_hours(gpu_s)} GPU-hours"
