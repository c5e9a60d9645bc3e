"""Several sessions on one database at the same time.

Half of the time of a relation is planned or computed by one thread, whatever number DuckDB may use, and a
thread of Python that waits for DuckDB lets the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import duckdb

from pipeline.places import AROUND_HOSTS, HOST_LOGS

#: Sessions at the same time.
SESSIONS = 2

Item = TypeVar("Item")
Result = TypeVar("Result")

#: What is done with an item in a session.
Work = Callable[[duckdb.DuckDBPyConnection, Item], Result]


def prepare_session(con: duckdb.DuckDBPyConnection) -> None:
    """Set what SQL files expect of the session that runs them: UTC, and the macros of the house."""
    con.execute("set TimeZone = 'UTC'")
    # The place of a segment of a line in its log, as one number: what stands in one line is in order, too.
    con.execute("create temp macro line_order(line, segment) as line * 4096 + least(segment, 4095)")
    # Whether an event is one of those with which the processes of a trainer come up.
    con.execute(
        "create temp macro tells_start(kind, name) as kind = 'phase' and name in"
        " ('process_start', 'library_setup', 'init', 'model_setup', 'data_setup', 'compile')"
    )
    # What the logs of hosts are called, and folders around them.
    con.execute(f"create temp macro host_logs() as '{HOST_LOGS}'")
    con.execute(f"create temp macro around_hosts() as '{AROUND_HOSTS}'")


@contextmanager
def sessions(
    con: duckdb.DuckDBPyConnection, work: Work[Item, Result]
) -> Iterator[Callable[[Item], Future[Result]]]:
    """Give what has ``work`` done for an item, each in a session of its own, `SESSIONS` at a time."""

    def run(item: Item) -> Result:
        with con.cursor() as session:
            prepare_session(session)
            return work(session, item)

    with ThreadPoolExecutor(SESSIONS) as pool:
        yield lambda item: pool.submit(run, item)


def in_sessions(
    con: duckdb.DuckDBPyConnection, work: Work[Item, Result], items: Iterable[Item]
) -> list[Result]:
    """Return what ``work`` makes of every item, in their order."""
    with sessions(con, work) as submit:
        return [future.result() for future in [submit(item) for item in items]]
