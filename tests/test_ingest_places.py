"""Archives and stores: each member is a source of its own, and reads as the folder that it was."""

from __future__ import annotations

import io
import lzma
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
import zstandard

from pipeline.cli import run as command
from pipeline.config import EMPTY_CONFIG, load_config
from pipeline.errors import GoodputError
from pipeline.ingest import ingest
from pipeline.ingest.discover import discover
from pipeline.ingest.doctor import diagnose
from pipeline.places import FilePlace, SlicePlace

STORY = Path(__file__).resolve().parents[1] / "data" / "samples" / "fallen-gpu"


def pack_tar(folder: Path, to: Path) -> None:
    with tarfile.open(to, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.add(path, path.relative_to(folder), recursive=False)


def pack_gz(folder: Path, to: Path) -> None:
    with tarfile.open(to, "w:gz") as archive:
        archive.add(folder, ".")


def pack_xz(folder: Path, to: Path) -> None:
    pack_tar(folder, to.with_name("plain"))
    to.write_bytes(lzma.compress(to.with_name("plain").read_bytes()))
    to.with_name("plain").unlink()


def pack_zst(folder: Path, to: Path) -> None:
    pack_tar(folder, to.with_name("plain"))
    to.write_bytes(zstandard.ZstdCompressor().compress(to.with_name("plain").read_bytes()))
    to.with_name("plain").unlink()


def pack_zip(folder: Path, to: Path) -> None:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))


PACKERS: dict[str, Callable[[Path, Path], None]] = {
    "logs.tar": pack_tar,
    "logs.tar.gz": pack_gz,
    "logs.tar.xz": pack_xz,
    "logs.tar.zst": pack_zst,
    "logs.zip": pack_zip,
}


def logs_of_story(to: Path) -> Path:
    """Copy the logs of a sample, without what configures."""
    shutil.copytree(
        STORY, to, ignore=shutil.ignore_patterns("goodput.toml", "STORY.md", "expected.json", "*.csv")
    )
    return to


def told(store: Path) -> dict[str, tuple[object, ...]]:
    """Return the account of each source by its name without the archive's."""
    found = ingest.__globals__["Store"](store).known()
    return {
        name.removeprefix(f"{next(iter(PACKERS))}/"): (
            entry.row["format"],
            entry.row["content_hash"],
            entry.row["parsed_lines"],
            entry.row["error"],
        )
        for name, entry in found.items()
    }


@pytest.mark.parametrize("name", PACKERS)
def test_an_archive_reads_as_the_folder_that_it_was(tmp_path: Path, name: str) -> None:
    folder = logs_of_story(tmp_path / "logs")
    (tmp_path / "packed").mkdir()
    PACKERS[name](folder, tmp_path / "packed" / name)
    whole = ingest([str(folder)], tmp_path / "a", EMPTY_CONFIG)
    packed = ingest([str(tmp_path / "packed")], tmp_path / "b", EMPTY_CONFIG)
    assert packed.unreadable == ()
    assert (packed.sources, packed.lines, packed.parsed, packed.bad) == (
        whole.sources,
        whole.lines,
        whole.parsed,
        whole.bad,
    )
    assert {f"{name}/{key}": value for key, value in told(tmp_path / "a").items()} == {
        f"{name}/{key.removeprefix(f'{name}/')}": value for key, value in told(tmp_path / "b").items()
    }
    again = ingest([str(tmp_path / "packed")], tmp_path / "b", EMPTY_CONFIG)
    assert (again.read, again.reused) == (0, whole.sources)
    assert not (tmp_path / "b" / "scratch.writing").exists()


def test_an_archive_may_be_the_logs_and_doctor_reads_it_too(tmp_path: Path) -> None:
    pack_gz(logs_of_story(tmp_path / "logs"), tmp_path / "week.tgz")
    reports = diagnose([str(tmp_path / "week.tgz")], EMPTY_CONFIG)
    assert {report.path.split("/")[0] for report in reports} == {"week.tgz"}
    assert "megatron" in {report.format for report in reports}


def test_members_cannot_leave_the_archive_and_what_is_no_file_is_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as archive:
        for name in ("../../escape.log", "/etc/passwd", "good.log"):
            info = tarfile.TarInfo(name)
            info.size = 6
            archive.addfile(info, io.BytesIO(b"hello\n"))
        for name, kind in (("link.log", tarfile.SYMTYPE), ("pipe", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("goodput.toml")
        archive.addfile(info)
    found = discover([tmp_path], tmp_path / "scratch")
    assert {source.name: source.error for source in found.sources} == {
        "evil.tar.gz/escape.log": "",
        "evil.tar.gz/etc/passwd": "",
        "evil.tar.gz/good.log": "",
        "evil.tar.gz/goodput.toml": "a configuration inside of an archive; name it with `--config`",
        "evil.tar.gz/link.log": "a link inside of an archive",
        "evil.tar.gz/pipe": "not a regular file",
    }
    laid = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "evil.tar.gz"]
    assert all(path.is_relative_to(tmp_path / "scratch") for path in laid)
    assert not (tmp_path.parent / "escape.log").exists()


@pytest.mark.parametrize("name", PACKERS)
def test_of_a_damaged_archive_what_is_good_is_read_and_the_rest_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(3):
        (tmp_path / "logs" / f"{number}.log").write_bytes(os.urandom(30_000).hex().encode())
    (tmp_path / "cut").mkdir()
    PACKERS[name](tmp_path / "logs", tmp_path / "cut" / name)
    content = (tmp_path / "cut" / name).read_bytes()
    (tmp_path / "cut" / name).write_bytes(content[: len(content) // 2])
    summary = ingest([str(tmp_path / "cut")], tmp_path / "store", EMPTY_CONFIG)
    assert len(summary.unreadable) >= 1
    assert all("cut off" in why or "damaged" in why for _, why in summary.unreadable)


def test_a_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.ingest.chunks._FREE_BYTES", 1 << 20)
    monkeypatch.setattr("pipeline.ingest.chunks.MAX_RATIO", 2)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "zeros.log").write_bytes(b"0" * (8 << 20))
    (tmp_path / "packed").mkdir()
    pack_gz(tmp_path / "logs", tmp_path / "packed" / "a.tar.gz")
    pack_zip(tmp_path / "logs", tmp_path / "packed" / "b.zip")
    summary = ingest([str(tmp_path / "packed")], tmp_path / "store", EMPTY_CONFIG)
    assert [path for path, _ in summary.unreadable] == ["a.tar.gz", "b.zip/zeros.log"]
    assert all("which no log does" in why for _, why in summary.unreadable)


def test_an_encrypted_or_nested_archive_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner.tar.gz", b"")
        archive.writestr("plain.log", b"hello\n")
    content = (tmp_path / "a.zip").read_bytes()
    at = content.rindex(b"PK\x01\x02")
    flagged = content[: at + 8] + b"\x01\x00" + content[at + 10 :]
    (tmp_path / "b.zip").write_bytes(flagged)
    found = {source.name: source.error for source in discover([tmp_path], tmp_path / "scratch").sources}
    assert found == {
        "a.zip/inner.tar.gz": "an archive inside of an archive; unpack the outer one",
        "a.zip/plain.log": "",
        "b.zip/inner.tar.gz": "an archive inside of an archive; unpack the outer one",
        "b.zip/plain.log": "encrypted",
    }


def test_a_part_of_a_file_reads_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "whole").write_bytes(b"0123456789")
    part = SlicePlace(FilePlace(tmp_path / "whole"), 2, 5)
    assert (part.size, part.read(1, 3), part.read(4, 9), part.open().read()) == (5, b"345", b"6", b"23456")
    cut = SlicePlace(FilePlace(tmp_path / "whole"), 8, 5)
    assert (cut.size, cut.open().read(), cut.damage) == (2, b"89", "the archive is cut off")


# --- stores


def test_a_store_reads_as_the_folder_that_it_holds(tmp_path: Path) -> None:
    folder = logs_of_story(tmp_path / "logs")
    whole = ingest([str(folder)], tmp_path / "a", EMPTY_CONFIG)
    stored = ingest([f"file://{folder}"], tmp_path / "b", EMPTY_CONFIG)
    assert (stored.sources, stored.lines, stored.parsed) == (whole.sources, whole.lines, whole.parsed)
    assert told(tmp_path / "a") == told(tmp_path / "b")
    assert ingest([f"file://{folder}"], tmp_path / "b", EMPTY_CONFIG).reused == whole.sources


def test_the_configuration_beside_stored_logs_counts(tmp_path: Path) -> None:
    (tmp_path / "goodput.toml").write_text("[runs.heron]\ngpus = 16\n", encoding="utf-8")
    assert load_config([f"file://{tmp_path}"]).runs == load_config([str(tmp_path)]).runs != ()


def test_objects_in_memory_and_archives_among_them(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    pack_tar(logs_of_story(tmp_path / "logs"), tmp_path / "logs.tar")
    memory.pipe("/bucket/week/logs.tar", (tmp_path / "logs.tar").read_bytes())
    memory.pipe("/bucket/week/.hidden", b"x")
    try:
        stored = ingest(["memory://bucket/week"], tmp_path / "store", EMPTY_CONFIG)
    finally:
        memory.rm("/bucket", recursive=True)
    whole = ingest([str(tmp_path / "logs")], tmp_path / "a", EMPTY_CONFIG)
    assert (stored.sources, stored.lines, stored.parsed) == (whole.sources, whole.lines, whole.parsed)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("memory://nowhere/at/all", "no logs at"),
        ("nosuch://bucket/logs", "no driver for `nosuch://`"),
    ],
)
def test_a_store_that_is_not_there_is_named(url: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(GoodputError, match=says):
        discover([url], tmp_path)


def test_a_report_of_an_archive_is_written(tmp_path: Path) -> None:
    pack_zip(logs_of_story(tmp_path / "logs"), tmp_path / "fallen.zip")
    assert command(["report", str(tmp_path / "fallen.zip"), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "review.pdf").stat().st_size > 10_000
