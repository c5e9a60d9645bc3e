"""Why an incident has its cause and not another one: the order of ``sql/ledger/ends.sql`` in words.

The ledger has decided; here the two lines are compared by the same facts, and the first one in which they
differ is told. Where none of them says it, that is told too, and nothing is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pipeline.ledger.phrases import duration, moment
from pipeline.ledger.story import Evidence, RunnerUp, Why
from pipeline.ledger.story_scheduler import build_scheduler

#: From this rank on a line tells that somebody waited or went, and not why.
WAITED_FOR_OTHERS = 6

#: How much later a kernel may tell of a fault than the run itself of its end: ``latecomers`` of the ledger.
CLOCK_SLACK = timedelta(minutes=1)

#: Hosts that are named one by one.
_MOST_HOSTS = 8


def build_why(
    head: Mapping[str, Any], evidence: Sequence[Evidence], reach: Mapping[str, Any], signals: int
) -> Why:
    """Return why the logs alone give the cause that they give, and what the scheduler says to it.

    Args:
        head: columns of ``ledger.incidents`` and of ``ledger.ends``, as `story_load` reads them.
        evidence: the lines that speak of the end.
        reach: row of ``marts.incident_reach``, or nothing.
        signals: kinds of line that were looked for.
    """
    chosen = next((one for one in evidence if one.role == "cause"), None)
    agrees, words = build_scheduler(head, evidence)
    return Why(
        verdict=_VERDICTS.get(head["verdict_fit"] or ""),
        reasons=tuple(_reasons(head, chosen, evidence)),
        runner_up=_runner_up(head, chosen, evidence),
        looked_for=tuple(_looked_for(reach, signals)),
        scheduler_state=head["state"],
        scheduler_agrees=agrees,
        scheduler=words,
    )


#: What the logs alone say to a person's verdict.
_VERDICTS = {
    "agrees": "a person's verdict says so, and the logs alone say the same",
    "adds": "a person's verdict says so; the logs alone do not, and do not rule it out",
    "contradicts": "a person's verdict says so, and the logs contradict it",
}


def _reasons(head: Mapping[str, Any], chosen: Evidence | None, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what speaks for the cause that the evidence gives."""
    # A verdict stands where the entry of the configuration is named otherwise.
    declared = "[[maintenance]]" in (head["confidence_reason"] or "")
    if declared:
        yield head["confidence_reason"]
    if chosen is None:
        yield _undecided(head)
        return
    depth = f"causal rank {chosen.causal_rank} (1 is physical evidence, 9 a mere symptom)"
    if chosen.weight == "symptom":
        yield f"its line is a symptom, {depth}: no line within reach tells what caused it"
    elif head["confidence"] == "unknown":
        yield f"its line tells what happened and not why, {depth}"
    else:
        yield f"its line names a cause, {depth}"
    yield _within_reach(head, chosen)
    if head["cause_by_evidence"] == "maintenance" and chosen.taken_for != "maintenance" and not declared:
        yield "the stop falls into maintenance that was declared, and is taken for a part of it"
    # A traceback is the head of some exception, and no line of its own.
    alike = {one.signal_id for one in evidence if one.taken_for == chosen.taken_for}
    alike -= {chosen.signal_id, "traceback_header"}
    if alike:
        one = len(alike) == 1
        kinds = "one other kind of line points" if one else f"{len(alike)} other kinds of line point"
        yield f"{kinds} to the same cause"


def _undecided(head: Mapping[str, Any]) -> str:
    """Return why the cause is what it is, where no line of a fault decided it."""
    if head["kind_by_evidence"] == "completed":
        if head["says_done"]:
            return "the program says itself that it is done"
        if head["at_target"]:
            return "the target was reached, and nothing went wrong before the end"
        return f"nothing went wrong before the end, and the scheduler says {head['state']}"
    if head["kind_by_evidence"] == "ongoing":
        return "no line tells of an end: the logs stop while the run goes on"
    if head["cause_by_evidence"] == "unknown":
        return "no line within reach of the end tells of a fault: the cause is unknown, and not guessed"
    return f"no line decided it; the scheduler's state {head['state'] or ''} does".replace("  ", " ")


def _within_reach(head: Mapping[str, Any], chosen: Evidence) -> str:
    """Return where the line stands, and how far from the last progress, or from a start without any."""
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
    since = "the start" if head["stepless"] else "the last progress"
    # A line that is the first to carry a time tells nothing of when it started.
    placed = "" if head["stepless"] and not apart else f", {duration(abs(apart))} {side} {since}"
    waited = ""
    if chosen.waited_s:
        waited = f"; it says that it had waited {_seconds(chosen.waited_s)}, which dates the stall"
    return f"{where}{placed}{waited}"


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
    if _worked_on(head, other):
        reason = "steps went on for more than a minute after a kernel told of it"
    else:
        reason = _outweighed(head, other) if chosen is None else compare(chosen, other)
    return RunnerUp(cause, title, other.path, other.line, reason)


def _worked_on(head: Mapping[str, Any], other: Evidence) -> bool:
    """Return whether a kernel told of a GPU so long before the last step that it ended nothing."""
    progress: datetime | None = head["last_progress_ts"]
    if progress is None or head["stepless"] or other.at is None or other.own or other.by_scheduler:
        return False
    return other.gpu is not None and progress - other.at > CLOCK_SLACK


def _outweighed(head: Mapping[str, Any], other: Evidence) -> str:
    """Return why a line decided nothing, where no other line did."""
    if head["kind_by_evidence"] == "completed":
        return "the run ended well in spite of it"
    if head["kind_by_evidence"] == "ongoing":
        return "no line tells that it ended anything"
    if other.weight == "symptom":
        weak = "it is a symptom, which follows from something"
    elif other.taken_for == "collective_timeout":
        weak = "who times out has waited for somebody else"
    else:
        weak = "it ended nothing"
    if head["cause_by_evidence"] in ("unknown", "exit_code"):
        return f"{weak}, and tells too little to go by"
    return f"{weak}, and the scheduler's state {head['state']} says more"


def compare(chosen: Evidence, other: Evidence) -> str:
    """Return in words the first fact by which the line that decided comes before another one."""
    if other.planned and not chosen.planned:
        if chosen.at is None or other.at is None:
            return "it is a planned end, but a fault was told before it"
        return "it is a planned end, but a fault was told more than 5 s before it"
    for key, words in _ORDER:
        mine, its = key(chosen), key(other)
        if mine is None or its is None or mine == its:
            continue
        if mine < its:
            return words(chosen, other)
        break
    else:
        if chosen.source_id == other.source_id:
            return "nothing else sets them apart, and it stands later in the same log"
        return "nothing that the lines tell sets them apart: the first of the logs by name counts"
    told = chosen.at or chosen.near
    beside = chosen.own and not other.own and not other.by_scheduler
    if beside and told is not None and other.at is not None and other.at - told > CLOCK_SLACK:
        return "a kernel told of it more than a minute after the run itself had told of its end"
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
    both = _clock(chosen), _clock(other)
    when = f": {both[1]} against {both[0]}" if all(both) and both[0] != both[1] else ""
    return f"its first line is later{when}"


def _clock(one: Evidence) -> str:
    """Return the time of a line; of one that carries none that of the lines beside it, to the second."""
    if one.at is not None:
        return moment(one.at)
    return "" if one.near is None else f"about {moment(one.near)[:19]}"


#: The order in which the ledger weighs lines: what is less comes first; null where it does not count.
_ORDER: tuple[tuple[Callable[[Evidence], Any], Callable[[Evidence, Evidence], str]], ...] = (
    (
        lambda one: not one.planned,
        lambda *_: "a planned end comes first, unless a fault was told more than 5 s before it",
    ),
    (
        lambda one: one.weight != "cause",
        lambda *_: "it is a symptom, which follows from something, and the other line is none",
    ),
    (
        lambda one: None if one.weight == "cause" else not one.own,
        lambda *_: "of two symptoms the run's own line comes before a line that stands beside it",
    ),
    (_grade, _of_grade),
    (lambda one: one.causal_rank if _grade(one) < 2 or one.weight != "cause" else None, _of_rank),
    (
        lambda one: one.in_doubt == "first_fault",
        lambda *_: "the other one was raised while it was handled, and ended the process",
    ),
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
    own, shared = reach["own_files"], reach["shared_files"]
    first, last = reach["from_ts"], reach["to_ts"]
    span = "" if first is None or last is None else f", from {moment(first)[:19]} to {moment(last)[:19]}"
    kinds = f"{signals:,} kinds of line"
    if own:
        yield f"{kinds}, in {_files(own)} of the run, to the end of the attempt"
    else:
        yield "no file of the run was there to be looked at"
    if shared:
        what = "the same" if own else f"{kinds},"
        yield f"{what} in {_files(shared)} of nodes, services and schedulers{span}"
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
