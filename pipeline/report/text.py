"""Text of logs made visible: characters that draw nothing, or turn the direction of writing, are shown."""

from __future__ import annotations

REPLACEMENT = "\ufffd"

#: Characters without ink that the review itself sets.
_OURS = frozenset("\u202f\u200b\u00a0")


def visible(text: str) -> str:
    """Return text with line ends and tabs as spaces, and control or format characters replaced."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in _OURS else " " if c in "\r\n\t" else REPLACEMENT for c in text
    )


def settled(text: str) -> str:
    """Return visible text in which the hyphen of GPU-hours is none that a line may end at."""
    return visible(text).replace("GPU-h", "GPU\u2011h")


def elide(text: str, most: int = 40) -> str:
    """Return text cut in its middle, where it is longer than ``most`` characters: ends tell names apart."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1].rstrip()}…{text[-tail:].lstrip()}"


def anchor(text: str) -> str:
    """Return a name that is safe as an id and as the fragment of a link."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in text)
