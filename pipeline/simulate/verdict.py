"""A judgement in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pipeline.simulate.check import Difference, Span
from pipeline.simulate.judge import Judgement


def sentences(found: Judgement, shown: int) -> Iterator[str]:
    """Yield what a comparison found: the first differences with both sides, then the error by category."""
    for gap in found.spans[:shown]:
        yield from _difference(gap)
    for mistake in found.mistakes[:shown]:
        whose = f"{mistake.run}, attempt {mistake.attempt}" if mistake.attempt else mistake.run
        yield f"{whose}, {mistake.what}: truth {mistake.truth}, ledger {mistake.ledger}"
    hidden = max(0, len(found.spans) - shown) + max(0, len(found.mistakes) - shown)
    if hidden:
        yield f"and {hidden:,} more"
    for run, whole in found.whole_us.items():
        yield from _errors(found, run, whole)
    verdict = "the ledger tells the truth, as far as the logs can"
    yield verdict if found.agrees else "the ledger differs from the truth"


def _errors(found: Judgement, run: str, whole_us: int) -> Iterator[str]:
    """Yield the lines about the error of a run by category."""
    own = {category: error for (name, category), error in sorted(found.errors.items()) if name == run}
    points = {category: round(100 * error / whole_us, 5) for category, error in own.items()}
    if not any(points.values()):
        yield f"{run}: no error in any category"
        return
    otherwise = sum(abs(error) for error in own.values()) / 2 / whole_us
    yield f"{run}: {100 * otherwise:.3f} % of all GPU time is told otherwise; error by category, in points"
    for category, error in points.items():
        if error:
            yield f"  {category:18} {error:+9.5f}"


def _difference(gap: Difference) -> Iterator[str]:
    """Yield the lines about one difference."""
    length_s = (gap.end_us - gap.start_us) / 1e6
    yield f"{gap.run}: {_clock(gap.start_us)} to {_clock(gap.end_us)} ({length_s:,.3f} s)"
    yield f"  truth:  {_side(gap.truth)}"
    yield f"  ledger: {_side(gap.ledger)}"


def _side(span: Span | None) -> str:
    """Return what one side says."""
    if span is None:
        return "nothing"
    whose = f", incident {span.incident}" if span.incident else ""
    where = f" ({span.evidence})" if span.evidence else ""
    when = f"from {_clock(span.start_us)} to {_clock(span.end_us)}"
    return f"{span.category}{whose}, {when}, {span.gpus:,} GPUs{where}"


def _clock(time_us: int) -> str:
    """Return a time in UTC, to the millisecond."""
    told = datetime.fromtimestamp(time_us // 1_000_000, UTC)
    return f"{told:%Y-%m-%d %H:%M:%S}.{time_us % 1_000_000 // 1000:03d}"
