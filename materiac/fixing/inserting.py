"""Ways to write a new member or entry into JSON, or one that stood elsewhere, as those beside it are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from materiac.fixing.laying import padded, value_text
from materiac.fixing.pieces import TextEdit
from materiac.fixing.written import Around, around, extent
from materiac.json_print import quoted
from materiac.source import KEY, Document, Pointer, Span


class New(NamedTuple):
    """What is to be written: a value, or a text that stood elsewhere; with a key, if it is a member."""

    key: str | None
    value: Any
    text: str | None = None
    first: bool = False

    def within(self, container: str) -> New:
        """An object that has this as its only member, or a list that has it as its only entry."""
        inner = [self.value] if self.key is None else {self.key: self.value}
        if self.text is None:
            return New(container, inner)
        return New(container, inner, f"{{ {quoted(self.key or '')}: {self.text} }}")


def container(document: Document, at: Pointer, new: New) -> tuple[Pointer, New]:
    """Where something can be written, and what: with what has to stand around it and is not there yet."""
    while at and at not in document.spans:
        at, new = at[:-1], new.within(str(at[-1]))
    return at, new


def ways(document: Document, at: Pointer, new: New) -> Iterator[list[TextEdit]]:
    """Edits that may add to an object or a list that is written as JSON."""
    span = document.spans.get(at)
    text = around(document)
    if span is None or text.text[span.start : span.start + 1] not in ("{", "["):
        return
    parts = _parts(document, at)
    if not parts:
        bracket = text.text[span.start], text.text[span.end - 1]
        line = _member(document, new, ": ", span.start)
        space = padded(text.text) if bracket[0] == "{" else ""
        yield [(span.start, span.end, f"{bracket[0]}{space}{line}{space}{bracket[1]}")]
        return
    beside = parts[0] if new.first else parts[-1]
    line = _member(document, new, _colon(document, at), beside.start)
    between = _between(text, parts, beside)
    if new.first:
        yield [(beside.start, beside.start, f"{line},{between}")]
    else:
        yield [(beside.end, beside.end, f",{between}{line}")]


def _parts(document: Document, at: Pointer) -> list[Span]:
    """Of the members or entries of what is written at a pointer the first two and the last, in order."""
    keys = list(_keys(document, at))
    found = (extent(document, (*at, key)) for key in dict.fromkeys([*keys[:2], *keys[-1:]]))
    return sorted(span for span in found if span is not None)


def _keys(document: Document, at: Pointer) -> Iterable[str | int]:
    value: Any = document.data
    for part in at:
        value = value[part]
    return value if isinstance(value, dict) else range(len(value))


def _member(document: Document, new: New, colon: str, offset: int) -> str:
    value = new.text if new.text is not None else value_text(document, new.value, offset)
    return value if new.key is None else f"{quoted(new.key)}{colon}{value}"


def _colon(document: Document, at: Pointer) -> str:
    """What stands between the keys and the values of an object."""
    beside = (*at, next(iter(_keys(document, at))))
    key = document.spans.get((*beside, KEY))
    colon = document.source.text[key.end : document.spans[beside].start] if key is not None else ""
    return colon if colon.strip(" \t") == ":" else ": "


def _between(text: Around, parts: list[Span], beside: Span) -> str:
    """What stands behind the commas of an object: a line break and an indent, or spaces."""
    if text.begins_line(beside.start):
        return text.line_break + text.indent(beside.start)
    if len(parts) > 1 and not text.has_break(parts[0].end, parts[1].start):
        gap = text.bare[parts[0].end : parts[1].start]
        return gap.partition(",")[2]
    return " "
