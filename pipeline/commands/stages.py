"""The stages as the commands call them: with progress, with their warnings on stderr, with an exit code."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import click

from pipeline.commands.layout import counted
from pipeline.commands.progress import Progress
from pipeline.config import CONFIG_FILES, Config
from pipeline.errors import GoodputError
from pipeline.processes import Processes
from pipeline.windows import WindowOptions


@contextmanager
def hold_folders(out: Path, *stores: Path) -> Iterator[None]:
    """Keep other commands from writing into ``out``, which is made, and into stores that exist.

    The locks go with the process, however it ends.

    Raises:
        GoodputError: another command holds it.
    """
    # Where no folder can be made or no lock be had, whoever writes there says so, or nobody can.
    made = not out.exists()
    with suppress(OSError):
        out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if made:
            # A command that could not start leaves nothing behind.
            stack.callback(_remove_empty, out)
        for folder in sorted({path.resolve() for path in (out, *stores)}):
            with suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                _lock(handle, folder)
        yield


def _remove_empty(folder: Path) -> None:
    """Remove a folder into which nothing was written."""
    with suppress(OSError):
        folder.rmdir()


def _lock(handle: int, folder: Path) -> None:
    """Lock an open folder, or say that another command did."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise GoodputError(
            "another command is writing into this folder",
            where=str(folder),
            now="wait for it, or name another folder",
        ) from None


def ingest_logs(logs: Sequence[str], store: Path, config: Config, workers: int) -> str:
    """Read the logs into the event tables of the store and return a line that tells what was read.

    Files that cannot be read are named on stderr, and the rest goes on; that none can be read is an error.
    """
    _refuse_inside(logs, store)
    with Processes("pipeline.ingest.reader:load") as processes, Progress() as progress:
        if not (store / "events").is_dir():
            # They load their libraries while this process does.
            processes.glance(logs, workers)
        from pipeline.ingest import ingest

        summary = ingest(logs, store, config, workers=workers, progress=progress, processes=processes)
    _keep_config(config, store)
    for path, why in summary.unreadable:
        click.echo(f"warning: a file cannot be read\n  where: {path}\n  why: {why}", err=True)
    # What could be read of a file before its damage is worth a ledger.
    if not summary.lines and summary.sources and len(summary.unreadable) == summary.sources:
        raise GoodputError(
            "none of the logs can be read",
            where=" ".join(logs),
            now="see the warnings above, one for each file",
        )
    return (
        f"{counted(summary.sources, 'file')}, {counted(summary.lines, 'line')}: {summary.parsed:,} parsed, "
        f"{summary.unknown:,} unknown, {summary.bad:,} bad; "
        f"{counted(summary.read, 'file')} read, {summary.reused:,} unchanged"
    )


def classify_store(store: Path, config: Config, window: WindowOptions) -> tuple[str, int]:
    """Build the ledger of the store; return a line that tells what was built, and the exit code.

    Every check that returned rows is told on stderr with an example, and makes the code 1.
    """
    from pipeline.ledger.build import classify

    _need_store(store)
    summary = classify(store, config, window)
    for slip in summary.unused:
        click.echo(f"warning: {slip}", err=True)
    for violation in summary.violations:
        told = GoodputError(
            "the data contradict themselves",
            where=f"check `{violation.check}`, {counted(violation.rows, 'row')}",
            why=violation.example,
            now=f"look: goodput sql --store {store} -f sql/checks/{violation.check}.sql",
        )
        click.echo(str(told), err=True)
    failed = len(summary.violations)
    checks = f"{counted(failed, 'check')} failed" if failed else "every check holds"
    return f"{summary.relations} relations in {store / 'goodput.duckdb'}; {checks}", 1 if failed else 0


def kept_config(store: Path) -> Path:
    """Return the folder of a store that holds the configuration its logs were read with."""
    return store / "config"


def need_logs(logs: Sequence[str], example: str) -> None:
    """Refuse a command without logs, and say what they are."""
    if not logs:
        raise GoodputError(
            "no logs were given",
            why="LOGS are files, folders, archives or URLs: trainer consoles, accounting, kernel logs",
            now=f"write for example `{example}`",
        )


def _need_store(store: Path) -> None:
    """Refuse a folder that no ingest wrote."""
    if not (store / "events").is_dir():
        raise GoodputError(
            "this is not a store",
            where=str(store),
            why="it has no folder `events`, which `ingest` and `report` write",
            now=f"first run `goodput ingest LOGS... --store {store}`",
        )


def _refuse_inside(logs: Sequence[str], store: Path) -> None:
    """Refuse to write below a folder that is read, where the next run would read our own output."""
    for log in logs:
        folder = Path(log)
        if folder.is_dir() and store.resolve().is_relative_to(folder.resolve()):
            raise GoodputError(
                "the output would lie inside the logs",
                where=str(store),
                why=f"`{log}` is read as a whole, and the next run would read its own output",
                now="choose a folder outside of it",
            )


def _keep_config(config: Config, store: Path) -> None:
    """Copy the configuration into the store, so that a store outlives its logs and still means the same."""
    folder = kept_config(store)
    for name in CONFIG_FILES[:3]:
        if name in config.texts:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(config.texts[name], encoding="utf-8")
        else:
            (folder / name).unlink(missing_ok=True)
