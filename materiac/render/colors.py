"""Colours that editors write into loadouts, as the one form that every picture format reads."""

from __future__ import annotations

import re
from typing import Final

_PREFIX: Final = "materia-color-"
_HEX: Final = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.ASCII)

# Dark enough for a line on white paper.
_NAMED: Final = {
    "black": "#222222",
    "black-gray": "#555555",
    "gray": "#777777",
    "grey": "#777777",
    "white": "#bbbbbb",
    "red": "#c0392b",
    "orange": "#d9730d",
    "yellow": "#b58900",
    "green": "#2e7d32",
    "teal": "#00796b",
    "cyan": "#0e8fa3",
    "blue": "#2563c9",
    "indigo": "#4547b8",
    "purple": "#7b3fb5",
    "magenta": "#b0308c",
    "pink": "#c2477f",
    "brown": "#7a4f2a",
}


def hex_color(color: str) -> str | None:
    """`#rrggbb` for a colour as editors write it, or None for one that no picture could show."""
    word = color.strip().lower().removeprefix(_PREFIX)
    if not _HEX.fullmatch(word):
        return _NAMED.get(word)
    return word if len(word) == 7 else "#" + "".join(2 * digit for digit in word[1:])
