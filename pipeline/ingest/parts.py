"""Parts of a rotated log, streams and launches of a program: what proves the format of one proves all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import polars as pl

from pipeline.config import Config
from pipeline.formats import registry
from pipeline.formats.format import Format
from pipeline.ingest.detect import UNKNOWN, Detection, detect
from pipeline.ingest.match import match_format
from pipeline.ingest.probe import Probe, forced_format
from pipeline.ingest.sample import Sample, label_samples, read_sample

#: What compresses a file puts behind its name, and what rotates it before that; `staging.sources` agrees.
_COMPRESSED = re.compile(r"\.(?:gz|zst|xz|bz2)$")
_AGE = re.compile(r"\.(\d{1,4})$")

#: What tells the two streams of a program apart in the names of their files.
_STREAM = re.compile(r"(?<![A-Za-z])(?:std)?(?:out|err|o|e)(?![A-Za-z])")
#: What tells the launches of a program apart: numbers of jobs, attempts and nodes.
_NUMBER = re.compile(r"\d+")

#: Parts of a log that are looked at together, at most.
_MAX_PARTS = 50


def agree_on_formats(probes: Sequence[Probe], config: Config) -> list[Probe]:
    """Return the probes, of which those of one log have one format where all parts together prove it.

    The part with the start of a program tells what it is; one that only holds its last lines does not.
    """
    changed: dict[str, Probe] = {}
    for log in _logs(probes):
        parts = [found for found in log if not found.error and forced_format(found.source, config) is None]
        if len({found.detection.format for found in parts}) < 2:
            continue
        whole = _look_at(parts)
        if whole is None or not _reads_any_part(whole.format):
            continue
        for found in parts:
            own = found.detection.format
            if own != whole.format and (own == UNKNOWN or _reads_any_part(own)):
                changed[found.source.name] = _taken_for(found, whole)
    changed |= _siblings([changed.get(found.source.name, found) for found in probes], config)
    return [changed.get(found.source.name, found) for found in probes]


def _siblings(probes: Sequence[Probe], config: Config) -> dict[str, Probe]:
    """Return the probes that prove nothing, of programs of which another file proves what they are.

    Progress bars go to standard error, and what says whose they are to standard output; a launch that failed
    at once prints only the first lines of what the others print.
    """
    groups: dict[str, list[Probe]] = {}
    for found in probes:
        stem = _COMPRESSED.sub("", found.source.name)
        groups.setdefault(_NUMBER.sub("#", _STREAM.sub("*", stem)), []).append(found)
    changed: dict[str, Probe] = {}
    for group in groups.values():
        proven = {
            found.detection.format: found.detection
            for found in group
            if found.detection.format in registry() and registry()[found.detection.format].needs_proof
        }
        for found in group:
            told = found.detection
            if (
                not proven
                or not _says_little(told.format)
                or forced_format(found.source, config) is not None
                or found.error
            ):
                continue
            name = told.runner_up if told.runner_up in proven else _tells_most(found, proven)
            if name:
                changed[found.source.name] = _taken_for(found, proven[name])
    return changed


def _tells_most(found: Probe, names: Iterable[str]) -> str:
    """Return the one of some formats whose lines tell most in a file, or empty where none tells anything.

    Where its launcher printed a report of its failure, other programs may know more of these lines.
    """
    try:
        lines = read_sample(found.source.place).lines
    except OSError:
        return ""
    told = {name: _telling_lines(registry()[name], lines) for name in sorted(names)}
    best = max(told, key=lambda name: told[name])
    return best if told[best] else ""


def _telling_lines(fmt: Format, lines: pl.Series) -> int:
    """Return how many lines a format reads something out of."""
    telling = [pattern.name for pattern in fmt.patterns if pattern.table]
    return match_format(fmt, lines).matches.filter(pl.col("pattern").is_in(telling))["line"].n_unique()


def places_in_logs(names: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return by the name of each file its log, and how often it was rotated: 0 for the latest part."""
    stems = {name: _COMPRESSED.sub("", name) for name in names}
    logs = set(stems.values())
    places: dict[str, tuple[str, int]] = {}
    for name, stem in stems.items():
        age = _AGE.search(stem)
        log = _AGE.sub("", stem)
        places[name] = (log, int(age[1])) if age is not None and log in logs else (stem, 0)
    return places


def _logs(probes: Iterable[Probe]) -> list[list[Probe]]:
    """Return the parts of each log that has several, the oldest first."""
    found = {probe.source.name: probe for probe in probes}
    logs: dict[str, list[tuple[int, str]]] = {}
    for name, (log, age) in places_in_logs(found).items():
        logs.setdefault(log, []).append((-age, name))
    return [[found[name] for _, name in sorted(log)] for log in logs.values() if len(log) > 1]


def _look_at(parts: Sequence[Probe]) -> Detection | None:
    """Return what parts are taken for by a look at lines of all of them, or None where one cannot be read."""
    try:
        looks = [read_sample(found.source.place) for found in parts[:: -(-len(parts) // _MAX_PARTS)]]
    except OSError:
        return None
    lines = pl.concat(look.lines for look in looks)
    nothing = lines.clear()
    whole = Sample(lines, lines, nothing, nothing, all(look.binary for look in looks), "")
    return detect(label_samples([whole])[0])


def _reads_any_part(name: str) -> bool:
    """Return whether a format needs no header: each line is read by itself."""
    return name in registry() and registry()[name].shape in ("lines", "records")


def _says_little(name: str) -> bool:
    """Return whether a format tells nothing of the program: none, or one of lines that stand anywhere."""
    return name == UNKNOWN or (name in registry() and not registry()[name].primary)


def _taken_for(found: Probe, whole: Detection) -> Probe:
    """Return a part with the format of its log; since that hangs on the other parts, it is read each time."""
    return replace(found, detection=whole, options=f"{found.options}|{whole.format}", known=None)
