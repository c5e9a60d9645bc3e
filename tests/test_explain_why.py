"""``goodput explain`` says why one line counts and not another, and whether a scheduler agrees."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from explained import line_of

from pipeline.ledger.story_scheduler import build_scheduler
from pipeline.ledger.story_why import build_why, compare

AT = datetime(2026, 3, 3, 8, tzinfo=UTC)

#: What the line that decided is like, what the other one is like, and what is said of that.
COMPARED = {
    "planned": ({"planned": True}, {}, "a planned end comes first"),
    "planned too late": (
        {"at": AT},
        {"at": AT + timedelta(seconds=6), "planned": True},
        "a fault was told more than 5 s before it",
    ),
    "planned below a fault without a time": (
        {},
        {"at": AT, "planned": True},
        "but a fault was told before it",
    ),
    "symptom": ({}, {"weight": "symptom"}, "it is a symptom"),
    "beside": ({"weight": "symptom"}, {"weight": "symptom", "own": False}, "the run's own line comes before"),
    "watchdog": ({}, {"taken_for": "collective_timeout", "causal_rank": 6}, "has waited for somebody else"),
    "went": ({}, {"causal_rank": 7}, "tells that something went, and not why"),
    "undated": ({}, {"dated_after_progress": False}, "may be noise of the start"),
    "deeper": ({"causal_rank": 1}, {}, "causal rank 3 against 1"),
    "earlier": (
        {"at": AT, "near": AT},
        {"at": AT + timedelta(milliseconds=5), "near": AT + timedelta(milliseconds=5)},
        "later: 2026-03-03 08:00:00.005000 against 2026-03-03 08:00:00",
    ),
    # Neither carries a time: those of the lines beside them are known, and no more exact than to the second.
    "earlier by its neighbours": (
        {"near": AT + timedelta(microseconds=464376)},
        {"near": AT + timedelta(seconds=9, microseconds=588762)},
        "later: about 2026-03-03 08:00:09 against about 2026-03-03 08:00:00",
    ),
    "earlier within a second": (
        {"near": AT},
        {"near": AT + timedelta(milliseconds=5)},
        "its first line is later",
    ),
    "nearer": (
        {"line": 9, "dated_after_progress": False},
        {"line": 3, "dated_after_progress": False},
        "stands nearer to the end of the log",
    ),
    "raised over": (
        {"in_doubt": "raised_over", "line": 9},
        {"in_doubt": "first_fault", "line": 3},
        "the other one was raised while it was handled",
    ),
    "same": ({"source_id": "b"}, {"source_id": "a"}, "the first of the logs by name counts"),
    "same log": ({"source_id": "a"}, {"source_id": "a", "line": 7}, "it stands later in the same log"),
    "late": (
        {"at": AT, "causal_rank": 6, "taken_for": "collective_timeout"},
        {"at": AT + timedelta(seconds=61), "own": False, "causal_rank": 1},
        "a kernel told of it more than a minute after the run itself had told of its end",
    ),
    "not late": (
        {"at": AT, "causal_rank": 6, "taken_for": "collective_timeout"},
        {"at": AT + timedelta(seconds=60), "own": False, "causal_rank": 1},
        "has the whole order",
    ),
    # The ledger knows more than the lines: where they would say the contrary, nothing is made up.
    "contrary": ({"causal_rank": 4, "near": AT}, {"near": AT + timedelta(seconds=9)}, "has the whole order"),
}


@pytest.mark.parametrize("case", COMPARED)
def test_the_first_fact_that_differs_is_told(case: str) -> None:
    chosen, other, words = COMPARED[case]
    assert words in compare(line_of(**chosen), line_of(**other))


def head_of(**values: object) -> dict[str, Any]:
    """Return the columns of an incident of which only some matter."""
    usual = {
        "kind": "unplanned",
        "cause": "gpu_out_of_memory",
        "state": None,
        "state_by": None,
        "has_verdict": False,
        "verdict_fit": None,
        "confidence": "evidence",
        "confidence_reason": "a line of the run itself",
        "says_done": False,
        "at_target": False,
        "job_end_told": False,
        "stepless": False,
        "runner_up_cause": None,
        "last_progress_ts": AT,
    }
    head = {**usual, **values}
    return {"kind_by_evidence": head["kind"], "cause_by_evidence": head["cause"], **head}


PLANNED, COMPLETED = {"kind": "planned"}, {"kind": "completed", "cause": "completed"}
#: A person says what the scheduler says, or denies it; the logs say that memory was used up.
DENIED = {"has_verdict": True, "cause_by_evidence": "gpu_out_of_memory", "kind_by_evidence": "unplanned"}

#: Columns of the incident to whether the scheduler agrees, and what is said of that.
AGREES: tuple[tuple[dict[str, Any], bool | None, str], ...] = (
    (
        {"state": "TIMEOUT", "cause": "time_limit", **PLANNED},
        True,
        "the scheduler says TIMEOUT, which agrees",
    ),
    (
        {"state": "CANCELLED", "state_by": "uid 7", "cause": "maintenance", **PLANNED},
        True,
        "CANCELLED by uid 7, which",
    ),
    (
        {"state": "NODE_FAIL", "cause": "gpu_fell_off_bus"},
        False,
        "which is a consequence; a line tells what came",
    ),
    ({"state": "COMPLETED"}, False, "but a line tells of a fault: the exit code of a launcher"),
    (
        {"state": "COMPLETED", "cause": "operator_stop", **PLANNED},
        False,
        "but a line tells that it was stopped before",
    ),
    ({"state": "FAILED"}, None, "the scheduler says FAILED: that it failed, and not why"),
    ({"state": "FAILED", "says_done": True, **COMPLETED}, False, "which the program's own word contradicts"),
    (
        {"state": "TIMEOUT", "at_target": True, **COMPLETED},
        False,
        "TIMEOUT, but the target was reached before",
    ),
    ({"state": "RUNNING", "kind": "ongoing", "cause": "in_progress"}, None, "the scheduler says RUNNING"),
    ({}, None, "the scheduler says nothing of this end"),
    ({"job_end_told": True}, None, "no accounting tells how the job ended; its output tells when"),
    # A person decides: with whom the scheduler agrees is told of both.
    ({**DENIED, "state": "COMPLETED", **COMPLETED}, True, "agrees with the verdict and not with the logs"),
    ({**DENIED, "state": "FAILED", **COMPLETED}, False, "that it failed, which contradicts the verdict"),
    ({**DENIED, "state": "FAILED", "cause": "network_link"}, None, "FAILED: that it failed, and not why"),
    ({**DENIED, "state": "NODE_FAIL", "cause": "network_link"}, False, "which agrees with neither of them"),
    (
        {**DENIED, "state": "COMPLETED", "cause_by_evidence": "completed", "kind_by_evidence": "completed"},
        False,
        "agrees with the logs and not with the verdict",
    ),
)


@pytest.mark.parametrize(("head", "agrees", "words"), AGREES)
def test_the_word_of_the_scheduler_is_weighed(head: dict[str, Any], agrees: bool | None, words: str) -> None:
    found, told = build_scheduler(head_of(**head), [line_of(role="cause")])
    assert (found, words in told) == (agrees, True), told


#: A line of a scheduler in the log of the run to what it speaks of.
SPOKEN = {None: "speaks of its tasks, at a.log:1 (slurm)", AT: "speaks of it, at a.log:1 (slurm)"}


@pytest.mark.parametrize("at", SPOKEN)
def test_without_accounting_a_line_of_the_scheduler_is_named(at: datetime | None) -> None:
    line = line_of(role="evidence", by_scheduler=True, signal_id="slurm", at=at)
    assert SPOKEN[at] in build_scheduler(head_of(), [line])[1]


#: Columns of the incident, its deciding line, and what is said of why it is the cause.
REASONS: tuple[tuple[dict[str, Any], dict[str, Any] | None, str], ...] = (
    ({"says_done": True, **COMPLETED}, None, "the program says itself that it is done"),
    ({"at_target": True, **COMPLETED}, None, "the target was reached, and nothing went wrong before the end"),
    ({"state": "COMPLETED", **COMPLETED}, None, "before the end, and the scheduler says COMPLETED"),
    ({"kind": "ongoing", "cause": "in_progress"}, None, "the logs stop while the run goes on"),
    ({"kind": "unknown", "cause": "unknown"}, None, "the cause is unknown, and not guessed"),
    ({"state": "NODE_FAIL", "cause": "node_failure"}, None, "the scheduler's state NODE_FAIL does"),
    ({}, {}, "its line names a cause, causal rank 3"),
    ({"confidence": "unknown"}, {}, "its line tells what happened and not why"),
    ({"confidence": "unknown"}, {"weight": "symptom"}, "its line is a symptom, causal rank 3"),
    ({}, {"at": AT + timedelta(minutes=27)}, "in the run's own log, 27 min after the last progress"),
    # Where no step is logged, there is no progress that a line could follow.
    (
        {"stepless": True},
        {"at": AT + timedelta(minutes=27)},
        "in the run's own log, 27 min after the start",
    ),
    (
        {"stepless": True},
        {"at": AT, "waited_s": 600.0},
        "it stands in the run's own log; it says that it had waited 600 s, which dates the stall",
    ),
    ({"last_progress_ts": None}, {"at": AT}, "it stands in the run's own log"),
    (
        {"cause": "maintenance", **PLANNED},
        {"taken_for": "operator_stop"},
        "falls into maintenance that was declared",
    ),
    # Under a verdict the reasons are those of the logs.
    ({"has_verdict": True, "says_done": True, **COMPLETED, **DENIED}, {}, "its line names a cause"),
)


@pytest.mark.parametrize(("head", "line", "words"), REASONS)
def test_the_reasons_are_those_of_the_logs(
    head: dict[str, Any], line: dict[str, Any] | None, words: str
) -> None:
    evidence = [] if line is None else [line_of(role="cause", **line)]
    reasons = build_why(head_of(**head), evidence, {}, 5).reasons
    assert any(reason == words or words in reason for reason in reasons)
    assert not any(" 0 s after" in reason for reason in reasons if head.get("stepless"))


def test_a_declared_maintenance_is_the_first_reason_of_a_stop() -> None:
    entry = "a person's stop within the [[maintenance]] of the configuration from 08:00 to 10:00"
    head = head_of(state="CANCELLED", cause="maintenance", confidence_reason=entry, **PLANNED)
    by_line = build_why(head, [line_of(role="cause", taken_for="operator_stop")], {}, 5)
    by_state = build_why(head, [], {}, 5)
    assert [why.reasons[0] for why in (by_line, by_state)] == [entry, entry]
    assert not any("maintenance that was declared" in reason for reason in by_line.reasons)


#: Columns of an incident that no line decided to what is said of the line that came second.
OUTWEIGHED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"says_done": True, **COMPLETED}, "the run ended well in spite of it"),
    ({"kind": "ongoing", "cause": "in_progress"}, "no line tells that it ended anything"),
    ({"kind": "unknown", "cause": "unknown"}, "which follows from something, and tells too little to go by"),
    (
        {"state": "FAILED", "cause": "exit_code"},
        "which follows from something, and tells too little to go by",
    ),
    ({"state": "NODE_FAIL", "cause": "node_failure"}, "and the scheduler's state NODE_FAIL says more"),
)


@pytest.mark.parametrize(("head", "words"), OUTWEIGHED)
def test_a_line_that_a_state_outweighs_is_the_runner_up(head: dict[str, Any], words: str) -> None:
    line = line_of(role="runner_up", weight="symptom", taken_for="process_killed")
    columns = head_of(**head, runner_up_cause="process_killed", runner_up_title="Process killed")
    told = build_why(columns, [line], {}, 5).runner_up
    assert told is not None
    assert words in told.reason


@pytest.mark.parametrize(("seconds", "told"), [(61, True), (60, False)])
def test_a_gpu_without_which_steps_went_on_is_told_as_one(seconds: int, told: bool) -> None:
    fault = line_of(
        role="runner_up", gpu="0000:9b:00", own=False, at=AT - timedelta(seconds=seconds), causal_rank=1
    )
    stop = line_of(role="cause", planned=True, at=AT)
    head = head_of(cause="operator_stop", runner_up_cause="gpu_fell_off_bus", runner_up_title="-", **PLANNED)
    found = build_why(head, [stop, fault], {}, 5).runner_up
    assert found is not None
    assert found.reason.startswith("steps went on for more than a minute") is told


def test_a_wait_that_a_state_explains_is_told_as_one() -> None:
    line = line_of(role="runner_up", taken_for="collective_timeout")
    head = head_of(
        state="NODE_FAIL", cause="node_failure", runner_up_cause="collective_timeout", runner_up_title="-"
    )
    told = build_why(head, [line], {}, 5).runner_up
    assert told is not None
    assert told.reason == (
        "who times out has waited for somebody else, and the scheduler's state NODE_FAIL says more"
    )


#: What there was to look at to what is said of that.
REACHED: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    (
        {"own_files": 2, "shared_files": 1, "silent_hosts": ["gx011"], "hosts": ["gx010", "gx011"]},
        (
            "5 kinds of line, in 2 files of the run, to the end of the attempt",
            "the same in 1 file of nodes, services and schedulers, from 2026-03-03 08:00:00 to "
            "2026-03-03 08:00:09",
            "no log of a node speaks of that time on gx011: their kernel logs could tell more",
        ),
    ),
    (
        {"own_files": 0, "shared_files": 3, "silent_hosts": [], "hosts": ["gx010"]},
        (
            "no file of the run was there to be looked at",
            "5 kinds of line, in 3 files of nodes, services and schedulers, from 2026-03-03 08:00:00 to "
            "2026-03-03 08:00:09",
        ),
    ),
    (
        {"own_files": 1, "shared_files": 0, "silent_hosts": [], "hosts": []},
        (
            "5 kinds of line, in 1 file of the run, to the end of the attempt",
            "no log of a node, service or scheduler covers the time, from 2026-03-03 08:00:00 to "
            "2026-03-03 08:00:09",
            "no source names the nodes that the attempt held: accounting would tell which logs to add",
        ),
    ),
)


@pytest.mark.parametrize(("reach", "words"), REACHED)
def test_what_was_looked_for_is_told_without_parts_of_a_second(
    reach: dict[str, Any], words: tuple[str, ...]
) -> None:
    """The reach of a search is worked out: it is no time that any line carries."""
    times = {"from_ts": AT + timedelta(microseconds=37), "to_ts": AT + timedelta(seconds=9, microseconds=37)}
    assert build_why(head_of(), [], {**reach, **times}, 5).looked_for == words
