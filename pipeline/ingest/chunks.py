"""Files → chunks of whole lines, whatever their size and compression, with bounded memory.

Chunks are cut by the decompressed bytes alone, so that their hashes, and with them the hash of the content,
do not depend on how a file is stored.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import BufferedReader, BytesIO
from typing import IO, Protocol

import zstandard

from pipeline.places import Place

#: Nominal size of a chunk. A chunk ends at the first line end at or after it, and at twice the size anyway.
#: Larger ones cost less for each byte, and memory: each worker has a chunk, its shapes, and rows that wait.
CHUNK_BYTES = 20 << 20

#: The same for the first bytes of a file, by which it is recognised.
HEAD_BYTES = 4 << 20

#: A text that grows more than this on decompression, beyond the first gigabyte, is an attack or damage.
MAX_RATIO = 3000
_FREE_BYTES = 1 << 30

_BLOCK = 1 << 20
_TAIL = 16 << 10
_ZSTD_STEP = 4 << 10
_SUMMED = 1 << 20


class _Blocks(Protocol):
    """What all decompressing readers can do."""

    def read1(self, size: int, /) -> bytes:
        """Return what one step gives, at most ``size`` bytes; nothing at the end."""


class _ZstdReader:
    """A reader of all frames of a zstd file that says when the last one is cut off.

    The library's own reader takes a cut for an end. What a step is fed is small, since a few bytes of this
    format may stand for very many.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._rest = b""
        self._begun = False

    def read1(self, size: int, /) -> bytes:
        """Return what the next step gives; nothing at the end."""
        while fed := self._rest or self._raw.read(_ZSTD_STEP):
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            content = self._frame.decompress(fed)
            self._begun = not self._frame.eof
            self._rest = self._frame.unused_data if self._frame.eof else b""
            if content:
                return content
        if self._begun:
            raise EOFError("the last frame is cut off")
        return b""


_BROKEN = (EOFError, OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError)
_MAGIC_BYTES = 8
_OPENERS: tuple[tuple[bytes, Callable[[IO[bytes]], _Blocks]], ...] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"\x28\xb5\x2f\xfd", _ZstdReader),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole lines of a file.

    Attributes:
        index: number of the chunk in its file, from 0.
        load: returns its bytes; may be called from any thread, and where another process can reach them from
            there, too.
        inside: True where it begins inside a line that was too long for one chunk.
    """

    index: int
    load: Callable[[], bytes]
    inside: bool = False


class BrokenSourceError(Exception):
    """The rest of a file cannot be read; what came before it was good."""


def is_compressed(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a compressed one that we read."""
    return any(head.startswith(magic) for magic, _ in _OPENERS)


def read_chunks(place: Place, size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Yield the chunks of a file in order.

    Raises:
        BrokenSourceError: after the last good chunk, where the file is damaged or can no longer be read.
    """
    try:
        opener = _opener_of(place.read(0, _MAGIC_BYTES))
        if opener is None and not place.sequential:
            yield from _cut_file(place, size)
        else:
            with closing(place.open()) as raw:
                yield from _cut_stream(decompressed(raw, place), size)
    except OSError as error:
        raise BrokenSourceError(_reason(error)) from None
    if place.damage:
        raise BrokenSourceError(place.damage)


def read_whole(place: Place, limit: int) -> bytes | None:
    """Return the content of a file in one read, or None where it is damaged, or has more than a limit."""
    if place.sequential:
        return None
    stored = place.read(0, limit + 1)
    if len(stored) > limit or place.damage:
        return None
    if not is_compressed(stored):
        return stored
    content = bytearray()
    try:
        for block in decompressed(BytesIO(stored), place):
            content += block
            if len(content) > limit:
                return None
    except BrokenSourceError:
        return None
    return bytes(content)


def read_head(place: Place) -> bytes:
    """Return the first lines of a file; nothing where it is damaged before their end."""
    try:
        return next((chunk.load() for chunk in read_chunks(place, HEAD_BYTES)), b"")
    except BrokenSourceError:
        return b""


def decompressed(raw: IO[bytes], place: Place) -> Generator[bytes]:
    """Yield blocks of what a reader gives, decompressed where it is compressed.

    Raises:
        BrokenSourceError: after the last good block, where the rest is damaged or grows beyond all measure.
    """
    buffered = BufferedReader(raw)  # type: ignore[type-var]
    try:
        opener = _opener_of(buffered.peek(_MAGIC_BYTES))
        yield from _decompress(buffered if opener is None else opener(buffered), place)
    finally:
        # Whoever opened the reader closes it.
        buffered.detach()


def _opener_of(head: bytes) -> Callable[[IO[bytes]], _Blocks] | None:
    """Return what decompresses a file that begins so, or None where it is not compressed."""
    return next((opener for magic, opener in _OPENERS if head.startswith(magic)), None)


def _reason(error: OSError) -> str:
    """Return why something cannot be read."""
    return (error.strerror or str(error)).lower()


def chunk_digest(content: bytes) -> bytes:
    """Return a digest of a chunk: its length, and a checksum of every megabyte.

    It tells contents apart that differ by chance, at the speed of reading; nobody gains by forging one.
    """
    view = memoryview(content)
    sums = (zlib.crc32(view[at : at + _SUMMED]) for at in range(0, len(content), _SUMMED))
    return b"".join(number.to_bytes(8, "big") for number in (len(content), *sums))


def content_hash(digests: list[bytes]) -> str:
    """Return the hash of a content from the digests of its chunks in order."""
    return sha256(b"".join(digests)).hexdigest()[:32]


def _cut_file(place: Place, size: int) -> Iterator[Chunk]:
    """Yield chunks of a plain file; only their ends are read here, their bytes by whoever loads them."""
    stored = place.size
    if stored <= size:
        if stored:
            yield Chunk(0, partial(place.read, 0, stored))
        return
    begin, index, inside = 0, 0, False
    while True:
        # Nearly every line ends soon, so that few bytes are read twice.
        tail = place.read(begin + size, min(size, _TAIL))
        if b"\n" not in tail:
            tail = place.read(begin + size, size)
        cut = _cut(tail) if len(tail) == size else tail.find(b"\n") + 1 or len(tail)
        if not tail and not place.read(begin, 1):
            return
        length = size + cut
        yield Chunk(index, partial(place.read, begin, length), inside)
        if not tail:
            return
        inside = tail[cut - 1 : cut] != b"\n"
        begin, index = begin + length, index + 1


def _cut_stream(blocks: Iterator[bytes], size: int) -> Iterator[Chunk]:
    """Yield chunks of decompressed blocks, cut exactly where `_cut_file` would cut."""
    buffer, index, inside, broken = bytearray(), 0, False, ""
    more = True
    while more or buffer:
        while more and len(buffer) < 2 * size:
            try:
                buffer += next(blocks)
            except StopIteration:
                more = False
            except BrokenSourceError as error:
                broken, more = str(error), False
        if not buffer:
            break
        tail = bytes(buffer[size : 2 * size])
        cut = _cut(tail) if len(tail) == size else tail.find(b"\n") + 1 or len(tail)
        content = bytes(buffer[: size + cut])
        del buffer[: size + cut]
        yield Chunk(index, partial(bytes, content), inside)
        index, inside = index + 1, not content.endswith(b"\n")
    if broken:
        raise BrokenSourceError(broken)


def _cut(tail: bytes) -> int:
    """Return how many bytes of the second half of a full window belong to the chunk, at least one."""
    end = tail.find(b"\n") + 1
    if end:
        return end
    # No line end: between two states of a progress bar, else before a character that would be torn.
    end = tail.rfind(b"\r") + 1
    if end:
        return end
    end = len(tail)
    while end > len(tail) - 4 and end > 1 and tail[end - 1] & 0xC0 == 0x80:
        end -= 1
    return end - 1 if end > 1 and tail[end - 1] >= 0xC0 else end


def _decompress(stream: _Blocks, place: Place) -> Iterator[bytes]:
    """Yield the blocks of a stream."""
    limit = max(_FREE_BYTES, MAX_RATIO * place.size)
    total = 0
    while True:
        try:
            block = stream.read1(_BLOCK)
        except _BROKEN as error:
            reason = str(error).strip().rstrip(".").lower() or type(error).__name__
            raise BrokenSourceError(f"damaged after {total} bytes of content: {reason}") from None
        if not block:
            return
        total += len(block)
        if total > limit:
            raise BrokenSourceError(f"decompresses to more than {limit} bytes, which no log does")
        yield block
