"""Page 7: which hosts and parts come back, and what chance alone would give them."""

from __future__ import annotations

from collections import Counter

from pipeline.report import units
from pipeline.report.charts.host_events import SHAPES, Event, HostEvents, HostRow
from pipeline.report.facts import Facts
from pipeline.report.model import Block, Column, Figure, Page, Row, Table
from pipeline.report.reliability_rows import Host
from pipeline.report.sections.given import Given
from pipeline.report.text import anchor, elide
from pipeline.report.words import alternative, listed

_MOST_HOSTS = 20
_MOST_NAMED = 3


def build(facts: Facts, given: Given) -> Page:
    """Return the page; without an event of a host it is one line."""
    hosts = facts.reliability.hosts
    blocks: list[Block] = []
    if hosts:
        again = [host for host in hosts if host.events >= 2]
        if again and facts.reliability.fleet.start is not None:
            blocks.append(_build_events(facts, again[:_MOST_HOSTS]))
        blocks.append(_build_hosts(facts))
    return Page(
        number=7,
        key="hosts",
        question="Which hosts and parts come back?",
        sentence=_sentence(facts),
        blocks=tuple(blocks),
    )


def _sentence(facts: Facts) -> str:
    hosts, fleet = facts.reliability.hosts, facts.reliability.fleet
    held = units.counted(fleet.hosts, "host")
    if not hosts:
        if not fleet.hosts:
            return "No event is traced to a part of a host; no record names the hosts of a run."
        days = units.number(fleet.host_days, 1)
        return f"No event is traced to a part of a host: {held}, {days} host-days."
    repeats = [host for host in hosts if host.is_repeat]
    if repeats:
        names = [elide(host.host, 24) for host in repeats[:_MOST_NAMED]]
        names += [f"{len(repeats) - _MOST_NAMED:,} more"] if len(repeats) > _MOST_NAMED else []
        events = sum(host.events for host in repeats)
        expected = sum(host.expected or 0.0 for host in repeats)
        comes = "comes" if len(repeats) == 1 else "come"
        return (
            f"{listed(names)} {comes} back more often than chance explains: "
            f"{units.counted(events, 'event')}, {units.number(expected, 2)} expected."
        )
    found = f"{units.counted(fleet.events, 'event')} on {units.counted(len(hosts), 'host')}"
    if not fleet.hosts:
        return f"{found}; no record names all hosts of a run, so chance cannot be told from a pattern."
    return f"No host comes back more often than chance explains: {found}; {held} looked at."


def _build_events(facts: Facts, hosts: list[Host]) -> Figure:
    names = {host.host for host in hosts}
    events = [event for event in facts.reliability.host_events if event.host in names]
    common = [title for title, _ in Counter(sorted(event.title for event in events)).most_common()]
    shapes = {title: min(n, SHAPES - 1) for n, title in enumerate(common)}
    causes = common if len(common) <= SHAPES else [*common[: SHAPES - 1], "other causes"]
    printed = {incident.incident_id for incident in facts.interruptions}
    rows = tuple(
        HostRow(
            title=host.host,
            events=tuple(
                Event(
                    event.at_ts,
                    shapes[event.title],
                    anchor(f"incident-{event.incident_id}") if event.incident_id in printed else "",
                    f"{event.host}, {units.stamp(event.at_ts)}: {event.title}",
                )
                for event in events
                if event.host == host.host
            ),
            note=f"{host.events:,} events, {_expected(host)} by chance",
            strong=host.is_repeat,
        )
        for host in hosts
    )
    values = (
        f"{row.title} {row.note}" + (", a repeat offender" if host.is_repeat else "")
        for row, host in zip(rows, hosts, strict=True)
    )
    start = facts.reliability.fleet.start
    assert start is not None  # no host is drawn without
    return Figure(
        name="events",
        caption="Events that a part of a host brought about, for hosts with two or more; bold: more than "
        "chance explains. One fault that ended several attempts is one event.",
        alt=alternative("Hosts and their events over time", values, most=_MOST_HOSTS),
        chart=HostEvents(start, facts.total.end, rows, tuple(causes)),
    )


def _expected(host: Host) -> str:
    return "not known" if host.expected is None else units.number(host.expected, 2)


def _build_hosts(facts: Facts) -> Table:
    """Return the hosts with events, those called first, then by cost; the rest in the HTML print."""
    hosts = sorted(
        facts.reliability.hosts, key=lambda h: (not h.is_repeat, -(h.events >= 2), -h.gpu_s, h.host)
    )
    fleet = facts.reliability.fleet
    decimals = units.gpu_hours_decimals([max(host.gpu_s for host in hosts)])

    def row(host: Host) -> Row:
        chance = "–"
        if host.chance_adjusted is not None:
            chance = f"{units.percent(host.chance_adjusted)}{', repeat offender' if host.is_repeat else ''}"
        causes = host.causes or "–"
        parts = f" ({elide(host.parts, 40)})" if host.parts else ""
        return Row(
            (
                elide(host.host),
                f"{host.events_1w:,} / {host.events:,}",
                units.number(host.host_days, 1),
                _expected(host),
                chance,
                units.gpu_hours(host.gpu_s, decimals),
                f"{elide(causes, 90)}{parts}",
                _state(host),
            )
        )

    rest = len(hosts) - _MOST_HOSTS
    return Table(
        name="hosts",
        caption="Hosts whose parts ended attempts in the last twelve weeks, as far as the records reach."
        + (f" {rest:,} more in review.html." if rest > 0 else ""),
        columns=(
            Column("host", share=4),
            Column("events, 1 / 12 weeks", "right", share=3),
            Column("host-days", "right"),
            Column("expected by chance", "right", share=3),
            Column("chance of as many", "right", share=4),
            Column("GPU-h", "right"),
            Column("causes (GPU)", share=8),
            Column("last state in logs", share=7),
        ),
        rows=tuple(row(host) for host in hosts[:_MOST_HOSTS]),
        more=tuple(row(host) for host in hosts[_MOST_HOSTS:]),
        after=f"Expected by chance: all {units.counted(fleet.events, 'event')}, by host-days. "
        f"Chance: that any of {units.counted(fleet.hosts, 'host')} alike would show as much by luck; "
        f"below 5{units.THIN}% with two events or more it is a repeat offender."
        if fleet.hosts
        else "No record names the hosts that runs held: there is no expected count.",
    )


def _state(host: Host) -> str:
    if host.state is None:
        return "no log of it"
    reason = f": {elide(host.state_reason, 40)}" if host.state_reason else ""
    return f"{host.state}{reason}, {units.stamp(host.state_ts)}"
