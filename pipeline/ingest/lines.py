"""Bytes → a column of raw lines → the frame that patterns are applied to."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.ingest.peel import peel_prefixes, split_behind_bars, split_segments, strip_escapes

#: What editors of one system put before a text.
BOM = b"\xef\xbb\xbf"

#: Control characters that no log prints, and first bytes of files that are no text. The separators of ASCII
#: and the first control character delimit tables.
_CONTROLS = bytes(c for c in range(0x20) if c not in b"\0\x01\b\t\n\v\f\r\x1b\x1c\x1d\x1e\x1f") + b"\x7f"
_BINARY_MAGICS = (
    b"\x7fELF",
    b"\x89PNG",
    b"%PDF-",
    b"PK\x03\x04",
    b"PAR1",
    b"SQLite format 3",
    b"\xff\xd8\xff",
)
_BINARY_SHARE = 0.05


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file are no text: a known signature, or much that no one prints.

    NULs do not count: a crashed file system leaves runs of them in good logs.
    """
    if head.startswith(_BINARY_MAGICS):
        return True
    text = head.replace(b"\0", b"")
    if not text:
        return bool(head)
    controls = len(text) - len(text.translate(None, _CONTROLS))
    broken = text.decode("utf-8", "replace").count("\ufffd")
    return controls + broken > _BINARY_SHARE * len(text)


def controls_of(content: bytes) -> bytes:
    """Return which control characters that need care are in a content: NUL, carriage return, escape."""
    return bytes(control for control in b"\0\r\x1b" if control in content)


def read_lines(content: bytes, controls: bytes | None = None) -> pl.Series:
    """Return the physical lines of a content as text, without their ends and without terminal sequences.

    NULs are dropped, and bytes that are not UTF-8 replaced. A carriage return before the end of a line
    belongs to the end. ``controls`` is what `controls_of` says of the content.
    """
    if controls is None:
        controls = controls_of(content)
    content = content.removeprefix(BOM)
    if b"\0" in controls:
        content = content.replace(b"\0", b"")
    if b"\r" in controls and b"\r\n" in content:
        content = content.replace(b"\r\n", b"\n")
    if not content:
        return pl.Series("line", [], dtype=pl.String)
    try:
        lines = pl.read_lines(content)["line"]
    except pl.exceptions.ComputeError:
        # The reader wants valid UTF-8 and says so after the fact, which is cheaper than asking every chunk.
        lines = pl.read_lines(content.decode("utf-8", "replace").encode())["line"]
    # Colour codes may stand in the middle of what a pattern looks for.
    return strip_escapes(lines) if b"\x1b" in controls else lines


def is_unended(content: bytes) -> bool:
    """Return whether nothing ends the last line of a content, so that more of it may be to come."""
    return bool(content) and not content.endswith((b"\n", b"\r"))


def join_contents(contents: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Return contents as one, each with an end of its last line, and how many lines of it are of each.

    None of them may end in a carriage return, which would become a part of that end.
    """
    bare = [content.removeprefix(BOM) for content in contents]
    texts = [content if content.endswith(b"\n") else content + b"\n" for content in bare]
    return b"".join(texts), [text.count(b"\n") for text in texts]


def build_frame(lines: pl.Series, first_line: int, label: str = "") -> pl.DataFrame:
    """Return raw lines, numbered from a first one, as `clean_frame` does."""
    numbers = pl.int_range(first_line, first_line + len(lines), dtype=pl.Int64, eager=True)
    return clean_frame(
        pl.DataFrame({"line": numbers, "text": split_behind_bars(strip_escapes(lines))}), label
    )


def clean_frame(frame: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return a frame of ``line`` and ``text`` split at carriage returns, without prefixes.

    ``label`` matches the bare names that are prefixes in the file of the lines (`labels.py`).
    """
    return peel_prefixes(split_segments(frame), label)
