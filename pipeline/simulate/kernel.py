"""Kernel logs of hosts, in the six ways in which their times are written."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from random import Random

from pipeline.simulate.blemishes import KernelForm
from pipeline.simulate.lines import Style
from pipeline.simulate.story import HOUR, SECOND

#: How the file of a host is called.
NAMES: dict[KernelForm, str] = {
    "iso": "dmesg.txt",
    "ctime": "dmesg-T.txt",
    "syslog": "kern.log",
    "boot": "kmsg.txt",
    "journal": "journal.log",
    "json": "journal.json",
}

#: Seconds after boot at which the kernel takes the time of the hardware clock.
_CLOCK_S = 1.204117


def kernel_log(
    host: str, lines: Iterable[tuple[int, str]], form: KernelForm, style: Style, seed: int
) -> Iterator[str]:
    """Yield the lines of a host's kernel log: what was said when, in microseconds."""
    spoken = sorted(lines)
    boot_us = spoken[0][0] - Random(f"{seed}/boot/{host}").randrange(24 * HOUR, 720 * HOUR)
    if form == "boot":
        yield from _begin(boot_us, style, host)
    for time_us, text in spoken:
        yield _line(time_us, text, form, style, host, boot_us)


def _line(time_us: int, text: str, form: KernelForm, style: Style, host: str, boot_us: int) -> str:
    """Return one line."""
    local = style.local(time_us, host)
    since = f"[{(time_us - boot_us) / SECOND:12.6f}]"
    if form == "ctime":
        return f"[{local:%a %b} {local.day:2d} {local:%H:%M:%S %Y}] {text}"
    if form == "syslog":
        return f"{local:%b} {local.day:2d} {local:%H:%M:%S} {host} kernel: {since} {text}"
    if form == "boot":
        return f"{since} {text}"
    if form == "json":
        return json.dumps(_entry(round(local.timestamp() * SECOND), text, host, time_us - boot_us))
    zone = f"{local:%z}"
    if form == "journal":
        return f"{local:%Y-%m-%dT%H:%M:%S.%f}{zone[:3]}:{zone[3:]} {host} kernel: {text}"
    return f"kern  :err   : {local:%Y-%m-%dT%H:%M:%S},{local:%f}{zone[:3]}:{zone[3:]} {text}"


def _entry(time_us: int, text: str, host: str, since_us: int) -> dict[str, str]:
    """Return an entry of the journal, as `journalctl -o json` writes it."""
    return {
        "__REALTIME_TIMESTAMP": str(time_us),
        "__MONOTONIC_TIMESTAMP": str(since_us),
        "_BOOT_ID": f"{zlib.crc32(host.encode()):032x}",
        "_TRANSPORT": "kernel",
        "SYSLOG_IDENTIFIER": "kernel",
        "PRIORITY": "3",
        "_HOSTNAME": host,
        "MESSAGE": text,
    }


def _begin(boot_us: int, style: Style, host: str) -> Iterator[str]:
    """Yield the first lines after boot: one says which whole second the hardware clock showed."""
    clock_us = boot_us + round(_CLOCK_S * SECOND) + style.skew_us.get(host, 0)
    utc = Style().local(clock_us)
    yield "[    0.000000] Linux version 6.8.0-60-generic (buildd@lcy02-amd64-054) #63-Ubuntu SMP"
    yield (
        f"[{_CLOCK_S:12.6f}] rtc_cmos 00:01: setting system clock to"
        f" {utc:%Y-%m-%dT%H:%M:%S} UTC ({clock_us // SECOND})"
    )
    yield "[   14.882031] nvidia: module license 'NVIDIA' taints kernel."
