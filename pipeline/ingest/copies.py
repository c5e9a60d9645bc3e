"""Probes → which sources are copies of others. The same bytes are read once, or once for each host.

The kernels of two hosts can say the same, to the microsecond since they booted: where no line names its host,
the place of the file does, and the second log is evidence of another machine. Two runs that start in the same
second can print the same, too, until a log is rotated: what the logs go on with tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from pipeline.formats import registry
from pipeline.ingest.parts import places_in_logs
from pipeline.ingest.probe import Probe, hash_content
from pipeline.ingest.rules import rules_for
from pipeline.ingest.sample import read_sample
from pipeline.ingest.scan import Scanner
from pipeline.places import AROUND_HOSTS, HOST_LOGS

_BARE = re.compile(rf"(?:(?:{HOST_LOGS})(?:[-_]|$))?(?P<bare>.*?)(?:[-_](?:{HOST_LOGS}))?", re.IGNORECASE)
_AROUND = re.compile(AROUND_HOSTS, re.IGNORECASE)

#: Hosts are numbered; and so is what people collect, and copy.
_HOST = re.compile(r"[A-Za-z][\w-]*\d[\w-]*")
_COLLECTED = re.compile(
    r"(?:attempt|backup|bak|boot|case|cop(?:y|ie)|day|dump|export|incident|job|new|old|part|run|ticket|try|week)"
    r"s?[\d_-]*",
    re.IGNORECASE,
)


def find_duplicates(probes: Sequence[Probe]) -> dict[str, str]:
    """Return for each source with the content of another one the name of the one that is read instead.

    Only files that begin alike are compared; empty files are not the copy of each other. The first is read,
    and of a log of a machine one of each host that a place names.
    """
    groups: dict[str, list[Probe]] = {}
    for found in probes:
        if found.head_hash and found.source.bytes and not found.error:
            groups.setdefault(found.head_hash, []).append(found)
    copies: dict[str, str] = {}
    logs: _Logs | None = None
    for group in groups.values():
        if len(group) == 1:
            continue
        alike: dict[str, list[Probe]] = {}
        for found in group:
            content = found.known.row["content_hash"] if found.known else hash_content(found.source.place)
            alike.setdefault(content, []).append(found)
        for same in alike.values():
            if len(same) == 1:
                continue
            logs = logs or _Logs(probes)
            for one in logs.told_apart(same):
                copies |= _copies_of(one)
    return copies


def host_of_place(name: str) -> str | None:
    """Return the host that the place of a log names, or None: its own name does, or the folder around it."""
    path = PurePosixPath(name)
    stem = path.name.partition(".")[0]
    found = _BARE.fullmatch(stem)
    bare = found["bare"] if found else stem
    around = [folder for folder in path.parts[:-1] if not _AROUND.fullmatch(folder)]
    # A name of its own is none of a folder's.
    words = [bare] if bare == stem or not around else [bare, around[-1]]
    return next((word for word in words if _HOST.fullmatch(word) and not _COLLECTED.fullmatch(word)), None)


class _Logs:
    """The parts of rotated logs, of which those before and behind one of them tell whose it is."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self._places = places_in_logs([found.source.name for found in probes])
        self._parts: dict[str, dict[int, Probe]] = {}
        self._differing: dict[tuple[str, str, int], bool] = {}
        # Each is compared with many, and read once.
        self._heads: dict[str, str] = {}
        for found in probes:
            if found.source.bytes and not found.error:
                log, age = self._places[found.source.name]
                self._parts.setdefault(log, {}).setdefault(age, found)

    def told_apart(self, same: Sequence[Probe]) -> Iterator[list[Probe]]:
        """Yield those of some sources with one content that may be copies of each other."""
        groups: list[list[Probe]] = []
        for found in same:
            group = next((g for g in groups if not self._differ(found.source.name, g[0].source.name)), None)
            if group is None:
                groups.append([found])
            else:
                group.append(found)
        yield from groups

    def _differ(self, one: str, other: str) -> bool:
        """Return whether two logs differ somewhere, laid upon each other where they say the same."""
        (log, age), (other_log, other_age) = self._places[one], self._places[other]
        if log == other_log:
            return False
        case = log, other_log, age - other_age
        if case not in self._differing:
            parts, others = self._parts[log], self._parts[other_log]
            pairs = ((part, others.get(at - age + other_age)) for at, part in parts.items())
            self._differing[case] = any(
                other and self._begin_differently(part, other) for part, other in pairs
            )
        return self._differing[case]

    def _begin_differently(self, one: Probe, other: Probe) -> bool:
        """Return whether two files begin differently; one copied while it was written is a beginning."""
        if one.head_hash and one.head_hash == other.head_hash:
            return False
        mine, theirs = self._head_of(one), self._head_of(other)
        return not (mine.startswith(theirs) or theirs.startswith(mine))

    def _head_of(self, found: Probe) -> str:
        """Return the first lines of a file."""
        name = found.source.name
        if name not in self._heads:
            self._heads[name] = "\n".join(read_sample(found.source.place).head)
        return self._heads[name]


def _copies_of(same: Sequence[Probe]) -> dict[str, str]:
    """Return which of some sources with one content are copies, and of which."""
    names = [one.source.name for one in same]
    if len(names) < 2:
        return {}
    hosts = [host_of_place(name) for name in names]
    if not any(hosts) or not _is_of_no_host(same[0]):
        return dict.fromkeys(names[1:], names[0])
    # Of each host the plainest name is read; what lies where none is named is a copy of the first.
    firsts: dict[str, str] = {}
    copies: dict[str, str] = {}
    named = sorted((host, name) for host, name in zip(hosts, names, strict=True) if host)
    for host, name in sorted(named, key=lambda found: len(found[0])):
        first = next((first for other, first in firsts.items() if _is_same(host, other)), None)
        if first is None:
            firsts[host] = name
        else:
            copies[name] = first
    default = next(name for name in names if name in firsts.values())
    return copies | {name: default for host, name in zip(hosts, names, strict=True) if not host}


def _is_same(host: str, other: str) -> bool:
    """Return whether a name is another, or goes on around it as that of a copy does: gx001, gx001-copy."""
    return host == other or re.search(rf"(?:^|[-_]){re.escape(other)}(?:[-_]|$)", host) is not None


def _is_of_no_host(found: Probe) -> bool:
    """Return whether a source is a log of a machine of which no line says which."""
    fmt = registry().get(found.detection.format)
    if fmt is None or fmt.role != "node" or fmt.shape != "lines" or found.label:
        return False
    scan = Scanner(rules_for(fmt.name)).scan(read_sample(found.source.place).lines)
    return all(rows["host"].null_count() == rows.height for rows in scan.tables.values())
