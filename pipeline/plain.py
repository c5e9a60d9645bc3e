"""Log text made safe for a terminal."""

from __future__ import annotations

#: Control characters of log text could move the cursor of a terminal or change its colours.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}

#: And these turn the direction of a text, or end a line where nobody sees it.
_VISIBLE |= {
    code: f"\\u{code:04x}" for code in (0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
}


def visible(text: str) -> str:
    """Return the text on one line, its control characters spelled out and tabs as one space."""
    return text.replace("\t", " ").translate(_VISIBLE)
