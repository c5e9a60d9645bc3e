"""What the scheduler says of an end, and whether it agrees with the cause that counts.

Under a person's verdict two causes stand beside each other: the person's, which counts, and that of the logs.
A state is weighed against both, and it is told with which of them it agrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.ledger.story import Evidence

#: What a state of a scheduler says by itself; other states say that a job failed, and not why.
STATES = {
    "TIMEOUT": "time_limit",
    "DEADLINE": "time_limit",
    "PREEMPTED": "preemption",
    "NODE_FAIL": "node_failure",
    "BOOT_FAIL": "node_failure",
    "OUT_OF_MEMORY": "host_out_of_memory",
    "CANCELLED": "operator_stop",
    "REVOKED": "operator_stop",
    "REQUEUED": "requeue",
    "COMPLETED": "completed",
}

#: Causes that a state agrees with beside its own.
_ALSO = {
    "operator_stop": {"maintenance", "preemption", "requeue"},
    "completed": {"data_exhausted", "time_limit"},
    "node_failure": {"node_os"},
}


def build_scheduler(head: Mapping[str, Any], evidence: Sequence[Evidence]) -> tuple[bool | None, str]:
    """Return whether the scheduler agrees with the cause that counts (null: it does not say), and its word.

    Args:
        head: columns of ``ledger.incidents`` and ``ledger.ends``, as `story_load` reads them.
        evidence: the lines that speak of the end.
    """
    state: str | None = head["state"]
    if not state:
        return None, _without_state(head, evidence)
    says = f"the scheduler says {state}" + (f" by {head['state_by']}" if head["state_by"] else "")
    if head["kind_by_evidence"] == "ongoing" and not head["has_verdict"]:
        return None, says
    expected = STATES.get(state.split()[0].rstrip("+"))
    counts = _agrees(expected, head["cause"], head["kind"])
    if not head["has_verdict"] or head["cause"] == head["cause_by_evidence"]:
        return counts, says + _of_logs(head, expected, counts)
    return counts, says + _of_both(
        expected, counts, _agrees(expected, head["cause_by_evidence"], head["kind_by_evidence"])
    )


def _agrees(expected: str | None, cause: str, kind: str) -> bool | None:
    """Return whether a state agrees with a cause; that a job failed says of no failure which it was."""
    if expected is None:
        return False if kind == "completed" else None
    return cause == expected or cause in _ALSO.get(expected, ())


def _of_logs(head: Mapping[str, Any], expected: str | None, agrees: bool | None) -> str:
    """Return how the state stands to the cause that the logs give."""
    if agrees is None:
        return ": that it failed, and not why"
    if agrees:
        return ", which agrees"
    if head["kind_by_evidence"] == "completed":
        if head["says_done"]:
            return ", which the program's own word contradicts"
        return (
            ", but the target was reached before"
            if head["at_target"]
            else ", but nothing else tells of a failure"
        )
    if expected == "completed" and head["kind_by_evidence"] == "planned":
        return ", but a line tells that it was stopped before it was done"
    if expected == "completed":
        return ", but a line tells of a fault: the exit code of a launcher may hide that of its ranks"
    return ", which is a consequence; a line tells what came before"


def _of_both(expected: str | None, verdict: bool | None, logs: bool | None) -> str:
    """Return how the state stands to a verdict and to the logs, which give another cause."""
    if verdict is None and logs is None:
        return ": that it failed, and not why"
    if expected is None:
        return f": that it failed, which contradicts {'the verdict' if verdict is False else 'the logs'}"
    if verdict and logs:
        return ", which agrees with the verdict and with the logs"
    if verdict:
        return ", which agrees with the verdict and not with the logs"
    return (
        ", which agrees with the logs and not with the verdict"
        if logs
        else ", which agrees with neither of them"
    )


def _without_state(head: Mapping[str, Any], evidence: Sequence[Evidence]) -> str:
    """Return what is known of the scheduler's word where no accounting tells how the job ended."""
    # Of its lines one that bears a time tells of the job; the others tell of tasks.
    lines = sorted((one for one in evidence if one.by_scheduler), key=lambda one: one.at is None)
    if not lines and head["job_end_told"]:
        return "no accounting tells how the job ended; its output tells when"
    if not lines:
        return "the scheduler says nothing of this end"
    what = "it" if lines[0].at is not None else "its tasks"
    said = f"{lines[0].path}:{lines[0].line} ({lines[0].signal_id})"
    return f"no accounting tells how the job ended; a line of the scheduler speaks of {what}, at {said}"
