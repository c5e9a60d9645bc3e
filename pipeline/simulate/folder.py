"""The folder of a story: written aside and put in its place at the end, and nobody else's files touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import GoodputError

#: What a story consists of, below its folder.
LOGS, TRUTH, TOTALS = "logs", "truth", "truth.json"

#: Where a story is written until it is whole.
_PART = ".simulation.part"

#: Key of the totals that only a simulation writes: how many files it left.
FILES = "files_written"


@contextmanager
def put_in_place(out: Path) -> Iterator[Path]:
    """Yield a folder to write a story into; afterwards it takes the place of the story that was here before.

    Where writing fails or is interrupted, the story before stays as it was.

    Raises:
        GoodputError: the folder holds something that no simulation wrote.
    """
    refuse_others(out)
    part = out / _PART
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        yield part
        for name in (LOGS, TRUTH):
            shutil.rmtree(out / name, ignore_errors=True)
            (part / name).rename(out / name)
        (part / TOTALS).replace(out / TOTALS)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def refuse_others(out: Path) -> None:
    """Refuse a folder of which something would be lost that no simulation wrote.

    Raises:
        GoodputError: says what is there.
    """
    if out.exists() and not out.is_dir():
        raise GoodputError("this is no folder", where=str(out), now="name another folder with `--out`")
    there = [name for name in (LOGS, TRUTH, TOTALS) if (out / name).exists() or (out / name).is_symlink()]
    if not there:
        return
    known = files_written(out / TOTALS)
    links = [name for name in there if (out / name).is_symlink()]
    if known is None or links:
        raise GoodputError(
            f"the folder holds `{(links or there)[0]}`, which no simulation wrote",
            where=str(out),
            now="name another folder with `--out`",
        )
    found = count_files(out)
    if found > known:
        raise GoodputError(
            f"`{LOGS}` and `{TRUTH}` hold {found} files, and the simulation had written {known}",
            where=str(out),
            why="the story would be replaced, and they would be lost",
            now="move them away, or name another folder with `--out`",
        )


def files_written(totals: Path) -> int | None:
    """Return how many files a simulation left beside its totals, or None where none wrote them."""
    try:
        told = json.loads(totals.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    count = told.get(FILES) if isinstance(told, dict) else None
    return count if isinstance(count, int) else None


def count_files(folder: Path) -> int:
    """Return the number of files in the logs and the truth of a story."""
    return sum(not path.is_dir() for name in (LOGS, TRUTH) for path in (folder / name).rglob("*"))
