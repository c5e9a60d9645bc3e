"""Places for labels: side by side without overlap, and the key of layers above a chart."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report.charts.font import text_width
from pipeline.report.charts.palette import TITLES
from pipeline.report.charts.svg import SMALL, Drawing


def spread(centres: Sequence[float], widths: Sequence[float], low: float, high: float) -> list[float]:
    """Return centres near the wanted ones, in order, so that labels neither overlap nor leave the room.

    Centres must rise. Where the labels do not fit at all, they are packed from ``low`` on.
    """
    placed: list[float] = []
    edge = low
    for centre, width in zip(centres, widths, strict=True):
        placed.append(max(centre, edge + width / 2))
        edge = placed[-1] + width / 2
    edge = max(high, low + sum(widths))
    for n in range(len(placed) - 1, -1, -1):
        placed[n] = min(placed[n], edge - widths[n] / 2)
        edge = placed[n] - widths[n] / 2
    return placed


def draw_key(
    drawing: Drawing, x: float, y: float, entries: Sequence[tuple[str, str]], *, gap: float = 12
) -> float:
    """Draw swatches of layers with their meaning in one row on baseline ``y``; return where the row ends.

    Args:
        drawing: canvas.
        x: left end.
        y: baseline of the text.
        entries: layer and text.
        gap: room between two entries.
    """
    for layer, text in entries:
        drawing.rect(x, y - 5.4, 9, 6, drawing.fill(layer))
        drawing.text(x + 11.5, y, text, size=SMALL)
        x += 11.5 + text_width(text, SMALL) + gap
    return x - gap


def layer_key(layers: Sequence[str]) -> list[tuple[str, str]]:
    """Return the entries of a key for layers."""
    return [(layer, TITLES[layer].lower() if layer != "productive" else "productive") for layer in layers]
