"""Text as pictures show it: nothing invisible or harmful left in it, measured and broken into lines."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Final

import wcwidth

# Controls, line separators, marks that turn the direction of writing, lone surrogates, non-characters:
# terminals obey some of them and XML has no way to write most.
_HARMFUL: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """The text with every harmful character spelled out as an escape; line feeds stay."""
    return _HARMFUL.sub(_escape, text)


def one_line(text: str) -> str:
    """The text with its line feeds spelled out too."""
    return text.replace("\n", "\\n")


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "backslashreplace").decode("ascii")


def columns(text: str) -> int:
    """How many cells of a terminal one line of text takes."""
    return len(text) if text.isascii() else max(0, wcwidth.wcswidth(text))


def pad(text: str, width: int) -> str:
    """The line with spaces behind it, up to `width` cells."""
    return text + " " * (width - columns(text))


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` cells; joined, they are the text without its line feeds."""
    return [line for part in text.split("\n") for line in _wrap_line(part, width) or [""]]


def _wrap_line(text: str, width: int) -> list[str]:
    if columns(text) <= width:
        return [text]
    if text.isascii():
        return textwrap.wrap(text, width, drop_whitespace=False)
    return wcwidth.wrap(text, width, drop_whitespace=False)


def label_width(text: str, at_least: int) -> int:
    """A width at which a long text takes the shape of a sheet and not of a ribbon."""
    return max(at_least, math.isqrt(4 * len(text)))
