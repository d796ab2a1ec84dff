"""What may stand at a cursor in a text of the language: names by the words before, words by the grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from materiac import dsl_phrases, dsl_text, json_print
from materiac.lsp import members, roles
from materiac.lsp.dsl_frames import Frame
from materiac.lsp.dsl_place import Place, dsl_place
from materiac.lsp.json_place import json_place
from materiac.lsp.known import Known
from materiac.lsp.offers import Offer, in_json, named, of_template
from materiac.model import EDITOR_KEYS
from materiac.source import Pointer, Source, Span

_NAMES: Final = frozenset({"WORD", "STRING"})
_VALUES: Final = {"PARSE": ("text", "json"), "HANDOFF": ("text", "schema", "tool")}


def in_dsl(source: Source, offset: int, known: Known) -> tuple[Span, Iterable[Offer]]:
    """The range that is replaced, and the offers."""
    place = dsl_place(source.text, offset)
    if place is None:
        return Span(offset, offset), ()
    pointer = _pointer(place)
    if place.json is not None:
        inside = json_place(source.text, offset, place.json)
        return (place.span, ()) if inside is None else in_json(source, offset, inside, pointer, known)
    if place.string is not None and place.types[-1:] == ("PROMPT",) and place.frames[-1].kind == "materia":
        return of_template(source.text, offset, place.string, pointer, known)
    return place.span, _offers(source, place, pointer, known)


def _pointer(place: Place) -> Pointer:
    """Where in the value of the file the innermost block is that is no JSON; or where its JSON stands."""
    pointer: Pointer = ()
    for frame in place.frames[1:]:
        if frame.kind == "json":
            return (*pointer, *_of_json(frame))
        pointer = (*pointer, *_of_block(frame))
    return pointer


def _of_block(frame: Frame) -> Pointer:
    match frame.kind:
        case "loadout" | "materia":
            return ("loadouts" if frame.kind == "loadout" else "materia", frame.word(1))
        case "loop" | "members":
            return ("loops", frame.word(1)) if frame.word(0) == "loop" else ()
        case "section":
            return (frame.word(0),)
        case "scenario":
            return ("scenarios", frame.index)
    return ()


def _of_json(frame: Frame) -> Pointer:
    """The keys that lead to JSON from the block around it."""
    words = [piece.text for piece in frame.head[:-1]]
    if words and words[-1].startswith("@"):
        return (words[-1][1:].strip('"'),)
    if words[-1:] == ["="] and len(words) > 2 and words[0] in ("loadout", "materia"):
        return ("loadouts" if words[0] == "loadout" else "materia", words[1].strip('"'))
    if words[-1:] == ["="] and len(words) > 1:
        return ("sockets", words[-2].strip('"'))
    return ("properties", 0) if words[-1:] == ["property"] else tuple(words[-1:])


def _offers(source: Source, place: Place, pointer: Pointer, known: Known) -> Iterator[Offer]:
    kind = place.frames[-1].kind
    expected = place.expected
    quoted = place.string is not None
    if expected is None or expected & _NAMES or kind == "answers":
        yield from _names(kind, place, pointer, known, quoted=quoted)
    if quoted or expected is None:
        return
    if kind == "section" and place.frames[-1].count % 2 == 0:
        keys = members.of_loadouts().keys(pointer, _written(place.frames[-1]))
        yield from (Offer(key, key, "key", meaning) for key, meaning in keys.items())
    if source.text.startswith("@", place.span.start):
        yield from _attributes() if "ATTRIBUTE" in expected else ()
        return
    keywords = dsl_text.keywords()
    for terminal in sorted(expected & keywords.keys(), key=lambda terminal: keywords[terminal]):
        yield Offer(keywords[terminal], keywords[terminal], "word")


def _names(kind: str, place: Place, pointer: Pointer, known: Known, *, quoted: bool) -> Iterator[Offer]:
    spell = json_print.quoted if quoted else dsl_phrases.name
    last = place.types[-1] if place.types else ""
    for value in _VALUES.get(last, ()) if kind == "materia" else ():
        yield Offer(value, spell(value), "value")
    starts = kind == "answers" and place.expected is not None and "SOCKET_ID" in place.expected
    role = roles.of_words(kind, ("LBRACE",) if starts else place.types)
    for name, about in named(role, pointer, known):
        yield Offer(name, spell(name) + (": " if starts else ""), "name", about)


def _written(frame: Frame) -> list[str]:
    return [piece.text.strip('"') for piece in frame.statement[::2]]


def _attributes() -> Iterator[Offer]:
    for key in sorted({*EDITOR_KEYS, "id", "x-materiac"} - set(dsl_text.keywords().values())):
        yield Offer(f"@{key}", f"@{dsl_phrases.name(key)}", "key")
