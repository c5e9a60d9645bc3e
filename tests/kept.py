"""Other ways to keep the files of a run, none of which changes a word of what they say."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard


def consoles(run: Path) -> list[Path]:
    """Return the outputs of a run, packed or not, in order."""
    return sorted(path for path in run.rglob("*") if path.is_file() and ".err" not in path.name)


def beside(run: Path) -> Iterator[Path]:
    """Yield what tells of all runs."""
    yield from (path for path in run.parent.glob("*") if path.is_file() and path.suffix != ".toml")
    yield from (run.parent / "nodes").glob("*")


def gzipped(run: Path) -> None:
    for path in consoles(run):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


def zstd_of_all(run: Path) -> None:
    """Pack what tells of all runs as well."""
    for path in [*(path for path in run.rglob("*") if path.is_file()), *beside(run)]:
        if path.suffix == ".zst":
            continue
        packed = zstandard.ZstdCompressor().compress(path.read_bytes())
        path.with_name(f"{path.name}.zst").write_bytes(packed)
        path.unlink()


def copied(run: Path) -> None:
    for path in consoles(run):
        shutil.copyfile(path, path.with_name(f"copy-of-{path.name}"))


def split(run: Path) -> None:
    for path in consoles(run):
        lines = path.read_bytes().splitlines(keepends=True)
        half = len(lines) // 2
        path.with_name(f"{path.name}.1").write_bytes(b"".join(lines[:half]))
        path.write_bytes(b"".join(lines[half:]))


def put_together(run: Path) -> None:
    """Put the outputs of all jobs into one file, which nothing names after a job."""
    parts = consoles(run)
    ending = parts[0].suffix
    text = b"".join(path.read_bytes() for path in parts)
    for path in parts:
        path.unlink()
    (run / f"all{ending}").write_bytes(text)


def in_members(run: Path) -> None:
    """Pack each output as two that were put behind each other."""
    for path in consoles(run):
        text = path.read_bytes()
        path.unlink()
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))


def with_older_copies(run: Path) -> None:
    """Leave beside an output what there was of it before, and a packed copy."""
    path = consoles(run)[0]
    path.with_name(f"old-{path.name.removeprefix('job-')}").write_bytes(path.read_bytes()[:9000])
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))


def in_another_order(run: Path) -> None:
    """Name the outputs so that the last one comes first."""
    for age, path in enumerate(reversed(consoles(run))):
        path.rename(path.with_name(f"{age:03d}-{path.name}"))


def stray(run: Path) -> None:
    (run / "notes.txt").write_text("ask mira about the loader\n", encoding="utf-8")
    (run.parent / "nodes" / "empty.log").write_bytes(b"")


#: What is done to the files of a run.
KEPT: dict[str, Callable[[Path], None]] = {
    "gzipped": gzipped,
    "zstd-of-all": zstd_of_all,
    "copied": copied,
    "split": split,
    "put-together": put_together,
    "in-members": in_members,
    "with-older-copies": with_older_copies,
    "in-another-order": in_another_order,
    "stray": stray,
}


def turn_round(accounting: Path) -> None:
    """Put the lines of accounting the other way round, and leave a copy beside."""
    head, *rows = accounting.read_text(encoding="utf-8").splitlines(keepends=True)
    accounting.write_text(head + "".join(reversed(rows)), encoding="utf-8")
    shutil.copyfile(accounting, accounting.with_name("again.txt"))
