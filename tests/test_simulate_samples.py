"""The simulated stories of data/samples come back from their commands byte for byte, and tell the truth."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.simulate.judge import judge
from pipeline.simulate.written import read_truth
from tests.simulated import classify, ledger
from tests.test_docs import load_script

WRITER = load_script("samples")
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"


def content(folder: Path) -> dict[str, bytes]:
    """Return what a folder holds, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", sorted(WRITER.STORIES))
def test_a_simulated_sample_is_what_its_command_writes(name: str, tmp_path: Path) -> None:
    WRITER.write(name, tmp_path / name)
    assert content(tmp_path / name) == content(SAMPLES / name), "run `make samples`"


@pytest.mark.parametrize("name", sorted(WRITER.STORIES))
def test_the_ledger_of_a_simulated_sample_is_its_truth(name: str, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / name, tmp_path / name)
    assert classify(tmp_path / name) == ""
    with ledger(tmp_path / name) as con:
        assert judge(con, read_truth(tmp_path / name)).agrees
