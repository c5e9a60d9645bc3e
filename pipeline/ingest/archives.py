"""Archives → their members as places: tar and zip, compressed or not, without a byte outside of their folder.

A member is read where it lies, if that can be done at random. What a compressed tar holds is laid down in a
scratch folder under names of our own; names inside of an archive are only names.
"""

from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import zstandard

from pipeline.ingest.chunks import BrokenSourceError, decompressed
from pipeline.places import AnywherePlace, FilePlace, Place, SlicePlace

_TAR = (".tar",)
_PACKED_TAR = (".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz")
_ZIP = (".zip",)

_DAMAGE = (
    BrokenSourceError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    EOFError,
    OSError,
    NotImplementedError,
    ValueError,
)
_COPIED = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive.

    Attributes:
        name: path inside of the archive, without steps upwards; empty for the archive itself.
        place: where its bytes are; None where they cannot be read.
        error: why they cannot.
    """

    name: str
    place: Place | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ZipPlace:
    """A compressed member of a zip archive."""

    base: Place
    name: str
    size: int

    @property
    def sequential(self) -> bool:
        """Always: it is compressed."""
        return True

    @property
    def local(self) -> bool:
        """As the archive."""
        return self.base.local

    @property
    def damage(self) -> str:
        """Nothing is known before it is read."""
        return ""

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes at an offset, for which all before it are read."""
        with self.open() as stream:
            while offset > 0 and (skipped := stream.read(min(offset, _COPIED))):
                offset -= len(skipped)
            return stream.read(length)

    def open(self) -> IO[bytes]:
        """Return a reader of the decompressed member."""
        with ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(self.base.open())))
                member = stack.enter_context(archive.open(self.name))
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError) as error:
                raise OSError(str(error)) from error
            return io.BufferedReader(_ZipReader(member, stack.pop_all()))

    def stamp(self) -> list[int]:
        """Return the stamp of the archive."""
        return [*self.base.stamp(), self.size]


class _ZipReader(io.RawIOBase):
    """A reader of a member that closes the archive with itself."""

    def __init__(self, member: IO[bytes], stack: ExitStack) -> None:
        self._member, self._stack = member, stack

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into a buffer, and return how many."""
        content = self._member.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close member, archive and file."""
        self._stack.close()
        super().close()


def is_archive(name: str) -> bool:
    """Return whether a file is an archive by its name."""
    return name.lower().endswith((*_TAR, *_PACKED_TAR, *_ZIP))


def list_members(name: str, place: Place, scratch: Path) -> Iterator[Member]:
    """Yield the files of an archive in its order; damage ends it with a member without a name.

    ``scratch`` is a folder of ours for what cannot be read where it is.
    """
    lower = name.lower()
    try:
        if lower.endswith(_ZIP):
            yield from _zip_members(place)
        elif lower.endswith(_PACKED_TAR):
            yield from _packed_tar_members(place, scratch)
        else:
            yield from _tar_members(place)
    except _DAMAGE as error:
        reason = str(error).strip().rstrip(".").lower() or type(error).__name__
        yield Member("", None, f"the archive is damaged: {reason}")


def _tar_members(place: Place) -> Iterator[Member]:
    """Yield the files of a tar that is not compressed."""
    with place.open() as raw, tarfile.open(fileobj=raw, mode="r:") as archive:
        for info in archive:
            if info.isdir():
                continue
            name, error = _clean(info.name), _refused(info)
            yield Member(name, None if error else SlicePlace(place, info.offset_data, info.size), error)


def _packed_tar_members(place: Place, scratch: Path) -> Iterator[Member]:
    """Yield the files of a compressed tar, laid down in the scratch folder."""
    scratch.mkdir(parents=True, exist_ok=True)
    with (
        place.open() as raw,
        closing(decompressed(raw, place)) as blocks,
        tarfile.open(fileobj=cast(IO[bytes], _Blocks(blocks)), mode="r|") as archive,
    ):
        for number, info in enumerate(archive):
            if info.isdir():
                continue
            name, error = _clean(info.name), _refused(info)
            content = None if error else archive.extractfile(info)
            if content is None:
                yield Member(name, None, error or "no regular file")
                continue
            path = scratch / f"{number:08d}"
            with path.open("wb") as target:
                while block := content.read(_COPIED):
                    target.write(block)
            yield Member(name, _Laid(FilePlace(path), (*place.stamp(), number)))


def _zip_members(place: Place) -> Iterator[Member]:
    """Yield the files of a zip."""
    with place.open() as raw, zipfile.ZipFile(raw) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            error = "encrypted" if info.flag_bits & 1 else ""
            if (info.external_attr >> 16) & 0o170000 == 0o120000:
                error = "a link inside of an archive"
            member = None if error else ZipPlace(place, info.filename, info.compress_size)
            yield Member(_clean(info.filename), member, error)


def _refused(info: tarfile.TarInfo) -> str:
    """Return why a member of a tar is not read, or nothing."""
    if info.issym() or info.islnk():
        return "a link inside of an archive"
    return "" if info.isreg() and not info.issparse() else "not a regular file"


def _clean(name: str) -> str:
    """Return a name without a root and steps upwards."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..", ".")]
    return "/".join(parts).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") or "unnamed"


@dataclass(frozen=True, slots=True)
class _Laid(AnywherePlace):
    """A member that was laid down: its file is new each time, and its stamp that of the archive."""

    file: FilePlace
    stamped: tuple[int, ...]

    @property
    def local(self) -> bool:
        """Always: it was laid down here."""
        return True

    @property
    def size(self) -> int:
        """Bytes of the member."""
        return self.file.size

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset."""
        return self.file.read(offset, length)

    def open(self) -> IO[bytes]:
        """Return a reader of the member."""
        return self.file.open()

    def stamp(self) -> list[int]:
        """Return the stamp of the archive, and the number of the member."""
        return list(self.stamped)


class _Blocks:
    """Blocks of bytes as something that can be read from."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, b""

    def read(self, size: int) -> bytes:
        """Return the next bytes; fewer only at the end."""
        parts, length = [self._rest], len(self._rest)
        while length < size and (block := next(self._blocks, b"")):
            parts.append(block)
            length += len(block)
        content = b"".join(parts)
        self._rest = content[size:]
        return content[:size]
