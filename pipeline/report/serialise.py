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
    """Return model.json; the same review gives the same text."""
    return json.dumps(plain(review), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value
