"""Ways to write another value or key in a text, in the spelling of the one that stood there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from materiac.fixing.laying import value_text
from materiac.fixing.pieces import TextEdit
from materiac.json_print import quoted
from materiac.source import Document, Pointer

_TIME = re.compile(r"[0-9]+(?:ms|s|m)")


def ways(document: Document, at: Pointer, value: Any) -> Iterator[list[TextEdit]]:
    """Edits that may put a value, or a key, in the place of what is at a pointer."""
    place = document.spans.get(at)
    if place is None:
        return
    text = document.source.text
    old = text[place.start : place.end]
    for new in _spellings(old, value, document, place.start):
        yield [(place.start, place.end, new)]


def _spellings(old: str, value: Any, document: Document, start: int) -> Iterator[str]:
    if document.source.language == "dsl":
        yield from _in_dsl(old, value)
    yield value_text(document, value, start)


def _in_dsl(old: str, value: Any) -> Iterator[str]:
    from materiac.dsl_phrases import name  # noqa: PLC0415 - what is JSON does without the grammar

    if isinstance(value, str) and not old.startswith('"'):
        yield name(value)
        yield quoted(value)
    if isinstance(value, int) and _TIME.fullmatch(old):
        yield f"{value}ms"
