"""Ways to write something new as a statement, or as a part of one."""

from __future__ import annotations

from collections.abc import Iterator

from materiac import dsl_layout, dsl_print, dsl_text
from materiac.dsl_phrases import name
from materiac.fixing.inserting import New
from materiac.fixing.laying import unit
from materiac.fixing.pieces import TextEdit
from materiac.fixing.written import Around, around
from materiac.source import KEY, Document, Pointer, Span


def ways(document: Document, at: Pointer, new: New) -> Iterator[list[TextEdit]]:
    """Edits that may add a statement to what is at a pointer, or to the file."""
    words = _words(at, new)
    text, span = around(document), document.spans.get(at)
    if words is None or not words:
        return
    match at:
        case () | (_,) if at not in document.spans or not at:
            yield [_at_the_end(text, words)]
        case ("loadouts" | "materia",) if span is not None:
            yield [_behind(text, span, words)]
        case ("loadouts", _) if span is not None:
            yield [_at_the_start(document, text, at, words)]
        case ("materia", _) | ("loadouts", _, "loops", _) | (_,) if span is not None:
            yield from ([edit] for edit in _within(document, text, span, words))
        case ("loadouts", _, "sockets" | "loops", _, "edges" | "exits") if span is not None:
            yield from ([edit] for edit in _below(text, document.spans[_last(document, at)], words))
        case ("loadouts", _, "sockets", _, "edges", _) if span is not None:
            yield [_beside_target(document, at, span, words, new)]
        case ("loadouts", _, "sockets", _, *_):
            yield from ([edit] for edit in _of_socket(document, text, at[:4], words, new))


def _words(at: Pointer, new: New) -> str | None:
    """What is new as a statement; what stood elsewhere as the JSON that it was."""
    if new.text is None:
        return dsl_print.statement(at, new.key or "", new.value)
    if at in (("loadouts",), ("materia",)) and new.key is not None:
        return f"{str(at[0]).removesuffix('s')} {name(new.key)} = {new.text}"
    return f"@{name(new.key)} {new.text}" if at == () and new.key is not None else None


def _laid_out(words: str, line_break: str) -> str:
    tree, _ = dsl_text.parse(words)
    lines = dsl_layout.laid_out(words, tree).rstrip("\n") if tree is not None else words
    return lines.replace("\n", line_break)


def _at_the_end(text: Around, words: str) -> TextEdit:
    end = len(text.text.rstrip())
    return end, end, (text.line_break * 2 if end else "") + _laid_out(words, text.line_break)


def _behind(text: Around, span: Span, words: str) -> TextEdit:
    """A statement behind others of its kind."""
    lines = _laid_out(words, text.line_break)
    apart = text.line_break if "\n" in lines or text.has_break(*span) else ""
    end = text.line_end(span.end)
    return end, end, text.line_break + apart + lines


def _last(document: Document, at: Pointer) -> Pointer:
    """The pointer to the last entry of a list."""
    index = 0
    while (*at, index + 1) in document.spans:
        index += 1
    return (*at, index)


def _below(text: Around, beside: Span, words: str) -> Iterator[TextEdit]:
    """An entry in a line below another one, behind the comment there; else right behind it."""
    if text.begins_line(beside.start):
        end = text.line_end(beside.end)
        if not text.bare[beside.end : end].strip(" \t"):
            yield end, end, text.line_break + text.indent(beside.start) + words
        yield beside.end, beside.end, text.line_break + text.indent(beside.start) + words
    yield beside.end, beside.end, f" {words}"


def _within(document: Document, text: Around, span: Span, words: str) -> Iterator[TextEdit]:
    """A part of what has braces: before the closing one, else behind the opening one; or in new braces."""
    if not text.text[span.start : span.end].endswith("}"):
        yield span.end, span.end, f" {{ {words} }}"
        return
    closing = span.end - 1
    if text.begins_line(closing):
        line, indent = text.line_start(closing), text.indent(closing)
        yield line, line, indent + unit(document) + words + text.line_break
    else:
        end = text.skipped_back(closing)
        yield end, end, f" {words}" if text.text[end - 1] == "{" else f"  {words}"
    opening = text.bare.index("{", span.start) + 1
    yield opening, opening, f" {words} "


def _at_the_start(document: Document, text: Around, at: Pointer, words: str) -> TextEdit:
    """A statement before all others of a loadout, behind the comment at the brace."""
    opening = text.bare.index("{", document.spans[(*at, KEY)].end) + 1
    if not text.has_break(opening, text.skipped(opening)):
        return opening, opening, f" {words}"
    end = text.line_end(opening)
    return end, end, text.line_break + text.indent(document.spans[at].start) + unit(document) + words


def _beside_target(document: Document, at: Pointer, span: Span, words: str, new: New) -> TextEdit:
    if new.key == "when":
        arrow = document.spans[(*at, "to", KEY)].start
        return arrow, arrow, f"{words} "
    end = document.spans[(*at, "to")].end if new.key == "maxTraversals" else span.end
    return end, end, f" {words}"


def _of_socket(document: Document, text: Around, at: Pointer, words: str, new: New) -> Iterator[TextEdit]:
    """A part of a socket: edges at its end, all else behind its materia and how the output is read."""
    span = document.spans[at]
    if new.key == "edges":
        lines = words.split("\n")
        indent = text.line_break + text.indent(span.start) + unit(document)
        yield span.end, span.end, f" {words}" if len(lines) == 1 else "".join(indent + line for line in lines)
        return
    head = document.spans.get((*at, "materia"))
    if head is None:
        colon = text.bare.index(":", document.spans[(*at, KEY)].end) + 1
        yield colon, colon, f" {words}"
        return
    parse = document.spans.get((*at, "parse"))
    beside = parse is not None and text.skipped(head.end) == parse.start
    end = parse.end if parse is not None and beside else head.end
    yield end, end, f" {words}"
