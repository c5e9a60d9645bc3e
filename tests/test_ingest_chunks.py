"""Files are cut into whole lines, the same whatever their compression, and damage ends them softly."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from pipeline.ingest.chunks import BrokenSourceError, read_chunks
from pipeline.places import FilePlace

TEXT = b"".join(b"line %d of a log\n" % number for number in range(4000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "two gzip members": lambda text: gzip.compress(text[:999]) + gzip.compress(text[999:]),
    "zstd": lambda text: zstandard.ZstdCompressor().compress(text),
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}


def cut(path: Path, size: int) -> list[tuple[bytes, bool]]:
    return [(chunk.load(), chunk.inside) for chunk in read_chunks(FilePlace(path), size)]


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("size", [100, 4096, 1 << 20])
def test_chunks_are_whole_lines_and_do_not_depend_on_compression(
    tmp_path: Path, packer: str, size: int
) -> None:
    (tmp_path / "plain").write_bytes(TEXT)
    (tmp_path / "packed").write_bytes(PACKERS[packer](TEXT))
    chunks = cut(tmp_path / "packed", size)
    assert b"".join(content for content, _ in chunks) == TEXT
    assert all(content.endswith(b"\n") and not inside for content, inside in chunks)
    assert cut(tmp_path / "plain", size) == chunks


@pytest.mark.parametrize("text", [b"", b"\n", b"no end", b"one\ntwo", b"x" * 64, b"x" * 63 + b"\n"])
def test_small_contents_lose_nothing(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "log").write_bytes(text)
    for size in (1, 3, 32, 64):
        assert text == b"".join(content for content, _ in cut(tmp_path / "log", size))


def test_a_line_longer_than_a_chunk_comes_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"a\n" + b"x" * 1000 + b"\nb\n")
    chunks = cut(tmp_path / "log", 100)
    assert len(chunks) > 4
    assert sum(not inside for _, inside in chunks) < len(chunks)
    assert all(len(content) <= 200 for content, _ in chunks)


def test_a_long_progress_bar_is_cut_between_its_states(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"\r".join(b"%3d%%" % number for number in range(1000)))
    chunks = cut(tmp_path / "log", 100)
    assert all(content.endswith(b"\r") for content, _ in chunks[:-1])


def test_no_character_is_torn(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("▇" * 1000, encoding="utf-8")
    assert "".join(content.decode() for content, _ in cut(tmp_path / "log", 100)) == "▇" * 1000


@pytest.mark.parametrize("packer", [name for name in PACKERS if name != "plain"])
def test_a_damaged_file_ends_where_it_is_damaged(tmp_path: Path, packer: str) -> None:
    packed = PACKERS[packer](TEXT)
    (tmp_path / "log").write_bytes(packed[: len(packed) // 2])
    contents = []

    def read() -> None:
        contents.extend(chunk.load() for chunk in read_chunks(FilePlace(tmp_path / "log"), 4096))

    with pytest.raises(BrokenSourceError, match="damaged after"):
        read()
    assert TEXT.startswith(b"".join(contents))


def test_a_file_that_is_gone_is_broken(tmp_path: Path) -> None:
    with pytest.raises(BrokenSourceError, match="no such file"):
        list(read_chunks(FilePlace(tmp_path / "gone")))
