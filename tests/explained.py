"""Stories of incidents as ``goodput explain`` tells them: what its tests share, and their goldens."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields
from pathlib import Path
from typing import Any

from pipeline.cli import run
from pipeline.ledger.story import Evidence

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "explain"
SAMPLES = ROOT / "data" / "samples"

#: The incident of the smallest sample: a GPU fell off the bus.
FALLEN = "heron-70b/41207.0/1"

#: Tells an incident: of a store, with the arguments behind it, at a width, with an exit code.
Tell = Callable[..., str]

#: Golden to the story that it is about, and the arguments behind the store.
STORIES = {
    "fallen_gpu.txt": ("fallen-gpu", [FALLEN]),
    "lost_storage.txt": ("one-week", ["egret-13b/60161.0/1"]),
    "failed_start.txt": ("one-week", ["egret-13b/60152.0/1", "--neighbours", "0"]),
    "preempted.json": ("shared-cluster", ["plover-3b/7712.0/1", "--neighbours", "1", "--format", "json"]),
    "completed.txt": ("shared-cluster", ["plover-3b/7712.1/1"]),
}


def build_logs(logs: Path | str, folder: Path) -> Path:
    """Build the store of some logs in a folder; return the folder."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert run(["ingest", str(logs), "--store", str(folder)]) == 0
        assert run(["classify", "--store", str(folder)]) == 0
    return folder


def build_store(story: str, folder: Path) -> Path:
    """Build the store of a sample in a folder, where it is not there yet."""
    if not (folder / "goodput.duckdb").is_file():
        build_logs(SAMPLES / story, folder)
    return folder


def copy_of(story: str, folder: Path) -> Path:
    """Return a copy of the logs of a sample that may be spoiled."""
    shutil.copytree(SAMPLES / story, folder / story)
    return folder / story


def evidence_of(document: str) -> list[dict[str, Any]]:
    """Return the lines of evidence of a story that was told as JSON."""
    found: list[dict[str, Any]] = json.loads(document)["evidence"]
    return found


def cause_of(document: str) -> dict[str, Any]:
    """Return the line that decided."""
    (found,) = (one for one in evidence_of(document) if one["role"] == "cause")
    return found


def in_one_line(text: str) -> str:
    """Return a wrapped text without its breaks."""
    return " ".join(text.split())


def line_of(**values: object) -> Evidence:
    """Return a line of evidence of which only some facts matter."""
    usual = {field.name: None for field in fields(Evidence)} | {
        "role": "evidence",
        "planned": False,
        "by_scheduler": False,
        "own": True,
        "weight": "cause",
        "causal_rank": 3,
        "dated_after_progress": True,
        "taken_for": "gpu_other",
        "path": "a.log",
        "line": 1,
        "text": "a line",
        "rows": 1,
        "ranks": 1,
        "log_note": "",
        "lines": (),
    }
    return Evidence(**{**usual, **values})  # type: ignore[arg-type]


def write_goldens() -> None:
    """Rewrite the goldens."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, (story, arguments) in STORIES.items():
            told = io.StringIO()
            store = build_store(story, Path(scratch) / story)
            with redirect_stdout(told):
                assert run(["explain", "--store", str(store), *arguments]) == 0
            (FOLDER / name).write_text(told.getvalue(), encoding="utf-8")
            print((FOLDER / name).relative_to(ROOT))
