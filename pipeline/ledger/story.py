"""What is told of an incident, as plain values: one document that text and JSON are made of.

Times are UTC; ``gpu_s`` are accelerators times seconds; null is what no source tells. Names of fields are the
keys of the JSON document, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Head:
    """What, when, where, and what it cost.

    Attributes:
        kind: unplanned, preemption, planned, completed, ongoing or unknown.
        at: the fault, else its detection, else the last progress, else the release.
        mark: † no line tells that time, ‡ a clock was corrected for it, ¶ the cause is inferred.
        cause, title: code and words of the taxonomy, after a person's verdict.
        rank: the rank that the deciding line names, else the one that printed it.
        copy_ranks, copy_hosts: how many ranks and hosts printed the deciding line.
        copy_spread_s: seconds from the first to the last of these lines, where they carry times.
        gpus_at_once: GPUs of the host of which its log tells the same within 5 s; None of what programs tell.
        device: port, link, switch, file system or path that lines name.
        faulty_part: which of these failed, where the evidence tells.
        failed_start: an end that nobody had planned, before the first step, as far as its output tells.
        stepless: whether its output would tell of steps, and tells of none.
        unseen: whether nobody saw if it made steps, since no line of a trainer tells of its time.
        crash_loop: one of at least three starts in a row that failed alike.
        cascade: causes of the lines that followed, in the order of their first ones.
        caused_by_job: the job for which this one was preempted.
        gpus: accelerators of the attempt.
        price: of the whole incident, where the configuration states one.
    """

    incident_id: str
    kind: str
    run_id: str
    attempt: int
    job_id: str | None
    at: datetime | None
    mark: str
    cause: str
    title: str
    domain: str | None
    confidence: str
    confidence_reason: str | None
    host: str | None
    gpu: str | None
    rank: int | None
    copy_ranks: int | None
    copy_hosts: int | None
    copy_spread_s: float | None
    gpus_at_once: int | None
    device: str | None
    faulty_part: str | None
    gpus: int | None
    owner: str | None
    charged_to: str | None
    failed_start: bool
    stepless: bool
    unseen: bool
    crash_loop: bool
    cascade: tuple[str, ...]
    caused_by_job: str | None
    lost_steps: int | None
    lost_gpu_s: float
    gpu_s: float
    price: float | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class Phase:
    """A point of the time line, and the time from there to the next point that is known.

    Attributes:
        point: ``before`` (the steps that were lost), last_progress, fault, detected, released, allocated,
            processes_up, restored, first_step or caught_up.
        known: known, unknown, kept (a restart inside the allocation), none_follows,
            not_made (the next attempt made no step, or none came so far again) or not_applicable.
        estimated: whether no line tells the time, so that a bound stands in for it.
        categories: what was paid for, the largest part first.
    """

    point: str
    at: datetime | None
    known: str
    estimated: bool
    seconds: float | None
    gpu_s: float
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log as it reads now, secrets masked."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that speaks of the end; lines of the same kind on one host are told once.

    Attributes:
        role: cause (it decided), runner_up, evidence (it was weighed), last_step, exit, scheduler.
        taken_for: code of the cause that lines of its kind stand for.
        causal_rank: 1 is physical evidence, 9 a mere symptom.
        in_doubt: first_fault or raised_over, of two errors of a chain which both may have ended the process.
        at, near: time of the line; of the lines beside it where it has none.
        text: what the store kept.
        by_scheduler: whether a scheduler prints lines of its kind.
        rows, files, ranks: how many lines, files and ranks said the same on this host, and until when.
        counted_rows: lines of `rows` that were only counted, so that their host and attempt are not known.
        log: what became of the file: same, grown, changed, gone, no_lines, withheld, or not_asked.
        log_note: the same in words.
        lines: the line and its neighbours as they lie in the file now.
    """

    role: str
    signal_id: str | None
    taken_for: str | None
    title: str | None
    weight: str | None
    causal_rank: int | None
    planned: bool
    own: bool | None
    by_scheduler: bool
    dated_after_progress: bool | None
    in_doubt: str | None
    at: datetime | None
    near: datetime | None
    host: str | None
    gpu: str | None
    rank: int | None
    fault_rank: int | None
    waited_s: float | None
    source_id: str
    path: str
    line: int | None
    text: str
    rows: int
    counted_rows: int
    files: int
    ranks: int
    last_at: datetime | None
    log: str = "not_asked"
    log_note: str = ""
    lines: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The cause that came second, its line, and why it is not the cause."""

    cause: str
    title: str
    path: str | None
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Why:
    """Why this cause, in sentences; under a person's verdict why the logs alone give theirs.

    Attributes:
        verdict: what the logs say to a person's verdict; null without one.
        reasons: what speaks for the cause that the logs give.
        looked_for: what was looked for, where and when, and which hosts no log speaks of.
        scheduler: what the scheduler says, and whether it agrees.
        scheduler_agrees: with the cause that counts, a person's or that of the logs; null where it says
            nothing of causes.
    """

    verdict: str | None
    reasons: tuple[str, ...]
    runner_up: RunnerUp | None
    looked_for: tuple[str, ...]
    scheduler_state: str | None
    scheduler_agrees: bool | None
    scheduler: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What was paid in a category, and what would be left of it otherwise."""

    category: str
    title: str
    seconds: float
    gpu_s: float
    detected_at_once_gpu_s: float
    saved_before_gpu_s: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person decided, beside what the evidence alone says.

    Attributes:
        fit: agrees, adds or contradicts: what the evidence says to it.
    """

    cause: str
    title: str
    owner: str | None
    reason: str | None
    date: date | None
    role: str | None
    cause_by_evidence: str
    title_by_evidence: str
    fit: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What the taxonomy advises, and how a person overrules it.

    Attributes:
        for_signal: what the catalogue of signals advises for lines of the kind that decided.
        benign_when: when lines of that kind mean nothing.
        verdict_head, verdict_line: two lines for verdicts.csv; cause, reason and role are to edit.
    """

    meaning: str | None
    first_action: str | None
    for_signal: str | None
    benign_when: str | None
    reference: str | None
    owner: str | None
    verdict_head: str
    verdict_line: str


@dataclass(frozen=True, slots=True)
class Story:
    """An incident as a story."""

    incident: Head
    phases: tuple[Phase, ...]
    evidence: tuple[Evidence, ...]
    why: Why
    costs: tuple[Cost, ...]
    verdict: Verdict | None
    advice: Advice


class Around(Protocol):
    """What lies around some lines of a file now; see `pipeline.ingest.neighbours`."""

    @property
    def state(self) -> str:
        """What became of the file."""

    @property
    def why(self) -> str:
        """The same in words."""

    @property
    def lines(self) -> Mapping[int, str]:
        """Number of a line to its text."""


#: Asks a log for lines: source, their numbers, and what the store kept of some of them.
Look = Callable[[str, frozenset[int], Mapping[int, str]], Around]
