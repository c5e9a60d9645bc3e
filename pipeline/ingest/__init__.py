"""Logs → event tables: discover, look, read, write. Idempotent, resumable, the same bytes anywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from pipeline.config import Config
from pipeline.ingest.bundles import batches_of, is_current, plan_bundles, read_bundle
from pipeline.ingest.chunks import CHUNK_BYTES
from pipeline.ingest.copies import find_duplicates
from pipeline.ingest.discover import discover
from pipeline.ingest.habits import build_formats
from pipeline.ingest.parts import agree_on_formats
from pipeline.ingest.probe import Probe, probe_all, unread_content
from pipeline.ingest.secrets import mask_text
from pipeline.ingest.sources import build_sources, copied_entry, failed_entry
from pipeline.ingest.store import Bundle, Entry, Store
from pipeline.ingest.work import Workers
from pipeline.ingest.write import read_batch, read_into
from pipeline.places import is_url
from pipeline.processes import Processes, worker_count

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
    processes: Processes | None = None,
) -> IngestSummary:
    """Read logs into the event tables of a store.

    Args:
        logs: files and folders.
        store: folder to write into; everything of an earlier ingest that no longer holds is removed.
        workers: threads and processes; 0 for one per processor.
        progress: told how far the stages are.
        processes: processes of which some may have been started before, and are ready sooner.

    Raises:
        GoodputError: there is nothing to read, or the store cannot be written.
    """
    target = Store(Path(store))
    with ExitStack() as stack:
        processes = processes or stack.enter_context(Processes())
        scratch = stack.enter_context(target.scratch())
        pool = stack.enter_context(Workers(worker_count(workers), processes))
        found = discover(logs, scratch, exclude=store)
        target.open()
        known, local = target.known(), target.local()
        pool.processes.expect(unread_content(found.sources, known, local), pool.count)
        probes = agree_on_formats(probe_all(found.sources, config, known, local, pool), config)
        copies = find_duplicates(probes)
        own = [found for found in probes if found.source.name not in copies]
        bundled = plan_bundles(own)
        bundles, entries = _read_bundles(bundled, target, pool, progress)
        apart = {found.source.name for members in bundled.values() for found in members}
        alone = [found for found in own if found.source.name not in apart]
        entries |= {entry.name: entry for entry in _entries(alone, target, pool, progress)}
    by_name = {found.source.name: found for found in probes}
    for name, first in copies.items():
        entries[name] = copied_entry(by_name[name], entries[first])
    ordered = [entries[source.name] for source in found.sources]
    stats = {p.source.name: p.source.place.stamp() for p in probes if not p.error}
    whole = {"sources": build_sources(ordered, config), "formats": build_formats()}
    target.finish(ordered, bundles, whole, stats, found.logs_name)
    target.note_logs(_absolute(logs))
    return _summary(ordered, probes, copies)


def _absolute(logs: Sequence[str]) -> list[str]:
    """Return the roots so that they can be found from anywhere; nothing is kept of a URL with a password."""
    roots = [str(log) if is_url(str(log)) else os.path.abspath(log) for log in logs]
    return roots if mask_text(pl.Series(roots)).to_list() == roots else []


def _read_bundles(
    bundled: Mapping[str, Sequence[Probe]], store: Store, pool: Workers, progress: ProgressCallback | None
) -> tuple[dict[str, Bundle], dict[str, Entry]]:
    """Return the bundles of small sources and the entries of these, reading what has changed."""
    known = store.bundles()
    bundles: dict[str, Bundle] = {}
    entries: dict[str, Entry] = {}
    total = sum(found.source.bytes for members in bundled.values() for found in members)
    done = 0
    for name, members in bundled.items():
        if is_current(name, members, known.get(name)):
            bundles[name] = known[name]
            entries |= {one.known.name: one.known for one in members if one.known is not None}
        else:
            bundles[name], read = read_bundle(name, members, store, pool)
            entries |= {entry.name: entry for entry in read}
        done += sum(found.source.bytes for found in members)
        if progress is not None:
            progress("bundle", done, total)
    return bundles, entries


def _entries(
    own: list[Probe], store: Store, pool: Workers, progress: ProgressCallback | None
) -> Iterator[Entry]:
    """Yield the entries of sources with parts of their own, reading those that must be read.

    Small files are read side by side, a large one by all workers together.
    """
    todo = []
    for found in own:
        if found.error:
            yield failed_entry(found)
        elif found.known is not None and not found.known.row["duplicate_of"] and not found.known.bundle:
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

    small = [found for found in todo if found.source.bytes <= CHUNK_BYTES]
    read_all = pool.map_over(found.source.place for found in small)
    for entries in read_all(partial(read_batch, store=store), batches_of(small)):
        for entry in entries:
            yield finished(entry)
    for found in todo:
        if found.source.bytes > CHUNK_BYTES:

            def within(part: int, base: int = done) -> None:
                if progress is not None:
                    progress("read", base + part, total)

            yield finished(read_into(found, store, pool.map_over([found.source.place]), within))


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
