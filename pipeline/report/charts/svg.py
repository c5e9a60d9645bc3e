"""A small SVG canvas in points: y grows downwards, ids carry the chart's name, same calls give same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from pipeline.report.charts.font import FAMILY, printable
from pipeline.report.charts.palette import CODES, INK, Code, layer_of

#: Width of the text block: 174 mm.
WIDTH = 493.0

#: Sizes of text in points.
SIZE = 7.0
SMALL = 6.3


def _n(value: float) -> str:
    """Return a coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


class Drawing:
    """Collects SVG elements; `svg` returns the document.

    Attributes:
        name: name of the chart; prefix of every id.
        width: width in points.
    """

    def __init__(self, name: str, alt: str, *, width: float = WIDTH) -> None:
        self.name, self.width = name, width
        self._alt = alt
        self._body: list[str] = []
        self._hatches: dict[str, str] = {}

    def fill(self, layer: str) -> str:
        """Return the paint of a layer, and define its hatch on first use."""
        key = layer_of(layer)
        return self.paint(key, CODES[key])

    def paint(self, key: str, code: Code) -> str:
        """Return the paint of a code, and define its hatch under ``key`` on first use."""
        if not code.hatch:
            return code.colour
        tile = _n(code.tile)
        turn = f' patternTransform="rotate({code.turn})"' if code.turn else ""
        self._hatches[key] = (
            f'<pattern id="{self.name}-{key}" width="{tile}" height="{tile}" '
            f'patternUnits="userSpaceOnUse"{turn}>'
            f'<rect width="{tile}" height="{tile}" fill="{code.colour}"/>{code.hatch}</pattern>'
        )
        return f"url(#{self.name}-{key})"

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, *, tip: str = "", stroke: str = ""
    ) -> None:
        """Draw a rectangle; ``tip`` is shown by a browser under the pointer."""
        line = f' stroke="{stroke}" stroke-width=".5"' if stroke else ""
        head = (
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(width, 0))}" height="{_n(height)}" '
            f'fill="{fill}"{line}'
        )
        self._body.append(f"{head}><title>{_clean(tip)}</title></rect>" if tip else f"{head}/>")

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, colour: str = INK, width: float = 0.5
    ) -> None:
        """Draw a straight line."""
        self._body.append(
            f'<path d="M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}" stroke="{colour}" stroke-width="{_n(width)}"/>'
        )

    def path(self, points: Sequence[tuple[float, float]], *, colour: str = INK, width: float = 0.5) -> None:
        """Draw an open line through points."""
        path = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        if points:
            self._body.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{_n(width)}"/>')

    def dot(self, x: float, y: float, radius: float, fill: str, *, stroke: str = "", tip: str = "") -> None:
        """Draw a filled circle; ``tip`` is shown by a browser under the pointer."""
        line = f' stroke="{stroke}" stroke-width=".5"' if stroke else ""
        head = f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="{fill}"{line}'
        self._body.append(f"{head}><title>{_clean(tip)}</title></circle>" if tip else f"{head}/>")

    def shape(
        self, points: Sequence[tuple[float, float]], fill: str, *, stroke: str = "", tip: str = ""
    ) -> None:
        """Draw a closed polygon."""
        path = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        line = f' stroke="{stroke}" stroke-width=".7"' if stroke else ""
        head = f'<path d="M{path}Z" fill="{fill}"{line}'
        self._body.append(f"{head}><title>{_clean(tip)}</title></path>" if tip else f"{head}/>")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        bold: bool = False,
        colour: str = INK,
        halo: bool = False,
    ) -> None:
        """Write one line of text on the baseline ``y``; ``halo`` keeps it readable on top of marks."""
        clean = _clean(text)
        where = f'x="{_n(x)}" y="{_n(y)}"'
        style = "" if anchor == "start" else f' text-anchor="{anchor}"'
        style += "" if size == SIZE else f' font-size="{_n(size)}"'
        style += ' font-weight="bold"' if bold else ""
        if halo:
            # A stroke below a second copy: not every reader of SVG knows paint-order.
            ground = ' fill="#fff" stroke="#fff" stroke-width="2" stroke-linejoin="round"'
            self._body.append(f'<text {where}{style}{ground} aria-hidden="true">{clean}</text>')
        style += "" if colour == INK else f' fill="{colour}"'
        self._body.append(f"<text {where}{style}>{clean}</text>")

    def open_link(self, anchor: str) -> None:
        """Make what follows, up to `close_link`, a link to an anchor of the page."""
        self._body.append(f"<a href={quoteattr('#' + anchor)}>")

    def close_link(self) -> None:
        """End a link."""
        self._body.append("</a>")

    def svg(self, height: float) -> str:
        """Return the document, ``height`` points high."""
        size = (
            f'viewBox="0 0 {_n(self.width)} {_n(height)}" width="{_n(self.width)}pt" height="{_n(height)}pt"'
        )
        defs = f"<defs>{''.join(self._hatches[k] for k in sorted(self._hatches))}</defs>"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{self.name}" {size} role="img" '
            f"aria-label={quoteattr(printable(self._alt))} "
            f'font-family="\'{FAMILY}\', Verdana, sans-serif" font-size="{_n(SIZE)}" fill="{INK}">'
        )
        return "\n".join([head, *([defs] if self._hatches else []), *self._body, "</svg>"]) + "\n"


def _clean(text: str) -> str:
    """Return text that is safe inside an element and that the face can draw."""
    return escape(printable(text))
