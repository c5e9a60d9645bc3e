"""Host lists as schedulers write them → one name per host. Slurm: ``gx[001-004,007],login1``.

The grammar: items separated by commas outside brackets; an item is text with any number of bracketed
lists in it, and several brackets multiply. A list holds numbers and ranges, whose zero padding is kept.
On clusters whose nodes have coordinates, ``tux[000x133]`` is a box between two corners in base 36.
"""

from __future__ import annotations

import re
from itertools import product

#: More hosts than any cluster has: a longer list is damage, or an attack on memory.
MAX_HOSTS = 200_000

_NOBODY = frozenset({"", "none", "none assigned", "(null)", "n/a", "null", "unknown"})
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")
_BOX = re.compile(r"([0-9A-Z]+)x([0-9A-Z]+)")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: An entry of a list of slots: how many before the host, which ones or what of it behind.
_SLOT = re.compile(r"(?:\d+\*)?(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)(?:[/:@][^+\s\"()<>]*)?")
_BETWEEN_SLOTS = re.compile(r"[+\s\"()<>]+")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def expand_hostlist(text: str | None) -> list[str] | None:
    """Return the hosts of a list, in its order, or None.

    None stands for nothing allocated (``None assigned``) as for a text that is not a whole list:
    unbalanced brackets, a tail of ``...`` or ``+`` left by a narrow column, a range that runs backwards.
    """
    if text is None or (text := text.strip()).lower() in _NOBODY or text.endswith(("+", "...", ",")):
        return None
    items = _split(text)
    if items is None:
        return None
    hosts: list[str] = []
    for item in items:
        expanded = _expand(item)
        if expanded is None or len(hosts) + len(expanded) > MAX_HOSTS:
            return None
        hosts += expanded
    return hosts


def expand_slots(text: str | None) -> list[str] | None:
    """Return the hosts of a list with an entry for each slot or host, each once and in its order, or None.

    PBS writes ``gx001/0*8+gx002/0*8`` or ``(gx001:ngpus=8)+(gx002:ngpus=8)``, LSF ``"8*gx001" "gx002"``, or
    ``<8*gx001> <gx002@cluster>`` for people.
    """
    if text is None:
        return None
    entries = (_SLOT.fullmatch(entry) for entry in _BETWEEN_SLOTS.split(text) if entry)
    hosts = [entry["host"] if entry else "" for entry in entries]
    return list(dict.fromkeys(hosts)) if hosts and all(hosts) and len(hosts) <= MAX_HOSTS else None


def _split(text: str) -> list[str] | None:
    """Split at commas outside brackets; None where brackets do not balance or nest."""
    items, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            return None
        if char == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
    return None if depth else [*items, text[start:]]


def _expand(item: str) -> list[str] | None:
    """Expand one item; None where it is not one."""
    parts = _BRACKET.split(item)
    axes: list[list[str]] = []
    size = 1
    for at, part in enumerate(parts):
        axis = [part] if at % 2 == 0 else _expand_list(part)
        if axis is None or (size := size * len(axis)) > MAX_HOSTS:
            return None
        axes.append(axis)
    hosts = ["".join(pieces) for pieces in product(*axes)]
    return hosts if all(_HOST.fullmatch(host) for host in hosts) else None


def _expand_list(text: str) -> list[str] | None:
    """Expand what stands between brackets."""
    names: list[str] = []
    for entry in text.split(","):
        if ranged := _RANGE.fullmatch(entry):
            first, last = ranged[1], ranged[2] or ranged[1]
            if not 0 <= int(last) - int(first) < MAX_HOSTS:
                return None
            names += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
        elif (box := _BOX.fullmatch(entry)) and len(box[1]) == len(box[2]):
            axes = [
                _DIGITS[_DIGITS.index(low) : _DIGITS.index(high) + 1]
                for low, high in zip(box[1], box[2], strict=True)
            ]
            if not all(axes) or _size(axes) > MAX_HOSTS:
                return None
            names += ["".join(corner) for corner in product(*axes)]
        else:
            return None
        if len(names) > MAX_HOSTS:
            return None
    return names


def _size(axes: list[str]) -> int:
    """Return how many corners the axes of a box span."""
    size = 1
    for axis in axes:
        size *= len(axis)
    return size
