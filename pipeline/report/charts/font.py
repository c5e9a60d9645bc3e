"""Widths of text in the face of the review, DejaVu Sans, and which characters it can draw."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib
from matplotlib.ft2font import FT2Font, LoadFlags

from pipeline.report.text import REPLACEMENT, visible

FAMILY = "DejaVu Sans"
ELLIPSIS = "…"


def font_folder() -> Path:
    """Return the folder of the font files, which matplotlib brings with it."""
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@cache
def _face(bold: bool) -> FT2Font:
    return FT2Font(str(font_folder() / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")))


@cache
def _known() -> frozenset[int]:
    """Return the characters that both weights can draw."""
    return frozenset(_face(False).get_charmap()) & frozenset(_face(True).get_charmap())


@cache
def _advance(code: int, bold: bool) -> float:
    """Return the advance width of a character in em."""
    face = _face(bold)
    return float(face.load_char(code, flags=LoadFlags.NO_SCALE).horiAdvance) / face.units_per_EM


def printable(text: str) -> str:
    """Return visible text in which each character that one of the weights lacks is the replacement character.

    One missing glyph would make a reader of SVG set the whole label in another face.
    """
    known = _known()
    return "".join(c if ord(c) in known else REPLACEMENT for c in visible(text))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a line of text in points at a size in points."""
    return size * sum(_advance(ord(c), bold) for c in printable(text))


def fit(text: str, width: float, size: float, *, bold: bool = False, keep_end: bool = False) -> str:
    """Return the text, cut with an ellipsis where it is wider than ``width`` points.

    ``keep_end`` cuts the beginning instead: the end of a path tells more than its start.
    """
    if text_width(text, size, bold=bold) <= width:
        return text
    rest = text
    while rest:
        rest = rest[1:] if keep_end else rest[:-1]
        cut = ELLIPSIS + rest if keep_end else rest.rstrip() + ELLIPSIS
        if text_width(cut, size, bold=bold) <= width:
            return cut
    return ""
