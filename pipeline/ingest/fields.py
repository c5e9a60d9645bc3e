"""Records of documents → named fields: pointers into objects and arrays, and texts of what stands there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.ingest.documents import Record

#: Field of a record below which stands one item of the array that a pattern expands.
ITEM = "*"

#: Field that tells whether that item is the last one of its array.
LAST = "*last"


def unwrapped(record: Record, keys: Sequence[str]) -> Record:
    """Return a record, or the object below one of some keys of it as a record in its place."""
    inner = next((record.value[key] for key in keys if isinstance(record.value.get(key), dict)), None)
    return record if inner is None else Record(inner, record.first, record.last)


def field_of(value: Any, pointer: str) -> Any:
    """Return what stands at a pointer (RFC 6901, without the first slash), or None.

    A step ``[type=Ready,status=True]`` takes the first item of an array whose members have these texts.
    """
    for step in pointer.split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if key.startswith("[") and isinstance(value, list):
            value = _first_with(value, key)
        elif isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _first_with(items: list[Any], step: str) -> Any:
    """Return the first item of which members have the texts that a step names, or None."""
    wanted = [member.partition("=")[::2] for member in step[1:-1].split(",")]
    for item in items:
        if isinstance(item, Mapping) and all(text_of(item.get(name)) == text for name, text in wanted):
            return item
    return None


def text_of(value: Any) -> str | None:
    """Return a value as text: texts as they are, truth in lower case, lists and objects as sorted JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def build_fields(records: Sequence[Record], names: Sequence[str], each: str = "") -> pl.DataFrame:
    """Return ``line``, ``last_line`` and one text column a name, a row for each record.

    With ``each``, the pointer of an array, a row for each of its items, whose fields stand below ``*``.
    """
    rows: list[tuple[int, int, dict[str, Any]]] = []
    for record in records:
        if not each:
            rows.append((record.first, record.last, record.value))
            continue
        items = field_of(record.value, each)
        items = items if isinstance(items, list) else []
        for place, item in enumerate(items, start=1):
            fields = {**record.value, ITEM: item, LAST: place == len(items)}
            rows.append((record.first, record.last, fields))
    columns: dict[str, list[Any]] = {"line": [row[0] for row in rows], "last_line": [row[1] for row in rows]}
    for name in names:
        columns[name] = [text_of(field_of(value, name)) for _, _, value in rows]
    schema = {"line": pl.Int64, "last_line": pl.Int64, **dict.fromkeys(names, pl.String)}
    return pl.DataFrame(columns, schema=schema)
