"""The PDF print: the model goes to typst as data, and any warning is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typst

from pipeline.report.charts.font import font_folder, printable
from pipeline.report.model import Review
from pipeline.report.serialise import plain
from pipeline.report.text import settled

_TEMPLATE = Path(__file__).with_name("review.typ")

#: Zero-width space: a long name may be broken here.
_BREAK = "\u200b"

#: Characters after which a name without punctuation may be broken.
_PIECE = 4
_AFTER = re.compile(r"(?<=[/_.:=,-])(?=[^\s/_.:=,-])")
_LONG = re.compile(rf"[^\s{_BREAK}]{{18,}}")
_LONG_TOKEN = re.compile(r"\S{14,}")


class TypesetError(RuntimeError):
    """The template and the data do not fit; a fault of the program, never of the logs."""


def build_pdf(review: Review, charts: Mapping[str, str]) -> bytes:
    """Return the review as PDF/UA-1; the same review gives the same bytes.

    Args:
        review: what to print.
        charts: SVG of each figure by its name.
    """
    compiler = typst.Compiler(
        input=_TEMPLATE.read_bytes(),
        font_paths=typst.Fonts(include_system_fonts=False, font_paths=[str(font_folder())]),
        sys_inputs={
            "review": json.dumps(_settable(plain(review, with_facts=False))),
            "charts": json.dumps(dict(charts)),
        },
    )
    data, warnings = compiler.compile_with_warnings(
        format="pdf", pdf_standards=["ua-1"], timestamp=int(review.end.timestamp())
    )
    if warnings:
        raise TypesetError("; ".join(warning.message for warning in warnings))
    if not isinstance(data, bytes):
        raise TypesetError("typst returned no document")
    return data


def _settable(value: Any) -> Any:
    """Return the model with text that the face can draw and that lines can be broken in."""
    if isinstance(value, str):
        return breakable(printable(settled(value)))
    if isinstance(value, list):
        return [_settable(item) for item in value]
    if isinstance(value, dict):
        return {key: _settable(item) for key, item in value.items()}
    return value


def breakable(text: str) -> str:
    """Return text whose long names may be broken after punctuation, and very long ones anywhere."""
    return _LONG_TOKEN.sub(lambda token: _break_token(token[0]), text)


def _break_token(token: str) -> str:
    parts = _AFTER.sub(_BREAK, token)
    return _LONG.sub(lambda m: _BREAK.join(m[0][n : n + _PIECE] for n in range(0, len(m[0]), _PIECE)), parts)
