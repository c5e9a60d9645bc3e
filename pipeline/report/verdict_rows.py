"""Row of the mart about what people decided, as a frozen value named as its columns are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """A person's verdict on an incident, beside what the logs alone say.

    Attributes:
        verdict_fit: agrees, adds or contradicts: what the logs say to it.
        evidence: path and line that decided what the logs alone say.
    """

    incident_id: str
    run_id: str
    at_ts: datetime | None
    mark: str | None
    cause: str
    title: str
    cause_by_evidence: str
    title_by_evidence: str
    verdict_fit: str
    confidence: str | None
    evidence: str | None
    reason: str | None
    date: date | None
    role: str | None
