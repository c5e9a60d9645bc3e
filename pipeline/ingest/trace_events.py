"""Traces of a profiler in the Chrome format → their events, one by one, with bounded memory.

A trace is a JSON object with some facts and one very long array of events; or that array alone. It may have
gigabytes, on one line or on millions.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

#: The array of the events.
EVENTS = "traceEvents"

#: Characters of one value beyond which a text is no trace.
MAX_VALUE = 64 << 20

#: Characters that are taken at a time.
_BLOCK = 1 << 20

_SPACE = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n,]*")


class _CutError(Exception):
    """The text ends inside of a value, or is none of JSON."""


class TraceEvents:
    """The events of a trace, read once and in order.

    Attributes:
        head: the other members of the object, as far as they were met.
        broken: why the rest cannot be read, or empty.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.head: dict[str, Any] = {}
        self.broken = ""
        self._blocks = iter(blocks)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at, self._more = "", 0, True

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the events that are objects; what stands behind a cut is left."""
        try:
            self._skip(_SPACE)
            first = self._text[self._at : self._at + 1]
            if first == "[":
                yield from self._items()
            elif first == "{":
                yield from self._members()
            else:
                raise _CutError
        except _CutError:
            self.broken = "it ends inside of an event" if not self._more else "it is no JSON"
            for _ in self._blocks:  # whoever counts them counts all
                pass

    def _members(self) -> Iterator[dict[str, Any]]:
        """Yield the events of an object, and keep its other members."""
        self._at += 1
        while True:
            self._skip(_BETWEEN)
            if self._text[self._at : self._at + 1] == "}":
                return
            key = self._value()
            self._skip(_SPACE)
            if not isinstance(key, str) or self._text[self._at : self._at + 1] != ":":
                raise _CutError
            self._at += 1
            self._skip(_SPACE)
            if key == EVENTS and self._text[self._at : self._at + 1] == "[":
                yield from self._items()
            else:
                self.head[key] = self._value()

    def _items(self) -> Iterator[dict[str, Any]]:
        """Yield the events of an array."""
        self._at += 1
        while True:
            self._skip(_BETWEEN)
            if self._text[self._at : self._at + 1] == "]":
                self._at += 1
                return
            event = self._value()
            if isinstance(event, dict):
                yield event

    def _skip(self, blanks: re.Pattern[str]) -> None:
        """Go to the next character that is no blank."""
        while True:
            found = blanks.match(self._text, self._at)
            assert found is not None  # it matches nothing as well
            self._at = found.end()
            if self._at < len(self._text):
                return
            self._fill()

    def _value(self) -> Any:
        """Return the value that begins here."""
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except (ValueError, RecursionError):
                self._fill()
                continue
            # A number may go on in what was not read yet.
            if end == len(self._text) and self._more and not isinstance(value, (dict, list, str)):
                self._fill()
                continue
            self._at = end
            return value

    def _fill(self) -> None:
        """Read on: at least as much again as there is, so that a long value is not read over and over."""
        if not self._more:
            raise _CutError
        rest = self._text[self._at :]
        if len(rest) > MAX_VALUE:
            raise _CutError
        parts, length, wanted = [rest], 0, max(_BLOCK, len(rest))
        while length < wanted:
            block = next(self._blocks, None)
            if block is None:
                parts.append(self._decode.decode(b"", final=True))
                self._more = False
                break
            parts.append(self._decode.decode(block))
            length += len(parts[-1])
        self._text, self._at = "".join(parts), 0
