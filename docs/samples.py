"""Writes the stories of data/samples that are simulated; the same commands give the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

from pipeline.cli import run

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"

#: Folder of a story to what `goodput simulate` is told.
STORIES: dict[str, tuple[str, ...]] = {
    "simulated-quickstart": ("--preset", "quickstart", "--seed", "3", "--blemish", "compression=gzip"),
    "simulated-torchtitan": (
        *("--trainer", "torchtitan", "--gpus", "32", "--days", "0.15", "--seed", "8", "--log-interval", "5"),
        *("--blemish", "compression=zstd", "--blemish", "kernel=syslog", "--blemish", "zone=2"),
    ),
}


def main() -> None:
    """Write every story anew."""
    for name in STORIES:
        write(name, SAMPLES / name)


def write(name: str, folder: Path) -> None:
    """Write one story into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    if run(["simulate", "--out", str(folder), *STORIES[name]]) != 0:
        raise SystemExit(f"error: the story `{name}` could not be written")


if __name__ == "__main__":
    main()
