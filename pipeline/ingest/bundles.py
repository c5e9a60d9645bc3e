"""Very many small files share parts: a part for each would cost more than what is in it.

Which bundle a file goes into is told by its name alone, so that a file that is new or has changed touches
one bundle, which is read again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from pipeline.ingest.probe import Probe
from pipeline.ingest.sources import read_entry
from pipeline.ingest.store import Bundle, Entry, Store
from pipeline.ingest.work import Workers, cut_batches
from pipeline.ingest.write import Parts, content_key, read_rows

#: Small files that still have parts of their own, and the bytes of one that is small.
MANY, SMALL_BYTES = 1000, 64 << 10

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
    for read in pool.map(read_rows, batches_of(members)):
        for found, account, rows in read:
            for tables in rows:
                parts.add(tables, found.source.source_id)
            digest.update(f"{found.source.name}|{content_key(found, account)}\n".encode())
            entries.append(read_entry(found, account, {}, name))
    return Bundle(_hash_of(members), parts.finish(digest.hexdigest())), entries


def batches_of(todo: Sequence[Probe]) -> Iterator[list[Probe]]:
    """Yield batches of small sources that are read together: all of one format, in order of their names."""
    by_format: dict[str, list[Probe]] = {}
    for found in todo:
        by_format.setdefault(found.detection.format, []).append(found)
    for group in by_format.values():
        yield from cut_batches(group, lambda found: found.source.weight)


def _hash_of(members: Sequence[Probe]) -> str:
    """Return a hash of the names of sources."""
    names = "\n".join(found.source.name for found in members)
    return blake2b(names.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
