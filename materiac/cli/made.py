"""Telling loadouts from what materiac itself has made of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Final

from materiac.cli.loading import UnreadableError
from materiac.pipeline import Text

_MADE: Final = (
    ({"format", "program"}, "a compiled machine: name the loadout that it was made from"),
    ({"certificate", "loadouts"}, "a certificate: name the loadout that it was written of"),
)
"""The keys by which they are known, and what is said then."""


def made_by_people(text: Text) -> Text:
    """A text that may be a loadout. Raises `UnreadableError` for a compiled machine and a certificate."""
    for keys, what in _candidates(text.raw):
        if _has(text.raw, keys):
            raise UnreadableError(f"'{text.name}' is {what}")
    return text


def _candidates(raw: bytes) -> Iterator[tuple[Collection[str], str]]:
    """What a text may be; most loadouts need not be read for this."""
    for keys, what in _MADE:
        if all(f'"{key}"'.encode() in raw for key in keys):
            yield keys, what


def _has(raw: bytes, keys: Collection[str]) -> bool:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and all(key in data for key in keys)
