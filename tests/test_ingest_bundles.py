"""Very many small files share parts, and nothing else about them changes."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import polars as pl
import pytest
import zstandard

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import IngestSummary, ingest
from pipeline.ingest.account import Account
from pipeline.ingest.probe import Probe
from pipeline.ingest.write import read_rows
from pipeline.tables import EVENT_TABLES

FILES = 40
LINE = (
    "[rank{0}]:[E1005 01:28:{0:02d}.613000000 ProcessGroupNCCL.cpp:684] [Rank {0}] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum={0}, OpType=_ALLGATHER_BASE, NumelIn=67, NumelOut=67, "
    "Timeout(ms)=600000) ran for 600000 milliseconds before timing out.\n"
)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for rank in range(FILES):
        folder = tmp_path / "logs" / f"rank-{rank:02d}"
        folder.mkdir(parents=True)
        (folder / "stderr.log").write_text(f"chatter of {rank}\n" + LINE.format(rank), encoding="utf-8")
    return tmp_path / "logs"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few files be very many."""
    monkeypatch.setattr("pipeline.ingest.bundles.MANY", 10)


def read(logs: Path, store: Path) -> IngestSummary:
    return ingest([str(logs)], store, EMPTY_CONFIG)


def rows(store: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table in a fixed order."""
    return {
        table: sorted(pl.read_parquet(store / "events" / table / "*.parquet").rows(), key=repr)
        for table in EVENT_TABLES
    }


def parts(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((store / "events" / "signals").glob("*.parquet"))}


def test_bundled_files_give_the_rows_that_they_give_alone(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = read(logs, tmp_path / "alone")
    monkeypatch.setattr("pipeline.ingest.bundles.MANY", 10)
    together = read(logs, tmp_path / "together")
    assert rows(tmp_path / "alone") == rows(tmp_path / "together")
    assert (alone.lines, alone.parsed, alone.unknown, alone.read) == (2 * FILES, FILES, FILES, FILES)
    assert together == alone
    assert len(parts(tmp_path / "alone")) == FILES + 1
    assert len(parts(tmp_path / "together")) <= 9


def test_compressed_files_are_bundled_as_others_are(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only one that is damaged is read by itself, and as far as it is good."""
    packers = (gzip.compress, zstandard.compress, lzma.compress, bz2.compress)
    for at, path in enumerate(sorted(logs.glob("*/stderr.log"))):
        packed = packers[at % len(packers)](path.read_bytes())
        path.with_suffix(".log.packed").write_bytes(packed[:-9] if at == 12 else packed)
        path.unlink()
    alone = read(logs, tmp_path / "alone")
    monkeypatch.setattr("pipeline.ingest.bundles.MANY", 10)
    apart: list[str] = []

    def noted(found: Probe) -> tuple[Account, list[dict[str, pl.DataFrame]]]:
        apart.append(found.source.name)
        return read_rows(found)

    monkeypatch.setattr("pipeline.ingest.bundles.read_rows", noted)
    assert read(logs, tmp_path / "together") == alone
    assert rows(tmp_path / "together") == rows(tmp_path / "alone")
    assert apart == ["rank-12/stderr.log.packed"] == [name for name, _ in alone.unreadable]


@pytest.mark.usefixtures("few")
def test_nothing_is_read_again_that_has_not_changed(logs: Path, tmp_path: Path) -> None:
    read(logs, tmp_path / "store")
    before = parts(tmp_path / "store")
    again = read(logs, tmp_path / "store")
    assert (again.read, again.reused) == (0, FILES)
    assert parts(tmp_path / "store") == before


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("change", ["changed", "new", "gone"])
def test_a_change_touches_one_bundle_and_gives_what_a_fresh_store_holds(
    change: str, logs: Path, tmp_path: Path
) -> None:
    read(logs, tmp_path / "store")
    before = parts(tmp_path / "store")
    one = logs / "rank-07" / "stderr.log"
    if change == "changed":
        one.write_text(one.read_text(encoding="utf-8") + LINE.format(7), encoding="utf-8")
    elif change == "new":
        (logs / "rank-07" / "more.log").write_text(LINE.format(41), encoding="utf-8")
    else:
        one.unlink()
    read(logs, tmp_path / "store")
    read(logs, tmp_path / "fresh")
    after = parts(tmp_path / "store")
    assert after == parts(tmp_path / "fresh")
    assert rows(tmp_path / "store") == rows(tmp_path / "fresh")
    assert len(before.keys() - after.keys()) == 1


@pytest.mark.usefixtures("few")
def test_a_bundle_that_was_lost_is_read_again(logs: Path, tmp_path: Path) -> None:
    read(logs, tmp_path / "store")
    whole = rows(tmp_path / "store")
    next((tmp_path / "store" / "events" / "signals").glob("bundle*.parquet")).unlink()
    read(logs, tmp_path / "store")
    assert rows(tmp_path / "store") == whole


@pytest.mark.usefixtures("few")
def test_files_that_are_no_longer_very_many_have_parts_of_their_own_again(logs: Path, tmp_path: Path) -> None:
    read(logs, tmp_path / "store")
    for rank in range(8, FILES):
        (logs / f"rank-{rank:02d}" / "stderr.log").unlink()
    summary = read(logs, tmp_path / "store")
    assert (summary.sources, summary.lines) == (8, 16)
    assert not list((tmp_path / "store" / "events" / "signals").glob("bundle*"))
    assert len(rows(tmp_path / "store")["signals"]) == 8
