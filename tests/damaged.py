"""Logs of a few lines that tests damage, and the ledger of what is left."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from pipeline.cli import run
from pipeline.ledger.query import open_store

START = datetime(2026, 3, 3, 7, tzinfo=UTC)
HEADER = "JobIDRaw|JobID|Cluster|User|State|Submit|Eligible|Start|End|ElapsedRaw|AllocTRES|NodeList|JobName"


def stamp(seconds: float) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f}"


def console(lines: int = 12, first: int = 10, start: float = 100.0) -> str:
    """Return a console: a step of 15 s, a line every ten of them."""
    head = [
        "using world size: 64, data-parallel size: 8, tensor-model-parallel size: 8",
        "------------------------ arguments ------------------------",
        "  global_batch_size ............................... 256",
        "-------------------- end of arguments ---------------------",
        f"[before the start of training step] datetime: {stamp(start)} ",
    ]
    steps = [
        f" [{stamp(start + 150 * (n + 1))}] iteration {first + 10 * n:8d}/    1000 | consumed samples: "
        f"{256 * (first + 10 * n):12d} | elapsed time per iteration (ms): 15000.0 | "
        "global batch size:   256 | lm loss: 1.180579E+01 | loss scale: 1.0 | grad norm: 1.862 | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |"
        for n in range(lines)
    ]
    return "\n".join([*head, *steps]) + "\n"


def job(number: int, name: str, start: float | str = 0, end: float | str = 6000, gpus: str = "64") -> str:
    """Return a line of accounting."""
    begin, finish = (t if isinstance(t, str) else stamp(t)[:19].replace(" ", "T") for t in (start, end))
    tres = f"cpu=10,gres/gpu={gpus},node=8" if gpus else "cpu=10,node=8"
    state = "RUNNING" if finish == "Unknown" else "COMPLETED"
    submit = stamp(-600)[:19].replace(" ", "T")
    who = f"{number}|{number}|aviary|mira|{state}|{submit}|{submit}|{begin}|{finish}"
    return f"{who}|5000|{tres}|gx[010-017]|{name}"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def build(logs: Path, store: Path) -> tuple[int, duckdb.DuckDBPyConnection]:
    assert run(["ingest", str(logs), "--store", str(store), "--workers", "1"]) == 0
    return run(["classify", "--store", str(store)]), open_store(store)
