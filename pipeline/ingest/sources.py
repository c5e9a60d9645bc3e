"""The table of sources: what each file was taken for, and the account of its lines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from pipeline.config import Config
from pipeline.globs import glob_matches
from pipeline.ingest.account import KNOWN_LINE, TORN_LINE, UNKNOWN_LINE, Account
from pipeline.ingest.probe import Probe, parser_version
from pipeline.ingest.store import Entry
from pipeline.ingest.values import POLARS_TYPES
from pipeline.tables import EVENT_TABLES

LOGGED, ASSUMED = "logged", "UTC (assumed)"


def read_entry(
    found: Probe, account: Account, parts: Mapping[str, tuple[str, ...]], bundle: str = ""
) -> Entry:
    """Return the entry of a source that was read, with its own parts or the name of their bundle."""
    first, last = account.span()
    row = _row(
        found,
        lines=account.lines,
        parsed_lines=account.counts[KNOWN_LINE],
        unknown_lines=account.counts[UNKNOWN_LINE],
        bad_lines=account.counts[TORN_LINE],
        first_ts=_text(first),
        last_ts=_text(last),
        # Staging needs a zone only where some stamp lacks one; until then the kind of stamps is kept.
        zone=LOGGED if account.dated and set(account.dated) == {"logged"} else None,
        content_hash=account.content_hash,
        error=account.error or None,
    )
    return Entry(found.source.name, row, found.head_hash, found.options, found.label, parts, bundle)


def failed_entry(found: Probe) -> Entry:
    """Return the entry of a source that cannot be read."""
    return Entry(found.source.name, _row(found, error=found.error), "", found.options)


def copied_entry(found: Probe, first: Entry) -> Entry:
    """Return the entry of a source with the content of another one, whose rows stand for both."""
    own = ("source_id", "path", "bytes", "job_id")
    row = {**first.row, **{name: _row(found)[name] for name in own}, "duplicate_of": first.name}
    return Entry(found.source.name, row, found.head_hash, found.options, found.label)


def build_sources(entries: list[Entry], config: Config) -> pl.DataFrame:
    """Return the rows of ``sources``, in order of the paths."""
    columns = {column.name: POLARS_TYPES[column.type] for column in EVENT_TABLES["sources"].columns}
    rows = [{**entry.row, "zone": zone_of(entry, config)} for entry in entries]
    for row in rows:
        for name in ("first_ts", "last_ts"):
            row[name] = None if row[name] is None else datetime.fromisoformat(row[name])
    return pl.DataFrame(rows, schema=columns, orient="row")


def zone_of(entry: Entry, config: Config) -> str | None:
    """Return the zone that the stamps of a source without one are read in."""
    if entry.row["zone"] == LOGGED:
        return LOGGED
    if entry.row["first_ts"] is None:
        return None
    rule = next((rule for rule in config.zones if glob_matches(rule.glob, entry.name)), None)
    return ASSUMED if rule is None else rule.zone


def _row(found: Probe, **values: Any) -> dict[str, Any]:
    """Return a row of ``sources`` with what a first look told, and values."""
    row: dict[str, Any] = {
        "source_id": found.source.source_id,
        "path": found.source.name,
        "format": found.detection.format,
        "format_score": found.detection.score,
        "runner_up": found.detection.runner_up or None,
        "role": found.detection.role,
        "job_id": found.job_id,
        "bytes": found.source.bytes,
        "lines": 0,
        "parsed_lines": 0,
        "unknown_lines": 0,
        "bad_lines": 0,
        "first_ts": None,
        "last_ts": None,
        "zone": None,
        "clock_offset_s": None,
        "content_hash": None,
        "parser_version": parser_version(),
        "duplicate_of": None,
        "error": None,
    }
    return {**row, **values}


def _text(time: datetime | None) -> str | None:
    """Return a time as text that sorts, or None."""
    return None if time is None else time.astimezone(UTC).isoformat(timespec="microseconds")
