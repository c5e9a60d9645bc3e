"""Colours and hatches: Okabe–Ito, and for each layer a second code that survives a grey print."""

from __future__ import annotations

from dataclasses import dataclass

INK = "#000000"
SOFT = "#595959"  # definitions and axis labels; contrast 7 on white
RULE = "#BFBFBF"
GROUND = "#F2F2F2"


@dataclass(frozen=True, slots=True)
class Code:
    """How a layer or a state looks: colour, and the drawing of its hatch tile in white (empty: solid).

    Attributes:
        colour: fill.
        tile: size of the hatch tile in points.
        hatch: SVG elements of one tile.
        turn: rotation of the tile in degrees.
    """

    colour: str
    tile: float = 0.0
    hatch: str = ""
    turn: int = 0


_LINE = '<path d="M0 {y}H{t}" stroke="#fff" stroke-width="{w}"/>'
_CROSS = '<path d="M0 2H4M2 0V4" stroke="#fff" stroke-width=".6"/>'
_DOT = '<circle cx="1.6" cy="1.6" r=".65" fill="#fff"/>'

#: The fixed order of layers in every chart and table: productive first, then the losses.
CODES: dict[str, Code] = {
    "productive": Code("#0072B2"),
    "infrastructure": Code("#D55E00", 3.6, _LINE.format(y=1, t=3.6, w=0.8), 135),
    "framework": Code("#E69F00"),
    "model": Code("#009E73", 3.2, _DOT),
    "planned": Code("#56B4E9", 3, _LINE.format(y=1, t=3, w=0.7)),
    "unknown": Code("#7F7F7F", 4, _CROSS, 45),
}

ORDER = tuple(CODES)

_INK_LINE = '<path d="M0 {y}H{t}" stroke="#0B4A73" stroke-width="{w}"/>'
_INK_DOT = '<circle cx="1.6" cy="1.6" r=".6" fill="#0B4A73"/>'
_INK_CROSS = '<path d="M0 2H4M2 0V4" stroke="#0B4A73" stroke-width=".5"/>'

#: Parts of a step, all of it productive time: tints of its blue, from what computes to what is not told.
PARTS: dict[str, Code] = {
    "compute": Code("#0072B2"),
    "exposed_comm": Code("#5BA6D3", 3.6, _LINE.format(y=1, t=3.6, w=1.1), 135),
    "data_wait": Code("#9CCBE6", 3.2, _INK_DOT),
    "bubble": Code("#C6E0F0", 3, _INK_LINE.format(y=1, t=3, w=0.5)),
    "memory_copy": Code("#DCECF6", 4, _INK_CROSS, 45),
    "other": Code("#EDEDED"),
}

#: Where a file does not reach: a pale hatch, not a layer.
MISSING = Code("#F3F3F3", 4, '<path d="M0 2H4" stroke="#C9C9C9" stroke-width=".6"/>', 45)

TITLES = {
    "productive": "Productive",
    "infrastructure": "Infrastructure",
    "framework": "Framework",
    "model": "Model",
    "planned": "Planned",
    "unknown": "Unattributed",
}


def layer_of(layer: str) -> str:
    """Return the layer whose code draws a layer: the program's is that of model goodput."""
    return "model" if layer == "program" else layer if layer in CODES else "unknown"


def order_of(layer: str) -> int:
    """Return the place of a layer in the fixed order."""
    return ORDER.index(layer_of(layer))
