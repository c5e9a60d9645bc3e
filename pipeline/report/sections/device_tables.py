"""Tables of page 6 on the silicon: what links reached, and how busy devices were."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.efficiency_rows import Devices, Link
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.sections.room import more_of, told_columns
from pipeline.report.text import elide

#: Hosts of one run that are printed.
_MOST_HOSTS = 3

_MEASURED = {"benchmark": "benchmark", "summary": "summary", "operation": "each operation"}
_LINKS = {"nvlink": "NVLink", "network": "network"}


def gpu_of(host: str, gpu: str | None) -> str:
    """Return a device as people name it: its host, and its index or identity where one is told."""
    if gpu is None:
        return host
    return f"{host}, GPU{units.SPACE}{gpu}" if gpu.isdigit() else f"{host}, {gpu}"


def build_links(facts: Facts, most: int) -> tuple[Table, ...]:
    """Return what collectives reached of the peak of their link; nothing where none was timed."""
    # large messages first: small ones measure latency
    order = {"64 MiB and more": 0, "1 to 64 MiB": 1}
    links = sorted(
        facts.productive.links,
        key=lambda link: (link.run_id is None, link.run_id or "", order.get(link.size_class or "", 2)),
    )
    if not links:
        return ()
    rows = tuple(_link(link) for link in links)
    table = Table(
        name="links",
        caption="Links: bus bandwidth by size of message, against the peak of one direction, and waiting for "
        "slow ranks." + more_of(len(rows) - most),
        columns=(
            Column("run"),
            Column("told by", share=3),
            Column("collective", share=3),
            Column("messages", share=4),
            Column("link", share=4),
            Column("GB/s", "right", share=2),
            Column("of peak", "right", share=2),
            Column("waiting", "right", share=2),
            Column("evidence", share=6),
        ),
        rows=rows[:most],
        more=rows[most:],
    )
    return (told_columns(table),)


def _link(link: Link) -> Row:
    hosts = "" if link.hosts is None else f", {units.counted(link.hosts, 'host')}"
    return Row(
        (
            "–" if link.run_id is None else elide(link.run_id),
            _MEASURED.get(link.measurement, link.measurement),
            (link.operation or "not named").replace("_", "-"),
            link.size_class or "–",
            "not known" if link.link is None else _LINKS.get(link.link, link.link) + hosts,
            units.number(link.bus_bytes_per_s / 1e9, 1),
            units.percent(link.link_share),
            units.percent(link.straggler_share),
            elide(link.evidence_line, 40),
        )
    )


def build_devices(facts: Facts, most: int) -> tuple[Table, ...]:
    """Return how busy devices were, and the hosts that stand out; nothing where none was sampled."""
    found = facts.productive.devices
    if not found:
        return ()
    of_run: dict[str, list[Devices]] = {}
    for row in found:
        of_run.setdefault(row.run_id, []).append(row)
    # runs in which a host stands out come first, with three of their hosts at most
    runs = sorted(of_run.values(), key=lambda rows: (len(rows) == 1, rows[0].run_id))
    told = [_devices(row) for rows in runs for row in rows[: 1 + _MOST_HOSTS]]
    told += [_devices(row) for rows in runs for row in rows[1 + _MOST_HOSTS :]]
    shown = sum(len(rows[: 1 + _MOST_HOSTS]) for rows in runs)
    most = min(most, shown)
    table = Table(
        name="devices",
        caption="Devices while steps ran, and hosts that stand out: means of samples. Held down: by a fault."
        + more_of(len(told) - most, "rows"),
        columns=(
            Column("run"),
            Column("host"),
            Column("SM", "right", share=2),
            Column("tensor", "right", share=2),
            Column("DRAM", "right", share=2),
            Column("NVLink GB/s", "right", share=3),
            Column("PCIe GB/s", "right", share=3),
            Column("W", "right", share=2),
            Column("MHz", "right", share=2),
            Column("held down", "right", share=3),
            Column("by", share=4),
            Column("why it stands out", share=7),
        ),
        rows=tuple(told[:most]),
        more=tuple(told[most:]),
    )
    return (told_columns(table),)


def _devices(row: Devices) -> Row:
    everywhere = f"all {row.hosts:,}" if row.hosts > 1 else "all"
    where = everywhere if row.host is None else gpu_of(row.host, row.gpu)
    return Row(
        (
            elide(row.run_id),
            where,
            units.percent(row.sm_active),
            units.percent(row.tensor_active),
            units.percent(row.dram_active),
            _per_second(row.nvlink_bytes_per_s),
            _per_second(row.pcie_bytes_per_s),
            "–" if row.power_w is None else units.number(row.power_w, 0),
            "–" if row.sm_clock_mhz is None else units.number(row.sm_clock_mhz, 0),
            units.percent(row.throttled_share),
            # a limit of power that somebody set holds every device down, and is no fault
            (row.reasons or "–") if row.throttled_share else "–",
            row.finding or "–",
        )
    )


def _per_second(value: float | None) -> str:
    """Return bytes per second in gigabytes."""
    return "–" if value is None else units.number(value / 1e9, 1)
