"""The model as JSON: the file beside each review, and what both prints are made from."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any

from pipeline.report.model import Review


def plain(review: Review, *, with_facts: bool = True) -> dict[str, Any]:
    """Return the review as dictionaries, lists, texts and numbers; times are ISO 8601 in UTC."""
    model: dict[str, Any] = {
        part.name: _plain(getattr(review, part.name))
        for part in fields(review)
        if with_facts or part.name != "facts"
    }
    return model


def to_json(review: Review) -> str:
    """Return model.json; the same review gives the same text, and a row of a table is a line of it."""
    return _text(plain(review), "\n") + "\n"


def _text(value: Any, start: str) -> str:
    """Return JSON in which only what holds other containers is broken into lines; ``start`` begins a line."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(item, (dict, list)) for item in inner):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    deeper = f"{start} "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_text(item, deeper)}" for key, item in value.items()]
        return f"{{{deeper}{f',{deeper}'.join(parts)}{start}}}"
    return f"[{deeper}{f',{deeper}'.join(_text(item, deeper) for item in value)}{start}]"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value
