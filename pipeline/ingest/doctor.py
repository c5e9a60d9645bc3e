"""What ingest would make of logs, without writing anything: for people who wonder why a figure is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from pipeline.config import Config
from pipeline.ingest.bundles import batches_of
from pipeline.ingest.chunks import CHUNK_BYTES
from pipeline.ingest.clock_rows import ClockRows, write_clock_store
from pipeline.ingest.copies import find_duplicates
from pipeline.ingest.discover import Source, discover
from pipeline.ingest.parts import agree_on_formats
from pipeline.ingest.probe import Probe, probe_all, unread_content
from pipeline.ingest.reader import SourceReader, Submit, read_together
from pipeline.ingest.sources import copied_entry, failed_entry, read_entry, zone_of
from pipeline.ingest.store import Entry
from pipeline.ingest.work import Workers
from pipeline.processes import Processes, worker_count


@dataclass(frozen=True, slots=True)
class Template:
    """A shape of line that no pattern knows."""

    template: str
    count: int
    example: str
    line: int


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What a file was taken for, and what was found in it.

    Attributes:
        path: below the log folder.
        format, score, runner_up, role: what it was taken for, the share of sampled lines that its patterns
            know, the next best format (or empty), and what it is evidence of.
        job_id: the job that wrote it, from its content or name.
        bytes: size on disk.
        lines, parsed, unknown, bad: physical lines; the last three add up to the first.
        first_ts, last_ts: earliest and latest time printed, read as UTC; of 1972 where no year is printed.
        zone: in which its stamps are read, and whether that was assumed; None where it prints no time.
        gap_s, gap_line: longest time between one event and the next, and the line behind it.
        events: event rows by table.
        templates: most frequent shapes of unknown lines, in a bounded sample.
        duplicate_of: path of the file with the same content that is read instead, or empty.
        error: why it cannot be read, or not to its end, or empty.
    """

    path: str
    format: str
    score: float
    runner_up: str
    role: str
    job_id: str | None
    bytes: int
    lines: int
    parsed: int
    unknown: int
    bad: int
    first_ts: datetime | None
    last_ts: datetime | None
    zone: str | None
    gap_s: float | None = None
    gap_line: int | None = None
    events: Mapping[str, int] = field(default_factory=dict)
    templates: tuple[Template, ...] = ()
    duplicate_of: str = ""
    error: str = ""


def diagnose(
    logs: Sequence[str],
    config: Config,
    *,
    workers: int = 0,
    top: int = 10,
    progress: Callable[[str, int, int], None] | None = None,
    clocks: Path | None = None,
) -> list[SourceReport]:
    """Return a report on every file of the logs, in order of their paths.

    Args:
        logs: files and folders.
        config: what was configured.
        workers: threads; 0 for one per processor.
        top: shapes of unknown lines to report of each file.
        progress: told the stage, the bytes that are done, and all bytes.
        clocks: an empty folder, in which a store of the event rows is left that clocks are read from.

    Raises:
        GoodputError: there is nothing to read.
    """
    with TemporaryDirectory(prefix="goodput-") as scratch:
        found = discover(logs, Path(scratch))
        return _diagnose(found.sources, config, workers, top, progress, clocks)


def _diagnose(
    sources: Sequence[Source],
    config: Config,
    workers: int,
    top: int,
    progress: Callable[[str, int, int], None] | None,
    clocks: Path | None,
) -> list[SourceReport]:
    """Return a report on every source, in order."""
    total = sum(source.bytes for source in sources)
    done = 0
    reports: dict[str, SourceReport] = {}
    entries: dict[str, Entry] = {}
    kept: dict[str, ClockRows] = {}
    with Processes() as processes, Workers(worker_count(workers), processes) as pool:
        processes.expect(unread_content(sources, {}, {}), pool.count)
        probes = agree_on_formats(probe_all(sources, config, {}, {}, pool), config)
        copies = find_duplicates(probes)
        own = [one for one in probes if one.source.name not in copies]
        for one in own:
            if one.error:
                entry = failed_entry(one)
                entries[entry.name], reports[entry.name] = entry, _report(entry, config)
        own = [one for one in own if not one.error]
        large = [one for one in own if one.source.bytes > CHUNK_BYTES]
        small = batches_of([one for one in own if one.source.bytes <= CHUNK_BYTES])
        found = chain(
            pool.map(lambda batch: _examine_together(batch, config, top), small),
            (_examine_together([one], config, top, pool.map_over([one.source.place])) for one in large),
        )
        for entry, report, rows in chain.from_iterable(found):
            entries[entry.name], reports[entry.name], kept[entry.name] = entry, report, rows
            done += report.bytes
            if progress is not None:
                progress("read", done, total)
    for one in probes:
        if one.source.name in copies:
            entry = copied_entry(one, entries[copies[one.source.name]])
            entries[entry.name], reports[entry.name] = entry, _report(entry, config)
    if clocks is not None:
        write_clock_store(clocks, [entries[source.name] for source in sources], kept, config)
    return [reports[source.name] for source in sources]


def _examine_together(
    batch: Sequence[Probe], config: Config, top: int, submit: Submit | None = None
) -> list[tuple[Entry, SourceReport, ClockRows]]:
    """Return of each source of one format its entry, the report on it, and of its rows what tells of clocks.

    ``submit`` runs the parts of a large one, which stands alone.
    """
    readers = [SourceReader(one.source.place, one.detection.format, one.label) for one in batch]
    rows = read_together(readers) if submit is None else iter([readers[0].rows(submit)])
    return [
        _examine(one, reader, tables, config, top)
        for one, reader, tables in zip(batch, readers, rows, strict=True)
    ]


def _examine(
    one: Probe,
    reader: SourceReader,
    rows_of_chunks: Iterator[dict[str, pl.DataFrame]],
    config: Config,
    top: int,
) -> tuple[Entry, SourceReport, ClockRows]:
    """Return what is known of a source when its rows have been seen."""
    kept = ClockRows()
    events: dict[str, int] = {}
    times: list[pl.DataFrame] = []
    templates: tuple[Template, ...] = ()
    for tables in rows_of_chunks:
        kept.keep(tables)
        for table, rows in tables.items():
            if table == "templates":
                templates = tuple(Template(*row) for row in rows.head(top).rows())
                continue
            events[table] = events.get(table, 0) + rows.height
            if table != "allocations":
                times.append(rows.select("ts", "ts_quality", "line"))
    entry = read_entry(one, reader.account, {})
    gap_s, gap_line = _longest_gap(times)
    return entry, _report(entry, config, gap_s, gap_line, dict(sorted(events.items())), templates), kept


def _longest_gap(times: list[pl.DataFrame]) -> tuple[float | None, int | None]:
    """Return the longest time between two events of the commonest kind of stamps, and the line after it."""
    if not times:
        return None, None
    dated = pl.concat(times).filter(pl.col("ts").is_not_null())
    if dated.height < 2:
        return None, None
    kind = dated["ts_quality"].value_counts(sort=True)["ts_quality"][0]
    ordered = dated.filter(pl.col("ts_quality") == kind).sort("ts", "line")
    gaps = ordered.select("line", gap=pl.col("ts").diff().dt.total_microseconds() / 1e6).drop_nulls()
    if not gaps.height:
        return None, None
    line, gap = gaps.row(int(gaps["gap"].arg_max() or 0))
    return float(gap), int(line)


def _report(
    entry: Entry,
    config: Config,
    gap_s: float | None = None,
    gap_line: int | None = None,
    events: Mapping[str, int] | None = None,
    templates: tuple[Template, ...] = (),
) -> SourceReport:
    """Return the report on a source."""
    row = entry.row
    first, last = (
        None if row[name] is None else datetime.fromisoformat(row[name]) for name in ("first_ts", "last_ts")
    )
    return SourceReport(
        path=entry.name,
        format=row["format"],
        score=row["format_score"],
        runner_up=row["runner_up"] or "",
        role=row["role"],
        job_id=row["job_id"],
        bytes=row["bytes"],
        lines=row["lines"],
        parsed=row["parsed_lines"],
        unknown=row["unknown_lines"],
        bad=row["bad_lines"],
        first_ts=first,
        last_ts=last,
        zone=zone_of(entry, config),
        gap_s=gap_s,
        gap_line=gap_line,
        events=events or {},
        templates=templates,
        duplicate_of=row["duplicate_of"] or "",
        error=row["error"] or "",
    )
