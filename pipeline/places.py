"""Where the bytes of logs lie: files of this machine, parts of other files, objects of a store."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from pipeline.errors import GoodputError

#: What a log is called on every host, and a folder around logs of hosts: regular expressions without groups
#: that count, of this language and of DuckDB.
HOST_LOGS = (
    r"dmesg|kern(?:el)?|kmsg|messages|syslog|system|journal(?:ctl)?|kubelet|slurmd|mmfs|console"
    r"|(?:nvidia-|nv-)?(?:fabricmanager|hostengine|imex|smi|persistenced)|dcgmi?|dmon|ibstat"
    r"|node-problem-detector|npd"
)
AROUND_HOSTS = r"var|logs?|nodes?|hosts?|kernel|journal|system"


class Place(Protocol):
    """Bytes that can be read, from any thread.

    Attributes:
        size: bytes that are stored there.
        sequential: True where bytes can only be read one after the other.
        local: True where every process of this machine can read them.
        damage: what is known to be wrong with its end, or empty.
    """

    @property
    def size(self) -> int:
        """Bytes that are stored there."""

    @property
    def sequential(self) -> bool:
        """Whether bytes can only be read one after the other."""

    @property
    def local(self) -> bool:
        """Whether every process of this machine can read them."""

    @property
    def damage(self) -> str:
        """What is known to be wrong with its end, or empty."""

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, at most ``length``.

        Raises:
            OSError: they cannot be read.
        """

    def open(self) -> IO[bytes]:
        """Return a reader of all of it, from the beginning.

        Raises:
            OSError: it cannot be read.
        """

    def stamp(self) -> list[int]:
        """Return numbers that change with the content, by which it is recognised on this machine."""


class AnywherePlace:
    """A place that can be read anywhere, and of which nothing is known before that."""

    __slots__ = ()

    @property
    def sequential(self) -> bool:
        """Never."""
        return False

    @property
    def damage(self) -> str:
        """Nothing is known before it is read."""
        return ""


@dataclass(frozen=True, slots=True)
class FilePlace(AnywherePlace):
    """A file of this machine."""

    path: Path

    @property
    def local(self) -> bool:
        """Always."""
        return True

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset."""
        with self.path.open("rb", buffering=0) as raw:
            return os.pread(raw.fileno(), length, offset)

    def open(self) -> IO[bytes]:
        """Return a reader of the file."""
        return self.path.open("rb", buffering=0)

    def stamp(self) -> list[int]:
        """Return its size and its time of change."""
        status = self.path.stat()
        return [status.st_size, status.st_mtime_ns]


@dataclass(frozen=True, slots=True)
class SlicePlace:
    """A part of another place, such as a member of an archive that is not compressed."""

    base: Place
    offset: int
    length: int

    @property
    def size(self) -> int:
        """Bytes that are there, which may be fewer than there should be."""
        return max(0, min(self.length, self.base.size - self.offset))

    @property
    def sequential(self) -> bool:
        """As the place that it is a part of."""
        return self.base.sequential

    @property
    def local(self) -> bool:
        """As the place that it is a part of."""
        return self.base.local

    @property
    def damage(self) -> str:
        """Whether the archive ends before it."""
        return "the archive is cut off" if self.size < self.length else ""

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset."""
        length = min(length, self.size - offset)
        return self.base.read(self.offset + offset, length) if length > 0 else b""

    def open(self) -> IO[bytes]:
        """Return a reader of the part."""
        return io.BufferedReader(_SliceReader(self))

    def stamp(self) -> list[int]:
        """Return where it lies, and the stamp of the whole."""
        return [*self.base.stamp(), self.offset, self.length]


class _SliceReader(io.RawIOBase):
    """A reader of a part of a place."""

    def __init__(self, place: SlicePlace) -> None:
        self._place, self._at = place, 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer, and return how many."""
        content = self._place.read(self._at, len(buffer))
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)


@dataclass(frozen=True, slots=True)
class ObjectPlace(AnywherePlace):
    """An object of a store that fsspec knows."""

    files: Any
    path: str
    size: int

    @property
    def local(self) -> bool:
        """Never: the connection to the store is one of this process."""
        return False

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset."""
        end = min(offset + length, self.size)
        if end <= offset:
            return b""
        with refusals(self.path):
            return bytes(self.files.cat_file(self.path, start=offset, end=end))

    def open(self) -> IO[bytes]:
        """Return a reader of the object."""
        with refusals(self.path):
            found: IO[bytes] = self.files.open(self.path, "rb")
        return found

    def stamp(self) -> list[int]:
        """Return its size, and a number of what the store says of its version."""
        with refusals(self.path):
            return [self.size, int(str(self.files.ukey(self.path))[:13], 16)]


class refusals:  # noqa: N801 - reads as a statement
    """Turns what drivers of stores raise, each its own, into errors of a file system."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, OSError):
            raise OSError(f"{self._path}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def is_url(text: str) -> bool:
    """Return whether a text names a place in a store, such as ``s3://bucket/logs``."""
    scheme, found, _ = text.partition("://")
    return bool(found) and scheme.replace("+", "").replace("-", "").isalnum()


def open_store(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it.

    Raises:
        GoodputError: no driver for it is installed, or the store refuses.
    """
    import fsspec

    try:
        files, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise GoodputError(
            f"no driver for `{url.partition('://')[0]}://`",
            where=url,
            why=first_line(error),
            now="install the driver beside this package: `s3fs` for s3://, `gcsfs` for gs://",
        ) from None
    except Exception as error:  # each driver raises errors of its own
        raise GoodputError("the store cannot be reached", where=url, why=first_line(error)) from error
    return files, str(path)
