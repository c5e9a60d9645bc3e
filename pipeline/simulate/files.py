"""Files that are written once and in order: cut into parts, compressed, the same bytes every time."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

from pipeline.simulate.blemishes import Blemishes, Compression

_ENDINGS: dict[Compression, str] = {"none": "", "gzip": ".gz", "zstd": ".zst"}

#: Bytes that are gathered before they go to the disk.
_BUFFER = 1 << 20


class _Sink(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Take some more."""

    def close(self) -> None:
        """Take what is still held back to the file."""


class LogFile:
    """One file of a console, or its parts."""

    def __init__(self, path: Path, blemishes: Blemishes) -> None:
        self.path, self.compression = path, blemishes.compression
        self.limit = blemishes.rotate_bytes
        self.parts: list[Path] = []
        self.size = 0
        self.ends_line = True
        path.parent.mkdir(parents=True, exist_ok=True)
        self._open()

    def write(self, data: bytes) -> None:
        """Append bytes; where they reach the size of a part, the rest of them begins the next one."""
        while self.limit and self.size + len(data) > self.limit:
            cut = data.rfind(b"\n", 0, max(0, self.limit - self.size)) + 1
            if not cut and self.size and self.ends_line:
                self._rotate()
                continue
            # A line that is longer than a part, or whose begin is in this one, stays whole.
            cut = cut or data.find(b"\n") + 1
            if cut in (0, len(data)):
                break
            self._put(data[:cut])
            self._rotate()
            data = data[cut:]
        self._put(data)

    def close(self) -> None:
        """End the last part, and give all parts their names."""
        self._end()
        ending = _ENDINGS[self.compression]
        for age, part in enumerate(reversed(self.parts)):
            part.rename(
                self.path.with_name(f"{self.path.name}.{age}{ending}" if age else self.path.name + ending)
            )

    def _put(self, data: bytes) -> None:
        """Write bytes into the part that is open."""
        if data:
            self.stream.write(data)
            self.size += len(data)
            self.ends_line = data.endswith(b"\n")

    def _rotate(self) -> None:
        """Begin another part."""
        self._end()
        self._open()

    def _open(self) -> None:
        """Open the next part under a name of its own."""
        part = self.path.with_name(f".{self.path.name}.part-{len(self.parts)}")
        self.parts.append(part)
        self.file: BinaryIO = part.open("wb", buffering=_BUFFER)
        self.stream: _Sink = _compressed(self.file, self.compression)
        self.size = 0

    def _end(self) -> None:
        """Close the part that is open."""
        self.stream.close()
        self.file.close()


def _compressed(file: BinaryIO, compression: Compression) -> _Sink:
    """Return what compresses into a file. Nothing of name or time goes into it."""
    if compression == "gzip":
        return gzip.GzipFile(filename="", mode="wb", compresslevel=4, fileobj=file, mtime=0)
    if compression == "zstd":
        return zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False)
    return file
