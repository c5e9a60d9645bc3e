"""Tables of page 6 on the silicon: what links reached, and how busy devices were."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.efficiency_rows import Devices, Link
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.text import elide

_MOST_LINKS = 4
_MOST_HOSTS = 3

_MEASURED = {"benchmark": "benchmark", "summary": "summary", "operation": "each operation"}
_LINKS = {"nvlink": "NVLink", "network": "network"}


def gpu_of(host: str, gpu: str | None) -> str:
    """Return a device as people name it: its host, and its index or identity where one is told."""
    if gpu is None:
        return host
    return f"{host}, GPU{units.SPACE}{gpu}" if gpu.isdigit() else f"{host}, {gpu}"


def build_links(facts: Facts) -> tuple[Table, ...]:
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
    return (
        Table(
            name="links",
            caption="Links: bus bandwidth of collectives by size of message, against the peak of one "
            "direction. Waiting: time that the fastest rank did not need."
            + (
                f" The first {_MOST_LINKS}; {len(rows) - _MOST_LINKS:,} more in review.html."
                if len(rows) > _MOST_LINKS
                else ""
            ),
            columns=(
                Column("run", share=4),
                Column("told by", share=3),
                Column("collective", share=3),
                Column("messages", share=4),
                Column("link", share=4),
                Column("GB/s", "right", share=2),
                Column("of peak", "right", share=2),
                Column("waiting", "right", share=2),
                Column("evidence", share=6),
            ),
            rows=rows[:_MOST_LINKS],
            more=rows[_MOST_LINKS:],
        ),
    )


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


def build_devices(facts: Facts) -> tuple[Table, ...]:
    """Return how busy devices were, and the hosts that stand out; nothing where none was sampled."""
    found = facts.productive.devices
    if not found:
        return ()
    hosts: dict[str, list[Devices]] = {}
    for row in found:
        hosts.setdefault(row.run_id, []).append(row)
    rows: list[Row] = []
    more: list[Row] = []
    for of_run in hosts.values():
        told = [_devices(row) for row in of_run]
        rows.extend(told[: 1 + _MOST_HOSTS])
        more.extend(told[1 + _MOST_HOSTS :])
    return (
        Table(
            name="devices",
            caption="Devices between first and last steps, and hosts that stand out: means of samples. "
            "Held down: samples that tell of a fault which lowers the clock."
            + (f" {units.counted(len(more), 'host')} more in review.html." if more else ""),
            columns=(
                Column("run", share=3),
                Column("host", share=4),
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
            rows=tuple(rows),
            more=tuple(more),
        ),
    )


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
            row.reasons or "–",
            row.finding or "–",
        )
    )


def _per_second(value: float | None) -> str:
    """Return bytes per second in gigabytes."""
    return "–" if value is None else units.number(value / 1e9, 1)
