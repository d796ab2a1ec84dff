"""New values, laid out as what stands around them is."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, Final

from materiac import json_print
from materiac.fixing.written import Around
from materiac.source import Document, Span

_WIDE: Final = re.compile(r'\{ +"')
_INDENT: Final = re.compile(r"^[ \t]+(?=\S)", re.MULTILINE)
_SAMPLE: Final = 20_000
"""So many characters show how a text is laid out."""

_TIGHT: Final = re.compile(r'\{"')


def value_text(document: Document, value: Any, offset: int) -> str:
    """A value as JSON, to stand at an offset of a text: on one line, or over lines with the indents there."""
    if not isinstance(value, dict | list):
        return json_print.quoted(value) if isinstance(value, str) else json.dumps(value)
    text = Around(document.source.text, document.source.text)
    lines = json_print.value(value, 0, 0)
    if "\n" not in lines:
        return lines if _is_wide(text.text) else json.dumps(value, ensure_ascii=False)
    step, base = unit(document), text.indent(offset)
    first, *rest = lines.split("\n")
    return text.line_break.join([first, *(base + _indented(line, step) for line in rest)])


def _indented(line: str, step: str) -> str:
    bare = line.lstrip(" ")
    return step * ((len(line) - len(bare)) // 2) + bare


def _is_wide(text: str) -> bool:
    """Whether objects on one line have spaces within their braces."""
    return _sample_is_wide(text[:_SAMPLE])


@functools.lru_cache(maxsize=16)
def _sample_is_wide(sample: str) -> bool:
    return len(_WIDE.findall(sample)) >= len(_TIGHT.findall(sample))


def padded(text: str) -> str:
    """What stands within the braces of an object on one line."""
    return " " if _is_wide(text) else ""


def moved(document: Document, place: Span, target: str) -> str:
    """A text that stands at a place, to stand where lines are indented by `target`."""
    text = Around(document.source.text, document.source.text)
    old = text.indent(place.start)
    pattern = re.compile(rf"(\r\n|\r|\n){re.escape(old)}(?=[^\r\n])")
    return pattern.sub(lambda match: match[1] + target, text.text[place.start : place.end])


def unit(document: Document) -> str:
    """What a level of a text is indented by: the least indent that there is."""
    return _unit(document.source.text[:_SAMPLE])


@functools.lru_cache(maxsize=16)
def _unit(sample: str) -> str:
    indents = {match[0] for match in _INDENT.finditer(sample)}
    return min(indents, key=len, default="  ")
