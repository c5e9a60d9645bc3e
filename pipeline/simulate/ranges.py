"""Numbers as Slurm prints them: ``0-6,8``, and the names of hosts in brackets."""

from __future__ import annotations

from collections.abc import Iterable


def number_list(numbers: Iterable[int], width: int = 1) -> str:
    """Return numbers in rising order, neighbours as a range: ``010-012,018``."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in spans)


def host_list(hosts: Iterable[str]) -> str:
    """Return hosts in brackets, a single one without: ``gx[010-012,018]``."""
    names = list(hosts)
    numbers = number_list((int(host[2:]) for host in names), len(names[0]) - 2)
    return f"gx{numbers}" if len(names) == 1 else f"gx[{numbers}]"
