"""``goodput explain``: an incident as a story, or what was going on at a moment."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.options import config_option, read_config, store_option
from pipeline.commands.stages import classify_store, ingest_logs, kept_config
from pipeline.config import load_config
from pipeline.errors import GoodputError
from pipeline.places import is_url
from pipeline.windows import WindowOptions

if TYPE_CHECKING:
    import duckdb

    from pipeline.ingest.neighbours import Around
    from pipeline.ledger.story import Look

#: Width where the output is no terminal and COLUMNS says nothing.
_WIDTH = 100

_COLOURS: Mapping[str, Mapping[str, object]] = {
    "head": {"bold": True},
    "mark": {"fg": "red", "bold": True},
    "dim": {"dim": True},
}


@click.command()
@click.argument("token", required=False, metavar="[ID|TIME]")
@click.argument("logs", nargs=-1, metavar="[LOGS]...")
@store_option("The store that `classify` or `report` wrote.  [default: this folder]", required=False)
@click.option(
    "--by",
    "order",
    type=click.Choice(["newest", "dearest"]),
    default="newest",
    show_default=True,
    help="Which incident the list begins with.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people, or one JSON document with the same content.",
)
@click.option(
    "--neighbours",
    type=click.IntRange(0, 50),
    default=2,
    show_default=True,
    metavar="N",
    help="Lines before and after each line of evidence, read from the logs; 0 opens no log.",
)
@config_option
def explain(
    token: str | None,
    logs: tuple[str, ...],
    store: Path | None,
    order: str,
    form: str,
    neighbours: int,
    config_file: Path | None,
) -> int:
    """Tell an incident as a story: when, what it cost, which lines say so, why this cause.

    ID is an incident as the review prints it, or a part of its name that fits no other. Without ID all
    incidents are listed. TIME, in UTC, tells what each run was doing at that moment, which line says so, and
    which other claims lost.

    The lines around the evidence are read from the logs where they lay when they were ingested. LOGS name
    the place where they lie now; without `--store` they are read first, which takes as long as `ingest`.
    Keys and passwords are masked. docs/explain.md describes each part, and the keys of the JSON document.

    \b
    Example:
      goodput explain --store reports/fallen-gpu
      goodput explain --store reports/fallen-gpu heron-70b/41207.0/1
      goodput explain heron-70b/41207.0/1 data/samples/fallen-gpu --format json
      goodput explain --store reports/fallen-gpu 2026-03-03T08:10
    """
    from pipeline.ledger.explain import explain as explain_token
    from pipeline.ledger.explain import list_incidents

    if store is None and token is not None and (is_url(token) or Path(token).exists()):
        logs, token = (token, *logs), None
    width = shutil.get_terminal_size((_WIDTH, 24)).columns
    with _opened(store, logs, config_file) as (folder, con):
        if token is None:
            told = list_incidents(con, order, form)
        else:
            look = _looking(folder, con, logs) if neighbours else None
            paint = _paint if sys.stdout.isatty() and "NO_COLOR" not in os.environ else _plain
            told = explain_token(con, token, look=look, most=neighbours, form=form, width=width, paint=paint)
    click.echo(told)
    return 0


def _paint(text: str, kind: str) -> str:
    """Return a line of a kind in its colour."""
    return click.style(text, **_COLOURS.get(kind, {}))  # type: ignore[arg-type]


def _plain(text: str, kind: str) -> str:
    """Return a line as it is."""
    return text


@contextmanager
def _opened(
    store: Path | None, logs: Sequence[str], config_file: Path | None
) -> Iterator[tuple[Path, duckdb.DuckDBPyConnection]]:
    """Yield the folder of a store and its ledger: the one named, this folder, or one made from the logs.

    Raises:
        GoodputError: there is neither a store nor a log.
    """
    from pipeline.ledger.build import DATABASE
    from pipeline.ledger.query import open_store

    if store is None and not logs and not Path(DATABASE).is_file():
        raise GoodputError(
            "neither a store nor logs were given",
            why=f"this folder holds no `{DATABASE}` either",
            now="write `goodput explain --store DIR ID`, or `goodput explain ID LOGS...`",
        )
    if store is not None or not logs:
        folder = store or Path()
        with open_store(folder) as con:
            yield folder, con
        return
    with tempfile.TemporaryDirectory(prefix="goodput-") as scratch:
        made = Path(scratch) / "store"
        config = read_config(logs, config_file)
        click.echo(ingest_logs(logs, made, config, 0), err=True)
        classify_store(made, config, WindowOptions())
        with open_store(made) as con:
            yield made, con


def _looking(folder: Path, con: duckdb.DuckDBPyConnection, logs: Sequence[str]) -> Look:
    """Return what reads lines of the logs of a store, where it says that they lie or where a user does."""
    from pipeline.ingest.neighbours import Logs, Wanted, withheld
    from pipeline.ingest.store import Store

    known = Store(folder)
    roots = [log if is_url(log) else os.path.abspath(log) for log in logs] or known.logs()
    found = Logs(roots, known.local())
    rows = con.execute("select source_id, path, bytes, content_hash, format from events.sources").fetchall()
    sources = {source: (path, size, digest or "", fmt) for source, path, size, digest, fmt in rows}
    hidden: set[str] = set()
    if load_config([str(kept_config(folder))]).privacy.users != "keep":
        named = con.execute("select distinct source_id from events.allocations").fetchall()
        hidden = {source for (source,) in named}

    def look(source: str, numbers: frozenset[int], texts: Mapping[int, str]) -> Around:
        if source in hidden:
            return withheld()
        path, size, digest, fmt = sources[source]
        return found.around(Wanted(path, size, digest, fmt, numbers, texts))

    return look
