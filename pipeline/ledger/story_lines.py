"""Lines of evidence as text: in order of time, each with what it is taken for and its neighbours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from pipeline.ledger.phrases import moment
from pipeline.ledger.story import Evidence
from pipeline.ledger.story_words import Paint
from pipeline.plain import visible

#: Kinds of line that are told in full; the lines that decided are always among them.
MOST_KINDS = 12

#: Rows of a line that is folded: of one that decided all, of another one enough to know it by.
_ALL_ROWS, _MOST_ROWS = 40, 2

_ROLES = {
    "cause": " <- THE CAUSE",
    "runner_up": " <- runner-up",
}
_LANDMARKS = {
    "last_step": "the last step line",
    "exit": "a line that says that it ended",
    "scheduler": "the scheduler's record",
}


def evidence_lines(evidence: Sequence[Evidence], width: int, paint: Paint) -> Iterator[str]:
    """Yield the lines of evidence in blocks: lines that stand close together share their neighbours."""
    yield paint("evidence, in order of time", "head")
    if not evidence:
        yield "  no line speaks of this end"
        return
    told = _chosen(evidence)
    days = {moment(at)[:10] for one in told for at in (one.at, one.last_at) if at is not None}
    stamp = slice(11, 19) if len(days) < 2 else slice(5, 19)
    for block in _blocks(told):
        for one in block:
            kind = "mark" if one.role == "cause" else ""
            for text in _header(one, width, stamp):
                yield paint(text, kind) if kind else text
        yield from _shown(block, width, paint)
    if len(evidence) > len(told):
        hidden = len(evidence) - len(told)
        yield f"  and {hidden:,} more kinds and hosts: marts.incident_evidence has them all"


def _chosen(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the rows that are told: of many the ones that decided, then the deepest and earliest."""
    if len(evidence) <= MOST_KINDS:
        return list(evidence)
    order = {"cause": 0, "runner_up": 1, "last_step": 2, "exit": 2, "scheduler": 2, "evidence": 3}
    seen: dict[str | None, int] = {}
    for n, one in enumerate(evidence):
        seen.setdefault(one.signal_id, n)

    def weight(n: int) -> tuple[int, bool, int, int]:
        one = evidence[n]
        # One host of each kind first: the others say the same.
        return (order[one.role], seen[one.signal_id] != n, one.causal_rank or 0, n)

    kept = sorted(sorted(range(len(evidence)), key=weight)[:MOST_KINDS])
    return [evidence[n] for n in kept]


def _blocks(evidence: Sequence[Evidence]) -> Iterator[list[Evidence]]:
    """Yield runs of rows of one file whose neighbours touch or overlap."""
    block: list[Evidence] = []
    for one in evidence:
        before = block[-1] if block else None
        if (
            before is not None
            and before.source_id == one.source_id
            and before.lines
            and one.lines
            and before.lines[0].line <= one.lines[0].line <= before.lines[-1].line + 1
        ):
            block.append(one)
            continue
        if block:
            yield block
        block = [one]
    if block:
        yield block


def _header(one: Evidence, width: int, stamp: slice) -> Iterator[str]:
    """Yield where and when a line is, who wrote it, and what it is taken for."""
    at = f"{moment(one.at)[stamp] if one.at else 'undated':<{stamp.stop - stamp.start}}"
    place = f"{one.path}:{one.line}" if one.line is not None else one.path
    who = [f"host {one.host}"] if one.host else []
    who += [f"GPU {one.gpu}"] if one.gpu else []
    who += [f"rank {one.rank}"] if one.rank is not None else []
    aside = f"  ({', '.join(who)})" if who else ""
    if len(f"  {at}  {place}{aside}") <= width:
        yield visible(f"  {at}  {place}{aside}")
    else:
        # A place is there to be copied: it is never cut.
        yield visible(f"  {at}  {place}")
        yield from _indented(aside.strip(), width)
    if one.signal_id is None:
        yield from _indented(f"{_LANDMARKS.get(one.role, one.role)}{_state_of(one)}", width)
        return
    what = f"{one.signal_id} -> {one.title}, causal rank {one.causal_rank}"
    if one.weight == "symptom":
        what += ", a symptom"
    if one.fault_rank is not None:
        what += f", names rank {one.fault_rank}"
    yield from _indented(f"{what}{_ROLES.get(one.role, '')}", width)
    if one.rows > 1:
        spread = [f"{one.rows:,} such lines"]
        spread += [f"of {one.ranks:,} ranks"] if one.ranks > 1 else []
        spread += [f"in {one.files:,} files"] if one.files > 1 else []
        if one.counted_rows:
            spread[-1] += f", {one.counted_rows:,} of them only counted, for any host or attempt of the file"
        until = f", the last at {moment(one.last_at)[stamp]}" if one.last_at else ""
        yield from _indented(f"{' '.join(spread)}{until}", width)


def _indented(text: str, width: int) -> Iterator[str]:
    """Yield a text below the place that it is about."""
    indent = " " * 12
    yield from textwrap.wrap(
        visible(text), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _state_of(one: Evidence) -> str:
    """Return what a record of the scheduler says, which its line may say in many columns."""
    return f": {visible(one.text.rpartition(': ')[2])}" if one.role in ("scheduler", "last_step") else ""


def _shown(block: Sequence[Evidence], width: int, paint: Paint) -> Iterator[str]:
    """Yield the lines of a block with their numbers; of a file that has gone, what the store kept."""
    marked = {one.line for one in block}
    rows = {one.line: _MOST_ROWS for one in block if one.signal_id is not None}
    rows |= {one.line: _ALL_ROWS for one in block if one.role in _ROLES}
    lines = {line.line: line.text for one in block for line in one.lines}
    first = block[0]
    if first.log_note:
        yield paint(visible(f"            {first.path}: {first.log_note}")[:width], "dim")
    if not lines:
        for one in block:
            if one.signal_id is not None and one.text:
                most = _ALL_ROWS if one.role in _ROLES else _MOST_ROWS
                yield from folded(f"    kept  | {visible(one.text)}", width, 12, most=most)
        return
    size = max(5, len(str(max(lines))))
    before = 0
    for number in sorted(lines):
        if before and number > before + 1:
            yield paint(f"    {'':>{size}} ⋮", "dim")
        before = number
        mark = ">" if number in marked else " "
        text = f"  {mark} {number:>{size}} | {visible(lines[number])}"
        if number in rows:
            yield from folded(text, width, size + 7, most=rows[number])
        else:
            yield _cut(text, width) if number in marked else paint(_cut(text, width), "dim")


def folded(text: str, width: int, indent: int, *, most: int) -> Iterator[str]:
    """Yield a line folded at the width under its own beginning, in so many rows at most."""
    room = width - indent
    whole = width + (most - 1) * room
    if len(text) > whole:
        text = f"{text[: whole - 1]}…"
    yield text[:width].rstrip()
    for at in range(width, len(text), room):
        yield (" " * indent + text[at : at + room]).rstrip()


def _cut(text: str, width: int) -> str:
    """Return a line of at most so many characters."""
    return text.rstrip() if len(text) <= width else f"{text[: width - 1]}…"
