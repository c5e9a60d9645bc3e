"""Stories of incidents as ``goodput explain`` tells them: the goldens of ``tests/explain/``."""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from pipeline.cli import run

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "explain"

#: Golden to the story that it is about, and the arguments behind the store.
STORIES = {
    "fallen_gpu.txt": ("fallen-gpu", ["heron-70b/41207.0/1"]),
    "lost_storage.txt": ("one-week", ["egret-13b/60161.0/1"]),
    "failed_start.txt": ("one-week", ["egret-13b/60152.0/1", "--neighbours", "0"]),
    "preempted.json": ("shared-cluster", ["plover-3b/7712.0/1", "--neighbours", "1", "--format", "json"]),
    "completed.txt": ("shared-cluster", ["plover-3b/7712.1/1"]),
}


def build_store(story: str, folder: Path) -> Path:
    """Build the store of a sample in a folder."""
    logs = ROOT / "data" / "samples" / story
    if not (folder / "goodput.duckdb").is_file():
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert run(["ingest", str(logs), "--store", str(folder)]) == 0
            assert run(["classify", "--store", str(folder)]) == 0
    return folder


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
