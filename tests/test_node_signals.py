"""The catalogue knows its lines in every dress that a node log puts around them, with their time and host."""

from __future__ import annotations

import json

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.ingest.match import match_fields
from pipeline.ingest.rules import rules_for
from pipeline.ingest.scan import Scanner
from pipeline.ingest.signals import CATALOGUE

#: Name of the format and what stands before a message of the kernel on host gx017.
DRESSES = {
    "dmesg -T": ("kernel", "[Sun Mar  1 10:11:12 2026] "),
    "dmesg --time-format iso": ("kernel", "kern  :err   : 2026-03-01T10:11:12,003456+00:00 "),
    "kmsg": ("kernel", "4,1208,91005177,-;"),
    "boot": ("kernel", "[412007.930514] "),
    "pstore": ("kernel", "<1>[  88.417003] "),
    "rfc3164": ("kernel", "Mar  1 10:11:12 gx017 kernel: [412007.930514] "),
    "rfc5424": ("kernel", "<4>1 2026-03-01T10:11:12.003456Z gx017 kernel - - - "),
    "short-precise": ("kernel", "Mar 01 10:11:12.003456 gx017 kernel: "),
    "short-iso": ("kernel", "2026-03-01T10:11:12+0000 gx017 kernel: "),
    "short-full": ("kernel", "Sun 2026-03-01 10:11:12 UTC gx017 kernel: "),
    "short-unix": ("kernel", "1772359872.003456 gx017 kernel: "),
    "short-monotonic": ("kernel", "[412007.930514] gx017 kernel: "),
    "mixed journal": ("syslog", "Mar 01 10:11:12.003456 gx017 kernel: "),
    "labelled": ("syslog", "- 1772359872 2026.03.01 gx017 Mar 1 10:11:12 gx017/gx017 kernel: "),
}
#: Dresses without a host.
HOSTLESS = {"dmesg -T", "dmesg --time-format iso", "kmsg", "boot", "pstore"}

ROWS = pl.read_csv(CATALOGUE, infer_schema=False).select("signal_id", "source", "example").rows()
EXAMPLES = {
    name: example.split("] ", 1)[-1] if example.startswith("[ ") else example
    for name, source, example in ROWS
    if source in ("dmesg", "rocm")
}

#: Sources of the catalogue, the formats in which they speak, and what those put before and behind.
TOOLS = {
    "dcgm_health": ("dcgm", "dcgm", "|                           | {} |"),
    "dcgm_engine": (
        "dcgm",
        "dcgm",
        "2026-03-01 10:11:12.003 ERROR [852:901] {} [/src/DcgmHealthWatch.cpp:4]",
    ),
    "dcgm_in_syslog": ("dcgm", "syslog", "Mar  1 10:11:12 gx017 nv-hostengine[852]: {}"),
    "fabric": ("syslog", "fabric_manager", "{}"),
    "fabric_in_syslog": ("syslog", "syslog", "Mar  1 10:11:12 gx017 nvidia-fabricmanager[852]: {}"),
    "links": ("ib", "ib_fabric", "{}"),
    "storage": ("fs", "kernel", "Mar  1 10:11:12 gx017 kernel: {}"),
    "storage_in_syslog": ("fs", "syslog", "Mar  1 10:11:12 gx017 {}"),
}


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 100


@pytest.mark.parametrize("dress", DRESSES)
def test_signals_of_the_kernel_are_known_in_every_dress(dress: str) -> None:
    name, head = DRESSES[dress]
    assert name in registry()
    lines = pl.Series([head + example for example in EXAMPLES.values()])
    scan = Scanner(rules_for(name)).scan(lines)
    rows = scan.tables["signals"]
    assert rows["signal_id"].to_list() == list(EXAMPLES)
    assert set(scan.known) == set(range(1, len(EXAMPLES) + 1))
    assert rows["ts"].null_count() == 0
    assert set(rows["host"]) == ({None} if dress in HOSTLESS else {"gx017"})


@pytest.mark.parametrize("tool", TOOLS)
def test_signals_of_tools_are_known_in_their_logs(tool: str) -> None:
    source, name, form = TOOLS[tool]
    assert name in registry()
    examples = {signal: example for signal, of, example in ROWS if of == source}
    lines = pl.Series([form.format(example) for example in examples.values()])
    rows = Scanner(rules_for(name)).scan(lines).tables["signals"]
    assert rows["signal_id"].to_list() == list(examples)


def test_signals_of_the_kernel_are_known_in_the_journal_as_json() -> None:
    entry = {"__REALTIME_TIMESTAMP": "1772359872003456", "_BOOT_ID": "5c", "_HOSTNAME": "gx017"}
    lines = [json.dumps(entry | {"MESSAGE": message}) for message in EXAMPLES.values()]
    rows = match_fields(registry()["journal_json"], pl.Series(lines)).tables["signals"]
    assert rows["signal_id"].to_list() == list(EXAMPLES)
    assert (rows["ts"].null_count(), set(rows["host"])) == (0, {"gx017"})
