"""Page 1: what fraction became progress, what changed, and who acts."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report import units
from pipeline.report.budget import build_budget
from pipeline.report.facts import Facts
from pipeline.report.model import Beside, Block, Box, Column, Item, Listing, Page, Row, Table
from pipeline.report.rows import Cause
from pipeline.report.sections.bridge import build_bridge
from pipeline.report.sections.given import Given
from pipeline.report.sections.headline import build_headline
from pipeline.report.sections.product import build_product
from pipeline.report.text import elide
from pipeline.report.words import listed, marks_of

_TABLE_ROWS = 5
_PROPOSALS = 3
_HOSTS = 4

#: Characters of a first action that are printed.
_MOST_TEXT = 130

#: A cause that took less than this share of all losses is no reason to act.
_WORTH_ACTING = 0.02

#: How the ledger begins the flag of a run whose size nothing tells.
_UNSIZED = "the number of accelerators is not known"


def build(facts: Facts, given: Given) -> Page:
    """Return the page."""
    shown = facts.loss_causes[:_TABLE_ROWS]
    blocks: list[Block] = [build_product(facts, given), build_bridge(facts)]
    if facts.loss_causes:
        blocks.append(_build_causes(facts, given))
    blocks.append(Beside(_build_actions(facts, given), _build_budget_box(facts), share=64))
    return Page(
        number=1,
        key="summary",
        question="What fraction became progress, and who acts?",
        sentence=build_headline(facts, given),
        blocks=tuple(blocks),
        marks=marks_of(cause.mark for cause in shown),
    )


def _build_causes(facts: Facts, given: Given) -> Table:
    """Return the five costliest causes, the rest as one row, and the total."""
    shown, rest = facts.loss_causes[:_TABLE_ROWS], facts.loss_causes[_TABLE_ROWS:]
    before = None if given.previous is None else given.previous.cause_shares
    decimals = units.gpu_hours_decimals(cause.loss_gpu_s for cause in facts.loss_causes)
    total = facts.total

    def row_of(
        n: str, title: str, payer: str, owner: str, causes: Sequence[Cause], delta: str, action: str
    ) -> tuple[str, ...]:
        gpu_s = sum(cause.loss_gpu_s for cause in causes)
        counts = [cause.events for cause in causes if cause.events is not None]
        share = gpu_s / total.training_gpu_s if total.training_gpu_s > 0 else None
        return (
            n,
            title,
            payer,
            owner,
            units.gpu_hours(gpu_s, decimals),
            units.percent(share),
            *(() if before is None else (delta,)),
            f"{sum(counts):,}" if counts else "–",
            action,
        )

    rows = []
    for n, cause in enumerate(shown, 1):
        change = None if before is None else _share(facts, cause) - before.get(cause.cause, 0.0)
        title = f"{cause.title}{cause.mark or ''}"
        payer = cause.charged_to or cause.layer or "–"
        action = elide(cause.first_action or "–", _MOST_TEXT)
        cells = row_of(str(n), title, payer, cause.owner or "–", [cause], units.signed_points(change), action)
        rows.append(Row(cells))
    if rest:
        rows.append(Row(row_of("", f"all other ({len(rest):,})", "", "", rest, "", "")))
    rows.append(Row(row_of("", "lost", "", "", facts.loss_causes, "", ""), weight="total"))
    delta = () if before is None else (Column("Δ points", "right"),)
    return Table(
        name="causes",
        caption="Who pays: training capacity that was lost, by the cause that it is charged to. "
        "Share of training capacity (capacity less planned time).",
        columns=(
            Column("#", "right"),
            Column("cause", share=5),
            Column("charged to"),
            Column("owner", share=3),
            Column("GPU-h", "right"),
            Column("share", "right"),
            *delta,
            Column("events", "right"),
            Column("first action", share=7),
        ),
        rows=tuple(rows),
    )


def _share(facts: Facts, cause: Cause) -> float:
    """Return the share of training capacity that a cause took."""
    whole = facts.total.training_gpu_s
    return cause.loss_gpu_s / whole if whole > 0 else 0.0


def _build_actions(facts: Facts, given: Given) -> Listing:
    """Return actions carried over, then new ones for the costliest causes that somebody can act on."""
    items = [
        Item(
            f"{a.action_id} · {a.owner or 'owner to be named'}",
            f"{a.action} ({', '.join(part for part in (_opened(a.opened), a.state) if part)})",
        )
        for a in given.actions
    ]
    lost = sum(cause.loss_gpu_s for cause in facts.loss_causes)
    worth = [c for c in facts.loss_causes if _can_act(c) and c.loss_gpu_s >= _WORTH_ACTING * lost]
    items += [_proposal(facts, cause, n) for n, cause in enumerate(worth[:_PROPOSALS], 1)]
    return Listing(
        "Actions",
        tuple(items),
        empty="None carried over, and no cause stands out enough to propose one.",
        note=_notes(facts),
    )


def _opened(day: object) -> str:
    return f"opened {day}" if day is not None else ""


def _can_act(cause: Cause) -> bool:
    """Return whether a cause has a first action; what a planned end lost beyond planned time has one too."""
    return bool(cause.first_action) and (not cause.is_incident or bool(cause.events))


def _proposal(facts: Facts, cause: Cause, n: int) -> Item:
    """Return a proposed action: who, against what, where it happened, and what is at stake."""
    hosts = sorted({i.host for i in facts.interruptions if i.cause == cause.cause and i.host})
    names = [elide(host) for host in hosts[:_HOSTS]]
    if len(hosts) > _HOSTS:
        names.append(f"{len(hosts) - _HOSTS:,} more")
    where = f" on {listed(names)}" if names else ""
    times = ""
    if cause.is_incident:
        times = f", {units.counted(cause.events, 'time') if cause.events else 'before or after this period'}"
    return Item(
        f"new {n} · {cause.owner or 'owner to be named'}",
        f"{elide(cause.first_action or '', _MOST_TEXT)} "
        f"{cause.title}{times}{where}: {_hours(cause.loss_gpu_s)} at stake.",
    )


def _build_budget_box(facts: Facts) -> Box:
    """Return the loss budget, or the line that says that no target is set."""
    budget = build_budget(facts)
    price = _price_row(facts)
    if budget is None:
        return Box(
            "Loss budget",
            price,
            "No target is set: training_time_goodput under [targets] of goodput.toml sets one.",
        )
    rows = [
        ("Target, goodput", units.percent(budget.target)),
        ("Allowed, this period", _hours(budget.allowed_gpu_s)),
        ("Lost, this period", _hours(budget.used_gpu_s)),
    ]
    note = "" if budget.is_long else "The period is too short to speak of four weeks."
    if budget.four_weeks_gpu_s is not None:
        rows.append(("Allowed, four weeks", _hours(budget.four_weeks_gpu_s)))
        note = "Four weeks at the capacity of this period; losses before it are not in this store."
    rows.append(("Left" if budget.left_gpu_s >= 0 else "Over", _hours(abs(budget.left_gpu_s))))
    return Box("Loss budget, four weeks" if budget.four_weeks_gpu_s else "Loss budget", (*rows, *price), note)


def _price_row(facts: Facts) -> tuple[tuple[str, str], ...]:
    price = facts.context.price_gpu_hour
    if price is None:
        return ()
    cost = facts.total.lost_gpu_s / units.HOUR * price
    return (("Price of what was lost", f"{units.number(cost)} {facts.context.currency}".rstrip()),)


def _hours(gpu_s: float) -> str:
    return f"{units.gpu_hours(gpu_s)}{units.THIN}GPU-h"


def _notes(facts: Facts) -> str:
    """Return what stands apart from the figures: unproven progress, first wait, spares, policy."""
    total, notes = facts.total, []
    unsized = sum(any(flag.startswith(_UNSIZED) for flag in run.flags) for run in facts.runs)
    if unsized:
        runs = units.counted(unsized, "run")
        notes.append(
            f"The number of accelerators of {runs} is not known: one is counted, shares hold, hours do not."
        )
    assumed = sum((source.zone or "").endswith("(assumed)") for source in facts.sources)
    if assumed:
        files = units.counted(assumed, "file")
        notes.append(
            f"The stamps of {files} name no zone and are read as UTC; [zones] in goodput.toml can say more."
        )
    if total.provisional_gpu_s > 0:
        size = _hours(total.provisional_gpu_s)
        notes.append(f"{size} of the progress are not under a durable checkpoint yet.")
    if total.first_queue_wait_gpu_s > 0:
        size = _hours(total.first_queue_wait_gpu_s)
        notes.append(f"The wait before the first allocation, {size}, stands outside these figures.")
    if total.spare_gpu_s > 0:
        notes.append(f"Spares held beyond the nominal size, {_hours(total.spare_gpu_s)}, stand outside too.")
    moved = [f"{key} = {value}" for key, value in facts.context.policy]
    if moved:
        notes.append(f"Policy differs from the default: {listed(moved)}.")
    return " ".join(notes)
