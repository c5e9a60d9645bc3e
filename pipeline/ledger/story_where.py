"""Where an incident happened, as far as its lines tell: host, GPU, rank, part, and who else says the same."""

from __future__ import annotations

from pipeline.ledger.story import Evidence, Head, Story

#: A spread below this is told as this: a length of nothing would promise more than clocks can.
_LEAST_SPREAD_S = 0.1


def deciding_line(story: Story) -> Evidence | None:
    """Return the line that decided what the logs say, or None."""
    return next((one for one in story.evidence if one.role == "cause"), None)


def where(story: Story) -> str:
    """Return where it happened, and what failed there; where no line tells, that is told."""
    head, deciding = story.incident, deciding_line(story)
    many = (head.copy_ranks or 1) > 1
    parts = [f"host {head.host}"] if head.host else []
    parts += [f"GPU {head.gpu}"] if head.gpu else []
    parts += [f"{head.gpus_at_once:,} GPUs of it at once"] if (head.gpus_at_once or 1) > 1 else []
    parts += [f"rank {head.rank}"] if head.rank is not None and not many else []
    parts += [head.device] if head.device else []
    told = [", ".join(parts)] if parts else _nowhere(deciding, many=many)
    if many:
        told.append(_ranks(head))
    elif deciding is not None and deciding.taken_for == "collective_timeout" and deciding.rank is not None:
        told.append(f"rank {deciding.rank} waited, and does not say for whom")
    elif deciding is not None and deciding.taken_for == "peer_lost" and deciding.rank is not None:
        other = "the connection to a rank there" if head.host else "a connection"
        told += [f"rank {deciding.rank} lost {other}"] if deciding.rank != head.rank else []
    if head.faulty_part:
        told.append(f"what failed is the {head.faulty_part.replace('gpu', 'GPU')}")
    return "; ".join(told)


def _nowhere(deciding: Evidence | None, *, many: bool) -> list[str]:
    """Return why no place is told; of what many ranks say it is told that many do."""
    if deciding is None:
        return ["no line tells on which host"]
    if deciding.host is None:
        return ["the line that decided names no host"]
    return [] if many else ["several hosts say the same, so that it failed on none of them"]


def _ranks(head: Head) -> str:
    """Return how many ranks say the same, and which was first as far as that is known."""
    spread = f"{head.copy_ranks:,} ranks"
    spread += f" on {head.copy_hosts:,} hosts" if (head.copy_hosts or 1) > 1 else ""
    if head.rank is None:
        return f"{spread} say the same"
    if head.copy_spread_s is None:
        return f"{spread} say the same; rank {head.rank} stands first, and no time tells which was first"
    within = max(head.copy_spread_s, _LEAST_SPREAD_S)
    return f"{spread} say the same within {within:,.1f} s, first rank {head.rank}"
