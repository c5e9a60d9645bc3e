"""Stores that several modules read: built once in a run of the tests, by whichever process comes first."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from explained import SAMPLES, build_logs


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Return a folder that ``build`` has filled, which nobody may change.

    Others wait until it is whole. What was begun and failed is begun anew, and fails as it did.
    """
    base = factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "once"
    root.mkdir(exist_ok=True)
    folder, whole = root / name, root / f"{name}.whole"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            build(folder)
            whole.touch()
    return folder


def sample_store(factory: pytest.TempPathFactory, story: str) -> Path:
    """Return the store of a sample."""
    return built_once(factory, f"sample-{story}", lambda folder: build_logs(SAMPLES / story, folder))
