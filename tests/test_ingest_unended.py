"""A number at the end of a file that nothing ends is not believed; all else that stands there is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import bundles, ingest

BOOT = "[   10.000000] Linux version 6.8.0 (gx012)\n"
XID = "[ 9120.551200] NVRM: Xid (PCI:0000:6d:00): "
FAULT = "13, pid=4411, name=python, Graphics Exception\n"


def signals(tmp_path: Path, files: dict[str, bytes]) -> dict[str, list[tuple[str, str | None]]]:
    """Return signal and code of each file, in order of its lines."""
    logs = tmp_path / "logs"
    for name, content in files.items():
        path = logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    ingest([str(logs)], tmp_path / "store", EMPTY_CONFIG, workers=1)
    parts = [
        pl.read_parquet(path) for path in sorted((tmp_path / "store").glob("events/signals/**/*.parquet"))
    ]
    sources = pl.concat(
        pl.read_parquet(path) for path in sorted((tmp_path / "store").glob("events/sources/**/*.parquet"))
    )
    paths = dict(sources.select("source_id", "path").rows())
    found: dict[str, list[tuple[str, str | None]]] = {name: [] for name in files}
    for source_id, signal_id, code in (
        pl.concat(parts).sort("line").select("source_id", "signal_id", "code").rows() if parts else ()
    ):
        found[paths[source_id]].append((signal_id, code))
    return found


#: What stands at the end of a kernel log, and what is read of it.
ENDS: dict[str, tuple[str, list[tuple[str, str | None]]]] = {
    # 13 may be the head of 137. No row of the catalogue knows an Xid 15.
    "a number that is cut": (f"{XID}13", [("xid_any", None)]),
    "a number that may be cut": (f"{XID}79", [("xid_any", None)]),
    "a number of which nothing is known": (f"{XID}15", [("xid_any", None)]),
    "a number that a line ends": (f"{XID}13\n", [("xid_13_gr_exception", "13")]),
    "a number that text follows": (f"{XID}{FAULT.strip()}", [("xid_13_gr_exception", "13")]),
    "a number that is cut in the text behind": (f"{XID}13, pid=44", [("xid_13_gr_exception", "13")]),
    "no number yet": (XID.rstrip(), []),
    # What the launcher says holds for each number.
    "the code of an exit": (
        "srun: error: gx012: task 3: Exited with exit code 1",
        [("slurm_exit_code", None)],
    ),
    "the code of an exit in a line": (
        "srun: error: gx012: task 3: Exited with exit code 1\n",
        [("slurm_exit_code", "1")],
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_number_counts_where_something_follows_it(end: str, tmp_path: Path) -> None:
    text, expected = ENDS[end]
    assert signals(tmp_path, {"nodes/gx012.dmesg.txt": (BOOT + text).encode()}) == {
        "nodes/gx012.dmesg.txt": expected
    }


@pytest.mark.parametrize("many", [1, 1000], ids=["bundled", "one by one"])
def test_the_last_line_of_each_of_many_files_is_its_own(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "MANY", many)
    files = {f"nodes/gx{n:03}.dmesg.txt": (f"{BOOT}{XID}13" + "\n" * (n % 2)).encode() for n in range(40)}
    cut, whole = [("xid_any", None)], [("xid_13_gr_exception", "13")]
    assert signals(tmp_path, files) == {name: whole if n % 2 else cut for n, name in enumerate(files)}
