"""Logs of the daemons of Slurm: of the one on each host, which the local administrator keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.simulate.lines import Style


def stamped(time_us: int, text: str, style: Style, host: str = "") -> str:
    """Return a line as a daemon writes it: local time to the millisecond, no zone."""
    local = style.local(time_us, host)
    return f"[{local:%Y-%m-%dT%H:%M:%S}.{local.microsecond // 1000:03d}] {text}"


def host_log(host: str, lines: Iterable[tuple[int, str]], style: Style) -> Iterator[str]:
    """Yield the lines of ``slurmd`` on a host: what it said when, in microseconds."""
    for time_us, text in sorted(lines):
        yield stamped(time_us, text, style, host)
