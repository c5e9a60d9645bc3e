"""From a store of event tables to ``goodput.duckdb``: seeds, configuration, relations in order, checks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

import pipeline
from pipeline.config import Config
from pipeline.errors import GoodputError
from pipeline.ledger.check import Violation, run_checks
from pipeline.ledger.create import columns_of, comment_table, create_relations
from pipeline.ledger.events import load_events
from pipeline.ledger.relations import BUILT_SCHEMAS, following, order_relations, read_relations
from pipeline.ledger.seeds import load_seeds
from pipeline.ledger.sessions import prepare_session
from pipeline.ledger.settings import load_settings
from pipeline.ledger.unmoved import TABLE as UNMOVED
from pipeline.ledger.unmoved import create_unmoved, fill_unmoved
from pipeline.ledger.unused import find_unused
from pipeline.windows import WindowOptions

DATABASE = "goodput.duckdb"

#: A large store is built by two threads. Every sum is one of integers and every tie is settled, so
#: threads change nothing but the order of rows, and marts are ordered. Small stores, where threads gain
#: nothing, are built by one: even their order is the same every time.
PARALLEL_THREADS = 2
PARALLEL_ROWS = 200_000

#: A million steps need 1.7 GB; beyond the limit DuckDB goes on beside the store, on disk.
MEMORY_LIMIT = "4GB"


@dataclass(frozen=True, slots=True)
class ClassifySummary:
    """What was built.

    Attributes:
        relations: number of relations built from SQL files.
        violations: laws that the data break; empty when they agree with themselves.
        unused: settings that name something the logs do not hold, a sentence each.
    """

    relations: int
    violations: tuple[Violation, ...]
    unused: tuple[str, ...] = ()


def sql_folder() -> Path:
    """Return the folder of the project's own SQL files, beside the package."""
    return Path(pipeline.__file__).parent.parent / "sql"


def classify(store: Path, config: Config, window: WindowOptions, sql: Path | None = None) -> ClassifySummary:
    """Build ``<store>/goodput.duckdb`` afresh from the event tables of ``store``.

    The file is written under a temporary name and renamed, so that a reader never sees half of it.

    Args:
        store: folder that holds ``events/``.
        config: settings of the logs.
        window: report windows.
        sql: folder of SQL files, instead of the project's own.

    Raises:
        GoodputError: the store or a SQL file cannot be used; names the file.
    """
    folder = sql if sql is not None else sql_folder()
    target, draft = store / DATABASE, store / f"{DATABASE}.part"
    if not store.is_dir():
        raise GoodputError(f"there is no store `{store}`", now="run `goodput ingest LOGS --store DIR` first")
    try:
        remove_draft(draft)
        with connect(draft) as con:
            summary = build(con, store, config, window, folder)
            # Closing would write the rest, and keep to itself that the disk is full.
            con.execute("set fsync_mode = 'STANDARD'")
            con.execute("checkpoint")
        os.replace(draft, target)
    except (OSError, duckdb.IOException, duckdb.FatalException, duckdb.TransactionException) as error:
        raise GoodputError(
            "the ledger cannot be written",
            where=str(target),
            why=str(error).strip().splitlines()[0],
            now="check the space on the disk, and who may write there",
        ) from error
    finally:
        remove_draft(draft)
    return summary


def build(
    con: duckdb.DuckDBPyConnection, store: Path, config: Config, window: WindowOptions, folder: Path
) -> ClassifySummary:
    """Build every schema in an empty database; see `classify`."""
    # Files of SQL are parsed while DuckDB copies events.
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_relations, folder)
        given = load_given(con, store, config, window, folder)
        create_unmoved(con)
        relations = order_relations(reading.result(), [*given, UNMOVED])
    glossary = read_glossary(con, given)
    for name in (*given, UNMOVED):
        if not name.startswith("events."):  # event tables bring their own meanings
            comment_table(con, "table", name, "", columns_of(con, name), glossary)
    ready_to_build(con)
    late = following(relations, UNMOVED)
    create_relations(con, [relation for relation in relations if relation not in late], glossary)
    with second_draft(store) as draft:

        def prepare() -> duckdb.DuckDBPyConnection:
            other = connect(draft)
            load_given(other, store, config, window, folder)
            ready_to_build(other)
            return other

        fill_unmoved(con, relations, prepare)
    create_relations(con, late, glossary)
    con.execute("set preserve_insertion_order = true")
    known = [*given, UNMOVED, *(r.full_name for r in relations)]
    checks = order_relations(read_relations(folder, ("checks",)), known)
    violations = run_checks(con, checks)
    comment_table(con, "table", "checks.results", "", columns_of(con, "checks.results"), glossary)
    # Another set of SQL files may have none of the relations that a setting is looked for in.
    unused = find_unused(con) if folder == sql_folder() else ()
    return ClassifySummary(len(relations), violations, unused)


def load_given(
    con: duckdb.DuckDBPyConnection, store: Path, config: Config, window: WindowOptions, folder: Path
) -> list[str]:
    """Load events, seeds and settings, and return the names of their tables."""
    return [
        *load_events(con, store),
        *load_seeds(con, folder / "seeds"),
        *load_settings(con, store, config, window),
    ]


def ready_to_build(con: duckdb.DuckDBPyConnection) -> None:
    """Create the schemas of relations, and set what suits the size of the store."""
    for schema in BUILT_SCHEMAS:
        con.execute(f"create schema if not exists {schema}")
    large = count_events(con) >= PARALLEL_ROWS
    con.execute(f"set threads = {PARALLEL_THREADS if large else 1}")
    # Threads leave the order of rows open; to keep it costs a tenth, and those marts that promise one sort.
    con.execute(f"set preserve_insertion_order = {str(not large).lower()}")


@contextmanager
def second_draft(store: Path) -> Iterator[Path]:
    """Give the place of a database beside the store that is gone afterwards."""
    draft = store / f"{DATABASE}.unmoved.part"
    remove_draft(draft)
    try:
        yield draft
    finally:
        remove_draft(draft)


def count_events(con: duckdb.DuckDBPyConnection) -> int:
    """Return the number of rows of all event tables."""
    row = con.execute(
        "select sum(estimated_size)::bigint from duckdb_tables() where schema_name = 'events'"
    ).fetchone()
    return int(row[0]) if row else 0


def connect(database: Path) -> duckdb.DuckDBPyConnection:
    """Open a draft for building: UTC, no extension is ever fetched, and nothing waits for the disk yet.

    A database that is written once has no rows that were deleted, and row groups are not written again to
    fill them up: that takes a second of a million steps, and makes the file no smaller.
    """
    con = duckdb.connect(
        str(database),
        config={
            "threads": PARALLEL_THREADS,
            "memory_limit": MEMORY_LIMIT,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "fsync_mode": "NONE",
            "max_vacuum_tasks": 0,
        },
    )
    prepare_session(con)
    return con


def read_glossary(con: duckdb.DuckDBPyConnection, given: list[str]) -> dict[str, str]:
    """Return column name to meaning, unit included, from ``seeds.columns`` where there is one."""
    if "seeds.columns" not in given:
        return {}
    rows = con.execute("select \"column\", concat_ws('; ', meaning, unit) from seeds.columns").fetchall()
    return dict(rows)


def remove_draft(draft: Path) -> None:
    """Remove what a stopped build left: the draft and its write-ahead log."""
    for path in (draft, draft.with_name(f"{draft.name}.wal")):
        with suppress(OSError):  # what cannot be removed cannot be written either, and writing says so
            path.unlink(missing_ok=True)
