"""Why an incident has its cause and not another one: the order of ``sql/ledger/ends.sql`` in words.

The ledger has decided; here the two lines are compared by the same facts, and the first one in which they
differ is told. Where none of them says it, that is told too, and nothing is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.ledger.phrases import duration, moment
from pipeline.ledger.story import Evidence, RunnerUp, Why

#: From this rank on a line tells that somebody waited or went, and not why.
WAITED_FOR_OTHERS = 6

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

#: Hosts that are named one by one.
_MOST_HOSTS = 8


def build_why(
    head: Mapping[str, Any], evidence: Sequence[Evidence], reach: Mapping[str, Any], signals: int
) -> Why:
    """Return why the cause is the cause.

    Args:
        head: columns of ``ledger.incidents`` with the state of the scheduler and titles.
        evidence: the lines that speak of the end.
        reach: row of ``marts.incident_reach``, or nothing.
        signals: kinds of line that were looked for.
    """
    chosen = next((one for one in evidence if one.role == "cause"), None)
    agrees, words = _scheduler(head, evidence)
    return Why(
        reasons=tuple(_reasons(head, chosen, evidence)),
        runner_up=_runner_up(head, chosen, evidence),
        looked_for=tuple(_looked_for(reach, signals)),
        scheduler_state=head["state"],
        scheduler_agrees=agrees,
        scheduler=words,
    )


def _reasons(head: Mapping[str, Any], chosen: Evidence | None, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what speaks for the cause that the evidence gives."""
    if "[[maintenance]]" in (head["confidence_reason"] or ""):
        yield head["confidence_reason"]
    if chosen is None:
        if head["kind"] == "completed":
            yield (
                "the program says itself that it is done"
                if head["evidence_path"]
                else ("nothing went wrong before the end, and the target was reached")
            )
        elif head["kind"] == "ongoing":
            yield "no line tells of an end: the logs stop while the run goes on"
        elif head["cause_by_evidence"] == "unknown":
            yield "no line within reach of the end tells of a fault: the cause is unknown, and not guessed"
        else:
            yield f"no line decided it; the scheduler's state {head['state'] or ''} does".replace("  ", " ")
        return
    depth = f"causal rank {chosen.causal_rank} (1 is physical evidence, 9 a mere symptom)"
    if chosen.weight == "symptom":
        yield f"its line is a symptom, {depth}: no line within reach tells what caused it"
    else:
        yield f"its line names a cause, {depth}"
    yield _within_reach(head, chosen)
    alike = {one.signal_id for one in evidence if one.taken_for == chosen.taken_for} - {chosen.signal_id}
    if alike:
        kinds = "one other kind of line points" if len(alike) == 1 else f"{len(alike)} other kinds point"
        yield f"{kinds} to the same cause"


def _within_reach(head: Mapping[str, Any], chosen: Evidence) -> str:
    """Return where the line stands, and how far from the last progress."""
    where = "it stands in the run's own log"
    if not chosen.own:
        host = f" {chosen.host}" if chosen.host else ""
        where = f"it stands in a log of a node or scheduler that served the attempt{host and ': host'}{host}"
    progress: datetime | None = head["last_progress_ts"]
    if chosen.at is None:
        dated = "" if chosen.dated_after_progress else ", and nothing dates it"
        return f"{where}; it carries no time of its own{dated}"
    if progress is None:
        return where
    apart = chosen.at - progress
    side = "after" if apart.total_seconds() >= 0 else "before"
    waited = ""
    if chosen.waited_s:
        waited = f"; it says that it had waited {_seconds(chosen.waited_s)}, which dates the stall"
    return f"{where}, {duration(abs(apart))} {side} the last progress{waited}"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f}".removesuffix(".0") + " s"


def _runner_up(
    head: Mapping[str, Any], chosen: Evidence | None, evidence: Sequence[Evidence]
) -> RunnerUp | None:
    """Return the cause that came second, with its line."""
    cause = head["runner_up_cause"]
    if not cause:
        return None
    other = next((one for one in evidence if one.role == "runner_up"), None)
    title = head["runner_up_title"] or cause
    if other is None:
        return RunnerUp(cause, title, None, None, "its line was not kept")
    if chosen is None:
        reason = "no line decided: " + (head["confidence_reason"] or "the evidence was too weak")
    else:
        reason = compare(chosen, other)
    return RunnerUp(cause, title, other.path, other.line, reason)


def compare(chosen: Evidence, other: Evidence) -> str:
    """Return in words the first fact by which the line that decided comes before another one."""
    if other.planned and not chosen.planned:
        return "it is a planned end, but a fault was told more than 5 s before it"
    for key, words in _ORDER:
        mine, its = key(chosen), key(other)
        if mine is None or its is None or mine == its:
            continue
        if mine < its:
            return words(chosen, other)
        break
    else:
        return "nothing that the lines tell sets them apart: the first of the logs by name counts"
    return "what sets them apart lies not in these two lines alone; sql/ledger/ends.sql has the whole order"


def _grade(one: Evidence) -> int:
    """Return how much a line weighs beside its rank: a wait least, then a line that nothing dates."""
    if one.taken_for == "collective_timeout" or (one.causal_rank or 0) >= WAITED_FOR_OTHERS:
        return 2
    return 0 if one.dated_after_progress else 1


def _of_grade(chosen: Evidence, other: Evidence) -> str:
    """Return what sets lines of two grades apart."""
    if _grade(other) == 1:
        return "nothing dates its line after the last progress: it may be noise of the start"
    ranks = f"causal rank {other.causal_rank} against {chosen.causal_rank}"
    if other.taken_for == "collective_timeout":
        return f"who times out has waited for somebody else: it lies further from the physical fault, {ranks}"
    return f"it tells that something went, and not why: {ranks}"


def _of_rank(chosen: Evidence, other: Evidence) -> str:
    ranks = f"causal rank {other.causal_rank} against {chosen.causal_rank}"
    return f"it lies further from the physical fault: {ranks}"


def _of_time(chosen: Evidence, other: Evidence) -> str:
    both = chosen.near is not None and other.near is not None
    when = f": {_clock(other.near)} against {_clock(chosen.near)}" if both else ""
    return f"its first line is later{when}"


def _clock(at: datetime | None) -> str:
    return "" if at is None else moment(at)


#: The order in which the ledger weighs lines: what is less comes first; null where it does not count.
_ORDER: tuple[tuple[Callable[[Evidence], Any], Callable[[Evidence, Evidence], str]], ...] = (
    (
        lambda one: not one.planned,
        lambda *_: "a planned end comes first, unless a fault was told more than 5 s before it",
    ),
    (
        lambda one: one.weight != "cause",
        lambda *_: "it is a symptom, which follows from something, and the other line names a cause",
    ),
    (
        lambda one: None if one.weight == "cause" else not one.own,
        lambda *_: "of two symptoms the run's own line comes before a line that stands beside it",
    ),
    (_grade, _of_grade),
    (lambda one: one.causal_rank if _grade(one) < 2 or one.weight != "cause" else None, _of_rank),
    (lambda one: one.near if one.dated_after_progress else None, _of_time),
    (
        lambda one: None if one.dated_after_progress or one.line is None else -one.line,
        lambda *_: "nothing dates either, and the other line stands nearer to the end of the log",
    ),
)


def _looked_for(reach: Mapping[str, Any], signals: int) -> Iterator[str]:
    """Yield what was looked for and where, and what nobody could have seen."""
    if not reach:
        return
    own, shared = _files(reach["own_files"]), reach["shared_files"]
    first, last = reach["from_ts"], reach["to_ts"]
    span = "" if first is None or last is None else f", from {moment(first)} to {moment(last)}"
    yield f"{signals:,} kinds of line, in {own} of the run, to its end"
    if shared:
        yield f"the same in {_files(shared)} of nodes, services and schedulers{span}"
    else:
        yield f"no log of a node, service or scheduler covers the time{span}"
    silent: list[str] = reach["silent_hosts"] or []
    if silent:
        named = ", ".join(silent[:_MOST_HOSTS])
        rest = f" and {len(silent) - _MOST_HOSTS:,} more" if len(silent) > _MOST_HOSTS else ""
        yield f"no log of a node speaks of that time on {named}{rest}: their kernel logs could tell more"
    elif not reach["hosts"]:
        yield "no source names the nodes that the attempt held: accounting would tell which logs to add"


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _scheduler(head: Mapping[str, Any], evidence: Sequence[Evidence]) -> tuple[bool | None, str]:
    """Return whether the scheduler agrees with the evidence, and its word."""
    state: str | None = head["state"]
    if not state:
        # Of its lines one that bears a time tells of the job; the others tell of tasks.
        lines = sorted((one for one in evidence if one.by_scheduler), key=lambda one: one.at is None)
        if not lines:
            return None, "the scheduler says nothing of this end"
        said = f"{lines[0].path}:{lines[0].line} ({lines[0].signal_id})"
        return None, f"no accounting tells how the job ended; a line of the scheduler speaks of it, at {said}"
    by = f" by {head['state_by']}" if head["state_by"] else ""
    expected, cause = STATES.get(state.split()[0].rstrip("+")), head["cause_by_evidence"]
    if head["kind"] == "ongoing":
        return None, f"the scheduler says {state}"
    if expected is None:
        good = head["kind"] != "completed"
        told = "that it failed, and not why" if good else "which the program's own word contradicts"
        return (None if good else False), f"the scheduler says {state}{by}: {told}"
    if cause == expected or cause in _ALSO.get(expected, ()):
        return True, f"the scheduler says {state}{by}, which agrees"
    if expected == "completed":
        return False, (
            f"the scheduler says {state}{by}, but a line tells of a fault: the exit code of a launcher "
            "may hide that of its ranks"
        )
    return False, f"the scheduler says {state}{by}, which is a consequence; a line tells what came before"
