"""Whole documents → records: JSON and YAML, one after the other in a file.

A document is an object, or an array of them, or an object that holds the records in one of its arrays. It is
decoded record by record, so that each knows the lines it stands on, and a document that was cut off gives
the records in front of the cut.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

#: Characters that may begin a JSON document; YAML of objects begins with a key or a mark.
_JSON_STARTS = ("{", "[")
_BLANKS = " \t\r\n"
_NO_BLANK = re.compile(r"[^ \t\r\n]")

#: Field of a record below which stands the record of the array around it.
OUTER = "^"

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Record:
    """One record, and the lines it stands on: the first and the last, from 1."""

    value: Any
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Document:
    """The records of a text.

    Attributes:
        records: in order.
        broken: first line that cannot be read, or 0 where all could.
    """

    records: list[Record]
    broken: int


def read_documents(lines: Sequence[str], elements: Sequence[str]) -> Document:
    """Return the records of JSON or YAML documents.

    Args:
        lines: the text, line by line.
        elements: where the records are: names of arrays as pointers, tried in order. A step ``[]`` goes down
            into the items of an array that is inside of a record. Where none is there, the document is one
            record, or an array of them.
    """
    text = "\n".join(lines)
    start = len(text) - len(text.lstrip(_BLANKS))
    if text[start : start + 1] in _JSON_STARTS:
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        return _read_json(text, start, starts, elements)
    return _read_yaml(text, elements)


# --- JSON


def _read_json(text: str, at: int, starts: Sequence[int], elements: Sequence[str]) -> Document:
    """Return the records of JSON documents, one behind the other."""
    records: list[Record] = []
    reader = _JsonReader(text, at, frozenset(element.split("/")[0] for element in elements))
    try:
        while reader.more():
            for begin, end, value in reader.records():
                first, last = bisect_right(starts, begin), bisect_right(starts, end - 1)
                records += (Record(item, first, last) for item in _expand(value, elements))
    except (json.JSONDecodeError, RecursionError):
        return Document(records, bisect_right(starts, min(reader.at, len(text) - 1)))
    return Document(records, 0)


class _JsonReader:
    """A text of JSON documents, read from one place to the next."""

    def __init__(self, text: str, at: int, arrays: frozenset[str]) -> None:
        self.text, self.at, self.arrays = text, at, arrays

    def more(self) -> bool:
        """Go to the next document, and return whether there is one."""
        self._skip()
        return self.at < len(self.text)

    def records(self) -> Iterator[tuple[int, int, Any]]:
        """Yield begin, end and value of the records of the document at this place, and go behind it."""
        if self._peek() == "[":
            yield from self._items()
            return
        begin, whole = self.at, True
        if self._peek() == "{" and self.arrays:
            for key in self._keys():
                if key in self.arrays and self._peek() == "[":
                    whole = False
                    yield from self._items()
                else:
                    self._value()
        else:
            self._value()
        if whole:
            yield begin, self.at, json.loads(self.text[begin : self.at])

    def _keys(self) -> Iterator[str]:
        """Yield the keys of an object, with this place at each value; whoever takes one goes behind it."""
        self.at += 1
        self._skip()
        while self._peek() != "}":
            key = str(self._value())
            self._expect(":")
            yield key
            self._separate("}")
        self.at += 1

    def _items(self) -> Iterator[tuple[int, int, Any]]:
        """Yield begin, end and value of the items of an array."""
        self.at += 1
        self._skip()
        while self._peek() != "]":
            begin = self.at
            value = self._value()
            yield begin, self.at, value
            self._separate("]")
        self.at += 1

    def _value(self) -> Any:
        """Return the value at this place, and go behind it."""
        value, self.at = _DECODER.raw_decode(self.text, self.at)
        return value

    def _separate(self, close: str) -> None:
        """Go to the next member, or to the mark that closes."""
        self._skip()
        if self._peek() == ",":
            self.at += 1
            self._skip()
        elif self._peek() != close:
            raise json.JSONDecodeError(f"`{close}` is missing", self.text, self.at)

    def _expect(self, mark: str) -> None:
        """Go behind a mark and the blanks after it."""
        self._skip()
        if self._peek() != mark:
            raise json.JSONDecodeError(f"`{mark}` is missing", self.text, self.at)
        self.at += 1
        self._skip()

    def _peek(self) -> str:
        """Return the character at this place; empty at the end."""
        return self.text[self.at : self.at + 1]

    def _skip(self) -> None:
        """Go to the next character that is no blank."""
        found = _NO_BLANK.search(self.text, self.at)
        self.at = found.start() if found else len(self.text)


# --- YAML


def _read_yaml(text: str, elements: Sequence[str]) -> Document:
    """Return the records of YAML documents."""
    records: list[Record] = []
    # Hardly any file is YAML, and the library takes as long to load as a small file to read.
    import yaml

    loader = yaml.CSafeLoader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            for item in _yaml_items(node, elements) if node is not None else ():
                value = loader.construct_document(item)
                first, last = item.start_mark.line + 1, item.end_mark.line + (item.end_mark.column > 0)
                records += (Record(one, first, last) for one in _expand(value, elements))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        return Document(records, mark.line + 1 if mark is not None else 1)
    finally:
        loader.dispose()
    return Document(records, 0)


def _yaml_items(node: Any, elements: Sequence[str]) -> Iterator[Any]:
    """Yield the nodes of the records of a document."""
    if node.id == "sequence":
        yield from node.value
        return
    found = False
    if node.id == "mapping":
        names = {element.split("/")[0] for element in elements}
        for key, value in node.value:
            if key.value in names and value.id == "sequence":
                found = True
                yield from value.value
    if not found:
        yield node


# --- records inside of records


def _expand(value: Any, elements: Sequence[str]) -> Iterator[Any]:
    """Yield a decoded record, or the records inside of it where an element goes further down."""
    if not isinstance(value, dict):
        # An array inside of a bare array is a record without names: its fields are its places.
        if isinstance(value, list) and not elements:
            yield value
        return
    deeper = [element.split("/")[1:] for element in elements if "[]" in element]
    inner = [record for path in deeper for record in _descend(value, path)]
    yield from inner or [value]


def _descend(value: dict[str, Any], path: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects at the end of a path: of an array each item, of an object the object itself."""
    if not path:
        yield value
        return
    if path[0] == "[]":
        yield from _descend(value, path[1:])
        return
    items = value.get(path[0])
    for item in items if isinstance(items, list) else [items]:
        if isinstance(item, dict):
            yield from _descend({**item, OUTER: value}, path[1:])
