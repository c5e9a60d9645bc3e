"""A folder of two logs, the store that is made of it, and what that holds."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline.config import EMPTY_CONFIG, Config
from pipeline.ingest import IngestSummary, ingest
from tests.golden import FOLDER

CONSOLE = (FOLDER / "megatron" / "sample.log").read_bytes()
ACCOUNTING = (FOLDER / "slurm_sacct" / "sample.txt").read_bytes()


def write_logs(parent: Path) -> Path:
    """Write a console and accounting into a folder of a run, and return it."""
    folder = parent / "heron-70b"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "880100.out").write_bytes(CONSOLE)
    (folder / "sacct.txt").write_bytes(ACCOUNTING)
    return folder


def read(store: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(sorted((store / "events" / table).glob("*.parquet")))


def sources(store: Path) -> dict[str, dict[str, object]]:
    return {row["path"]: row for row in read(store, "sources").iter_rows(named=True)}


def content(store: Path) -> dict[str, bytes]:
    files = [store / "manifest.json", *sorted((store / "events").rglob("*"))]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in files if path.is_file()}


def run(logs: Path, store: Path, config: Config = EMPTY_CONFIG) -> IngestSummary:
    return ingest([str(logs)], store, config, workers=2)
