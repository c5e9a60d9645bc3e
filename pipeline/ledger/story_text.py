"""The story of an incident as text: as wide as it is asked to be, without control characters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from pipeline.ledger.phrases import moment
from pipeline.ledger.story import Cost, Head, Story, Verdict, Why
from pipeline.ledger.story_lines import evidence_lines, folded
from pipeline.ledger.story_phases import phase_lines
from pipeline.ledger.story_where import deciding_line, where
from pipeline.ledger.story_words import Paint, hours, is_failure, plain, time_marks, us
from pipeline.plain import visible

#: A narrower page would hold no table.
NARROWEST = 72
_LABEL = 11

#: What is said of an attempt of which no source tells the size.
_NO_SIZE = "how many GPUs is not known: counted as one"

#: How to overrule the cause, without a verdict of a person and with one.
_ADD_VERDICT = (
    "Not so? Add these lines to verdicts.csv beside the logs (the first only where the file is new), "
    "put the right cause in (`goodput signals` lists them), and report again:"
)
_CHANGE_VERDICT = "Not so? Change the row of this incident in verdicts.csv, and report again."

#: Rows of the deciding line that stand at the top.
_MOST_ROWS = 3


def story_text(story: Story, width: int = 100, paint: Paint = plain) -> str:
    """Return a story as text of a width in characters; lines of logs are cut to it, sentences wrapped."""
    width = max(width, NARROWEST)
    parts = (
        _head(story, width, paint),
        phase_lines(story.incident, story.phases, width, paint),
        evidence_lines(story.evidence, width, paint),
        _why(story, width, paint),
        _costs(story, width, paint),
        _advice(story, width, paint),
    )
    return "\n\n".join(text for part in parts if (text := "\n".join(part)))


def _told(label: str, text: str, width: int) -> list[str]:
    """Return a label and a text that is wrapped beside it."""
    wrapped = textwrap.wrap(visible(text), width - _LABEL, break_on_hyphens=False) or [""]
    return [f"{label:<{_LABEL}}{wrapped[0]}", *(" " * _LABEL + line for line in wrapped[1:])]


def _listed(sentences: Iterable[str], width: int) -> Iterator[str]:
    """Yield sentences as a list."""
    for sentence in sentences:
        yield from textwrap.wrap(
            visible(sentence),
            width,
            initial_indent="  - ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )


def _head(story: Story, width: int, paint: Paint) -> Iterator[str]:
    """Yield what, when, where, what it cost, and what to do first."""
    head = story.incident
    yield paint(visible(f"{head.incident_id}: {head.title}"), "head")
    job = f"job {head.job_id}" if head.job_id else ""
    size = f"{head.gpus:,} GPU{'' if head.gpus == 1 else 's'}" if head.gpus else _NO_SIZE
    aside = ", ".join(part for part in (job, size) if part)
    when = (
        "at a time that no line tells"
        if head.at is None
        else f"{moment(head.at)[:19]} UTC{time_marks(head.mark)}"
    )
    what = f"{when}; {_kind(head)} of attempt {head.attempt} of run {head.run_id}"
    yield from _told("when", what + (f" ({aside})" if aside else ""), width)
    # A scheduler writes where it ended a job, and not where anything failed.
    if is_failure(head) and head.kind not in ("planned", "preemption"):
        yield from _told("where", where(story), width)
    unseen = is_failure(head) and head.unseen
    if head.stepless:
        yield from _told("note", _stepless(head), width)
    if unseen and any(one.at is not None for one in story.phases):
        yield from _told("note", _unseen(story), width)
    if head.caused_by_job:
        yield from _told("note", f"preempted for job {head.caused_by_job}", width)
    yield from _told("cost", _total(head, unseen=unseen), width)
    if story.verdict:
        yield from _told("cause", f"{head.cause}, by a person's verdict", width)
        yield from _told("verdict", _verdict(story.verdict, head.confidence), width)
    else:
        reason = f" ({head.confidence_reason})" if head.confidence_reason else ""
        yield from _told("cause", f"{head.cause}; confidence: {head.confidence}{reason}", width)
    deciding = deciding_line(story)
    if deciding is not None:
        yield from _told("line", f"{deciding.path}:{deciding.line}", width)
        yield from folded(f"{'':<{_LABEL}}{visible(deciding.text)}", width, _LABEL, most=_MOST_ROWS)
    if not is_failure(head):
        return
    yield from _told("owner", f"{head.owner or 'nobody yet'}; charged to {head.charged_to}", width)
    if story.advice.first_action:
        yield from _told("do first", story.advice.first_action, width)


def _stepless(head: Head) -> str:
    """Return what is said of an attempt of which no step is logged; whether it made one, nobody may know."""
    if not head.failed_start:
        return "no step of this attempt is logged"
    loop = "; one of at least three in a row that failed alike" if head.crash_loop else ""
    return f"a failed start: its log tells of no step{loop}"


def _unseen(story: Story) -> str:
    """Return what is known of an attempt of which no line of a trainer tells."""
    if any(one.at is not None for one in story.phases if one.point in ("fault", "detected")):
        return "no line of a trainer tells of its time: what it held before its end is unobserved"
    return "no log tells of its time: all that it held is unobserved"


def _says(text: str | None, other: str) -> bool:
    """Return whether a text says what another one says, or the other one says that there is nothing to do."""
    words = [set(re.findall(r"\w+", one.lower())) for one in (text or "", other)]
    return words[1] <= words[0] or "none" in words[1]


def _kind(head: Head) -> str:
    """Return the kind of the end as a noun."""
    if head.kind == "completed":
        return "completion"
    if head.kind == "ongoing":
        return "the last line, not an end,"
    noun = {"preemption": "preemption", "unknown": "end, nobody knows whether planned,"}
    return noun.get(head.kind, f"{head.kind} end")


def _total(head: Head, *, unseen: bool) -> str:
    """Return the cost as one sentence; of an attempt that nobody saw nobody knows what was lost."""
    if not head.gpu_s:
        return "no time that is counted"
    total, lost = us(head.gpu_s), us(head.lost_gpu_s)
    money = "" if head.price is None else f" ({head.price:,.2f} {head.currency or ''})".replace(" )", ")")
    parts = [f"{hours(total, total)} GPU-hours{money}"]
    if head.lost_gpu_s:
        steps = f" in {head.lost_steps:,} steps" if head.lost_steps else ""
        rest = hours(total - lost, total)
        parts.append(f"{hours(lost, total)} of lost work{steps}, {rest} without progress")
    elif is_failure(head):
        parts.append("whether it lost steps is not known" if unseen else "no step was lost")
    return ": ".join(parts)


def _verdict(verdict: Verdict, confidence: str) -> str:
    """Return a person's verdict beside what the logs alone say, and how sure they are."""
    aside = ", ".join(
        part for part in (verdict.role, verdict.date.isoformat() if verdict.date else None) if part
    )
    by = f"a person ({aside})" if aside else "a person"
    why = f': "{verdict.reason}"' if verdict.reason else ""
    logs = f"{verdict.title_by_evidence} ({verdict.cause_by_evidence}), confidence: {confidence}"
    said = {
        "agrees": f"the logs alone say the same, confidence: {confidence}",
        "adds": f"the logs alone say {logs}",
        "contradicts": f"the logs contradict it: they say {logs}",
    }[verdict.fit]
    return f"{by} says {verdict.title} ({verdict.cause}){why}; {said}"


def _why(story: Story, width: int, paint: Paint) -> Iterator[str]:
    """Yield why this cause and not the runner-up, what was looked for, and what the scheduler says."""
    why: Why = story.why
    yield paint(visible(f"why {story.incident.title}"), "head")
    if why.verdict:
        yield from _listed([why.verdict], width)
    if story.verdict and story.verdict.fit != "agrees":
        yield paint(visible(f"why {story.verdict.title_by_evidence}, by the logs alone"), "head")
    yield from _listed(why.reasons, width)
    other = why.runner_up
    failed = is_failure(story.incident)
    if other is not None:
        place = f", at {other.path}:{other.line}" if other.path else ""
        yield from _listed([f"why not {other.title} ({other.cause}){place}: {other.reason}"], width)
    elif failed:
        yield from _listed(["no runner-up: no other cause was seen within reach"], width)
    if story.incident.cascade:
        titles = {one.taken_for: one.title for one in story.evidence}
        followed = ", ".join(titles.get(code) or code.replace("_", " ") for code in story.incident.cascade)
        yield from _listed([f"what followed from it: {followed}"], width)
    yield from _listed([why.scheduler], width)
    if story.incident.confidence != "evidence" and failed:
        yield "  looked for:"
        yield from _listed(why.looked_for, width)


def _costs(story: Story, width: int, paint: Paint) -> Iterator[str]:
    """Yield what it cost by category, and what would be left of that otherwise."""
    costs = story.costs
    if not costs:
        return
    yield paint("cost, in GPU-hours", "head")
    whole = us(sum(cost.gpu_s for cost in costs))
    names = [cost.title for cost in costs] + ["all"]
    title, both = max(map(len, names)), _would_differ(costs)
    supposed = f"  {'seen at once':>12}  {'just saved':>10}" if both else ""
    yield f"  {'':<{title}}  {'as it was':>9}  {'share':>7}{supposed}"
    for cost in costs:
        yield _cost_row(cost.title, cost, whole, title, both=both)
    sums = Cost(
        category="",
        title="all",
        seconds=0.0,
        gpu_s=sum(cost.gpu_s for cost in costs),
        detected_at_once_gpu_s=sum(cost.detected_at_once_gpu_s for cost in costs),
        saved_before_gpu_s=sum(cost.saved_before_gpu_s for cost in costs),
    )
    yield _cost_row("all", sums, whole, title, both=both)
    if not both:
        if is_failure(story.incident):
            yield "  neither an immediate detection nor a fresh checkpoint had saved any of it"
        return
    yield from textwrap.wrap(
        "seen at once: had the fault been noticed when it happened. just saved: had a checkpoint been "
        "finished at the last progress.",
        width,
        initial_indent="  ",
        subsequent_indent="  ",
    )


def _would_differ(costs: Iterable[Cost]) -> bool:
    """Return whether a supposition would have saved anything."""
    return any({cost.detected_at_once_gpu_s, cost.saved_before_gpu_s} != {cost.gpu_s} for cost in costs)


def _cost_row(name: str, cost: Cost, whole: int, title: int, *, both: bool) -> str:
    """Return a row of costs, with both suppositions or none."""
    share = f"{100 * us(cost.gpu_s) / whole:.1f} %" if whole else ""
    cells = [us(cost.gpu_s), us(cost.detected_at_once_gpu_s), us(cost.saved_before_gpu_s)]
    was, seen, saved = (hours(cell, whole) for cell in cells)
    supposed = f"  {seen:>12}  {saved:>10}" if both else ""
    return f"  {name:<{title}}  {was:>9}  {share:>7}{supposed}"


def _advice(story: Story, width: int, paint: Paint) -> Iterator[str]:
    """Yield what the taxonomy advises, and how to overrule it."""
    advice = story.advice
    if not is_failure(story.incident):
        return
    yield paint("what now", "head")
    if advice.meaning:
        yield from _told("  meaning", advice.meaning, width)
    yield from _told("  owner", advice.owner or "nobody yet", width)
    if advice.first_action:
        yield from _told("  first", advice.first_action, width)
    if advice.for_signal and not _says(advice.first_action, advice.for_signal):
        yield from _told("  then", advice.for_signal, width)
    if advice.benign_when:
        yield from _told("  harmless", advice.benign_when, width)
    if advice.reference:
        yield from _told("  known as", advice.reference, width)
    not_so = _CHANGE_VERDICT if story.verdict else _ADD_VERDICT
    yield from textwrap.wrap(not_so, width, initial_indent="  ", subsequent_indent="  ")
    if story.verdict:
        return
    # To be pasted: neither indented nor wrapped.
    yield visible(advice.verdict_head)
    yield visible(advice.verdict_line)
