"""What must change nothing of a ledger: how files are kept, what goes into one, what is cut or repeated."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.lines import Style
from tests.simulated import mixed_story
from tests.together import Account, account, side_by_side, tell, write_apart


def gzipped(run: Path) -> None:
    for path in sorted(run.glob("*.out")):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


def zstd_of_all(run: Path) -> None:
    """Pack what tells of all runs as well."""
    beside = [path for path in run.parent.glob("*") if path.is_file() and path.suffix != ".toml"]
    for path in [*run.glob("*"), *beside, *(run.parent / "nodes").glob("*")]:
        packed = zstandard.ZstdCompressor().compress(path.read_bytes())
        path.with_name(f"{path.name}.zst").write_bytes(packed)
        path.unlink()


def copied(run: Path) -> None:
    for path in sorted(run.glob("*.out")):
        shutil.copyfile(path, path.with_name(f"copy-of-{path.name}"))


def split(run: Path) -> None:
    for path in sorted(run.glob("*.out")):
        lines = path.read_bytes().splitlines(keepends=True)
        half = len(lines) // 2
        path.with_name(f"{path.name}.1").write_bytes(b"".join(lines[:half]))
        path.write_bytes(b"".join(lines[half:]))


def put_together(run: Path) -> None:
    """Put the outputs of all jobs into one file, which nothing names after a job."""
    parts = sorted(run.glob("*.out"))
    text = b"".join(path.read_bytes() for path in parts)
    for path in parts:
        path.unlink()
    (run / "all.out").write_bytes(text)


def in_members(run: Path) -> None:
    """Pack each output as two that were put behind each other."""
    for path in sorted(run.glob("*.out")):
        text = path.read_bytes()
        path.unlink()
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))


def with_older_copies(run: Path) -> None:
    """Leave beside an output what there was of it before, and a packed copy."""
    path = min(run.glob("*.out"))
    path.with_name(f"old-{path.name.removeprefix('job-')}").write_bytes(path.read_bytes()[:9000])
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))


def turn_round(accounting: Path) -> None:
    """Put the lines of accounting the other way round, and leave a copy beside."""
    head, *rows = accounting.read_text(encoding="utf-8").splitlines(keepends=True)
    accounting.write_text(head + "".join(reversed(rows)), encoding="utf-8")
    shutil.copyfile(accounting, accounting.with_name("again.txt"))


def stray(run: Path) -> None:
    (run / "notes.txt").write_text("ask mira about the loader\n", encoding="utf-8")
    (run.parent / "nodes" / "empty.log").write_bytes(b"")


#: Runs whose files are kept in another way: what is done to them.
KEPT: dict[str, Callable[[Path], None]] = {
    "gzipped": gzipped,
    "zstd-of-all": zstd_of_all,
    "copied": copied,
    "split": split,
    "put-together": put_together,
    "in-members": in_members,
    "with-older-copies": with_older_copies,
    "stray": stray,
}

#: Runs of which other things happen to the lines.
WORN = {
    "one-file-for-all": Blemishes(files="run", together=True),
    "one-file-for-an-attempt": Blemishes(files="attempt"),
    "errors-in-the-same-file": Blemishes(together=True),
    "kernel-in-the-journal": Blemishes(kernel="journal"),
    "kernel-in-the-journal-as-json": Blemishes(kernel="json"),
    "noise": Blemishes(noise_mb=1.5),
}

#: Trainers whose lines are cut or repeated, and what happens to them.
TRAINERS = ("goodput_records", "megatron_core_0_5", "torchtitan")
CUT = {"rotated": Blemishes(rotate_bytes=3000), "repeated": Blemishes(every_rank=True)}
CUT_RUNS = {f"{how}-{trainer.replace('_', '-')}": (how, trainer) for how in CUT for trainer in TRAINERS}


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Account, Account]:
    """Return the ledger of each run as it was kept well, and as it was kept in a way of its own."""
    stories = {name: mixed_story(11 + number) for number, name in enumerate([*KEPT, *WORN])}
    for number, (name, (_, trainer)) in enumerate(CUT_RUNS.items()):
        stories[name] = mixed_story(16 + number, trainer=trainer, gpus=16, target=150)
    story = side_by_side(stories)
    folder = tmp_path_factory.mktemp("kept")
    ways = {name: (Style(), worn) for name, worn in WORN.items()}
    ways |= {name: (Style(), CUT[how]) for name, (how, _) in CUT_RUNS.items()}
    write_apart(story, folder / "plain", {})
    write_apart(story, folder / "other", ways)
    turn_round(folder / "other" / "logs" / "sacct.txt")
    for name, change in KEPT.items():
        change(folder / "other" / "logs" / name)
    return account(tell(folder / "plain")), account(tell(folder / "other"))


@pytest.mark.parametrize("run", [*KEPT, *WORN, *CUT_RUNS])
def test_how_lines_are_kept_cut_or_repeated_changes_nothing(
    run: str, accounts: tuple[Account, Account]
) -> None:
    plain, other = accounts
    assert plain[run] == other[run]


def test_how_lines_are_kept_makes_no_other_run(accounts: tuple[Account, Account]) -> None:
    assert set(accounts[0]) == set(accounts[1]) == {*KEPT, *WORN, *CUT_RUNS}
