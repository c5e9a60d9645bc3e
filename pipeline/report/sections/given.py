"""What a page may use besides the facts of the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.config import Action
from pipeline.report.previous import Previous


@dataclass(frozen=True, slots=True)
class Given:
    """Actions carried over, and the review before this one where it was named."""

    actions: tuple[Action, ...] = ()
    previous: Previous | None = None
