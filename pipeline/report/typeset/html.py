"""The HTML print: one file, no script, no network; everything that came from a log is escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.report.model import Review
from pipeline.report.serialise import plain
from pipeline.report.text import settled

_FOLDER = Path(__file__).parent

#: Characters of markup, and those of the basic plane that draw nothing or turn the direction of writing.
_UNSAFE = re.compile(r"[<>&\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


def build_html(review: Review, charts: Mapping[str, str], model: str) -> str:
    """Return the review as one HTML file.

    Args:
        review: what to print.
        charts: SVG of each figure by its name; their text was escaped when they were drawn.
        model: the model as JSON text, to be embedded.
    """
    env = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: settled(value) if type(value) is str else value,
    )
    return env.get_template("review.html.j2").render(
        review=plain(review, with_facts=False),
        charts={name: Markup(svg) for name, svg in charts.items()},
        style=Markup((_FOLDER / "review.css").read_text(encoding="utf-8")),
        model=Markup(_embedded(model)),
    )


def _embedded(text: str) -> str:
    """Return JSON that cannot end the script element that holds it, nor turn the writing of the page."""
    return _UNSAFE.sub(lambda found: "".join(f"\\u{ord(c):04x}" for c in found[0]), text)
