"""Very many small files share parts: a part for each would cost more than what is in it.

Which bundle a file goes into is told by its name alone, so that a file that is new or has changed touches
one bundle, which is read again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from pipeline.formats import registry
from pipeline.ingest.account import Account
from pipeline.ingest.detect import BINARY
from pipeline.ingest.probe import Probe
from pipeline.ingest.small import SmallFiles, read_small
from pipeline.ingest.sources import read_entry
from pipeline.ingest.store import Bundle, Entry, Store
from pipeline.ingest.work import Workers, cut_batches
from pipeline.ingest.write import Parts, content_key, hide_users, read_rows

#: Small files that still have parts of their own, and the bytes of one that is small.
MANY, SMALL_BYTES = 1000, 64 << 10

#: Small files that are read as one text.
_TOGETHER = 2000

#: Hexadecimal digits of a source's key that go into one bundle.
_DIGITS = ("01", "23", "45", "67", "89", "ab", "cd", "ef")


def plan_bundles(own: Sequence[Probe]) -> dict[str, list[Probe]]:
    """Return by name the bundles that sources belong to; sources that are in none have parts of their own."""
    small = [found for found in own if not found.error and found.source.bytes <= SMALL_BYTES]
    if len(small) <= MANY:
        return {}
    names = {digit: f"bundle{number}" for number, digits in enumerate(_DIGITS) for digit in digits}
    bundles: dict[str, list[Probe]] = {}
    for found in small:
        bundles.setdefault(names[found.source.source_id[1]], []).append(found)
    return dict(sorted(bundles.items()))


def is_current(name: str, members: Sequence[Probe], known: Bundle | None) -> bool:
    """Return whether a bundle of the store still holds: the same files, none of them changed."""
    return (
        known is not None
        and known.members == _hash_of(members)
        and all(found.known is not None and found.known.bundle == name for found in members)
    )


def read_bundle(
    name: str, members: Sequence[Probe], store: Store, pool: Workers
) -> tuple[Bundle, list[Entry]]:
    """Read small sources into common parts, and return the bundle and the entries of the sources."""
    parts = Parts(store, name)
    entries: list[Entry] = []
    digest = blake2b(digest_size=6)
    read_all = pool.map_over(found.source.place for found in members)
    for read in read_all(_read_batch, _batches(members)):
        for tables in read.rows:
            parts.add(tables)
        for found, account in read.accounts:
            digest.update(f"{found.source.name}|{content_key(found, account)}\n".encode())
            entries.append(read_entry(found, account, {}, name))
    return Bundle(_hash_of(members), parts.finish(digest.hexdigest())), entries


@dataclass(frozen=True, slots=True)
class _Read:
    """Rows of some sources, and what is known of each."""

    rows: list[dict[str, pl.DataFrame]]
    accounts: list[tuple[Probe, Account]]


def _read_batch(batch: Sequence[Probe]) -> _Read:
    """Return what small files of one format and label hold."""
    fmt = registry().get(batch[0].detection.format)
    # Samples of devices are thinned over the whole of a file.
    sampled = fmt is not None and any(pattern.table == "telemetry" for pattern in fmt.patterns)
    together = batch[0].detection.format != BINARY and (fmt is None or fmt.shape == "lines") and not sampled
    found = read_small(batch) if together else SmallFiles({}, {}, list(range(len(batch))))
    rows = [{table: hide_users(table, part, batch[0]) for table, part in found.tables.items()}]
    accounts = dict(found.accounts)
    for at in found.others:
        accounts[at], own = read_rows(batch[at])
        rows += own
    return _Read(rows, [(batch[at], accounts[at]) for at in sorted(accounts)])


def _batches(members: Sequence[Probe]) -> Iterator[list[Probe]]:
    """Yield small files of one format and label that are read together, in order of their names."""
    for group in _alike(members):
        for start in range(0, len(group), _TOGETHER):
            yield group[start : start + _TOGETHER]


def batches_of(todo: Sequence[Probe]) -> Iterator[list[Probe]]:
    """Yield batches of small sources that are read together, of one format and label, by name."""
    for group in _alike(todo):
        yield from cut_batches(group, lambda found: found.source.weight)


def _alike(members: Sequence[Probe]) -> list[list[Probe]]:
    """Return sources by their format and the label of their lines, each group in its order."""
    alike: dict[tuple[str, str], list[Probe]] = {}
    for found in members:
        alike.setdefault((found.detection.format, found.label), []).append(found)
    return list(alike.values())


def _hash_of(members: Sequence[Probe]) -> str:
    """Return a hash of the names of sources."""
    names = "\n".join(found.source.name for found in members)
    return blake2b(names.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
