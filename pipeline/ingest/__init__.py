"""Logs → event tables: discover, look, read, write. Idempotent, resumable, the same bytes anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.config import Config
from pipeline.ingest.chunks import CHUNK_BYTES
from pipeline.ingest.discover import discover
from pipeline.ingest.parts import agree_on_formats
from pipeline.ingest.probe import Probe, find_duplicates, probe_batch
from pipeline.ingest.sources import build_sources, copied_entry, failed_entry
from pipeline.ingest.store import Entry, Store
from pipeline.ingest.work import Workers, cut_batches, worker_count
from pipeline.ingest.write import read_batch, read_into

__all__ = ["IngestSummary", "ingest"]

#: Called with the name of a stage, the bytes that are done, and all bytes.
ProgressCallback = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What was read.

    Attributes:
        sources: input files.
        lines, parsed, unknown, bad: lines of them, each content once; the last three add up to the first.
        read, reused: files that were read now, and that were not because they had not changed.
        unreadable: path and reason of files that could not be read, or not to their end.
    """

    sources: int
    lines: int
    parsed: int
    unknown: int
    bad: int
    read: int
    reused: int
    unreadable: tuple[tuple[str, str], ...]


def ingest(
    logs: Sequence[str],
    store: Path,
    config: Config,
    *,
    workers: int = 0,
    progress: ProgressCallback | None = None,
) -> IngestSummary:
    """Read logs into the event tables of a store.

    Args:
        logs: files and folders.
        store: folder to write into; everything of an earlier ingest that no longer holds is removed.
        workers: threads; 0 for one per processor.
        progress: told how far the stages are.

    Raises:
        GoodputError: there is nothing to read, or the store cannot be written.
    """
    target = Store(Path(store))
    with target.scratch() as scratch, Workers(worker_count(workers)) as pool:
        found = discover(logs, scratch, exclude=store)
        target.open()
        known, local = target.known(), target.local()
        batches = cut_batches(found.sources, lambda source: source.weight)
        looks = pool.map(lambda batch: probe_batch(batch, config, known, local), batches)
        probes = agree_on_formats([look for batch in looks for look in batch], config)
        copies = find_duplicates(probes)
        entries = {entry.name: entry for entry in _entries(probes, copies, target, pool, progress)}
    for name, first in copies.items():
        entries[name] = copied_entry(next(p for p in probes if p.source.name == name), entries[first])
    ordered = [entries[source.name] for source in found.sources]
    stats = {p.source.name: p.source.place.stamp() for p in probes if not p.error}
    target.finish(ordered, build_sources(ordered, config), stats, found.logs_name)
    return _summary(ordered, probes, copies)


def _entries(
    probes: list[Probe],
    copies: dict[str, str],
    store: Store,
    pool: Workers,
    progress: ProgressCallback | None,
) -> Iterator[Entry]:
    """Yield the entries of all sources that are no copies, reading those that must be read.

    Small files are read side by side, a large one by all workers together.
    """
    todo = []
    for found in probes:
        if found.error:
            yield failed_entry(found)
        elif found.source.name in copies:
            continue
        elif found.known is not None and not found.known.row["duplicate_of"]:
            yield found.known
        else:
            todo.append(found)
    total = sum(found.source.bytes for found in todo)
    done = 0

    def finished(entry: Entry) -> Entry:
        nonlocal done
        store.note(entry)
        done += entry.row["bytes"]
        if progress is not None:
            progress("read", done, total)
        return entry

    for entries in pool.map(lambda batch: read_batch(batch, store), batches_of(todo)):
        for entry in entries:
            yield finished(entry)
    for found in todo:
        if found.source.bytes > CHUNK_BYTES:

            def within(part: int, base: int = done) -> None:
                if progress is not None:
                    progress("read", base + part, total)

            yield finished(read_into(found, store, pool.map, within))


def batches_of(todo: Iterable[Probe]) -> Iterator[list[Probe]]:
    """Yield batches of small sources that are read together: all of one format, in order of their names."""
    by_format: dict[str, list[Probe]] = {}
    for found in todo:
        if found.source.bytes <= CHUNK_BYTES:
            by_format.setdefault(found.detection.format, []).append(found)
    for group in by_format.values():
        yield from cut_batches(group, lambda found: found.source.weight)


def _summary(entries: list[Entry], probes: list[Probe], copies: dict[str, str]) -> IngestSummary:
    """Return the totals of all sources."""
    own = [entry.row for entry in entries if entry.name not in copies]
    reused = sum(found.known is not None for found in probes)
    return IngestSummary(
        sources=len(entries),
        lines=sum(row["lines"] for row in own),
        parsed=sum(row["parsed_lines"] for row in own),
        unknown=sum(row["unknown_lines"] for row in own),
        bad=sum(row["bad_lines"] for row in own),
        read=sum(not found.error for found in probes) - reused,
        reused=reused,
        unreadable=tuple((entry.name, entry.row["error"]) for entry in entries if entry.row["error"]),
    )
