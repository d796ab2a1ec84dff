"""What an editor offers at a cursor: names, keys, words of the language, in a text that may be half typed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from materiac import json_print, languages
from materiac.lsp import members, roles
from materiac.lsp.early import pointer_today
from materiac.lsp.json_place import Place as JsonPlace
from materiac.lsp.json_place import json_place
from materiac.lsp.known import Known, Role
from materiac.lsp.mentions import by_id
from materiac.source import Pointer, Source, Span

Kind = Literal["name", "key", "word", "value", "reference"]

MOST: Final = 200
"""So many offers are made at once; of more, those that fit what is typed."""

_TYPED: Final = re.compile(r"""[\s"]*([^"\s]*)""")
_REFERENCE: Final = re.compile(r"\{\{[ \t]*([^{}\r\n]*)\Z")
_REFERENCE_END: Final = re.compile(r"[\w.-]*")


class Offer(NamedTuple):
    """What may stand at the cursor: its name, the text that is written, what kind it is, words on it."""

    label: str
    text: str
    kind: Kind
    about: str = ""


@dataclass(frozen=True)
class Offers:
    """All offers at a cursor, and the range that they replace; `whole` is false where there are more."""

    span: Span
    offers: tuple[Offer, ...]
    whole: bool = True


_NONE: Final = Offers(Span(0, 0), ())


def offers(source: Source, offset: int, known: Known) -> Offers:
    """What may stand at an offset of a text."""
    if source.language == "json":
        place = json_place(source.text, offset)
        return (
            _NONE if place is None else _kept(source.text, offset, *in_json(source, offset, place, (), known))
        )
    from materiac.lsp.dsl_offers import in_dsl  # noqa: PLC0415 - what is JSON does without the grammar

    return _kept(source.text, offset, *in_dsl(source, offset, known))


def _kept(text: str, offset: int, span: Span, found: Iterable[Offer]) -> Offers:
    """The offers that fit what is typed, as editors see it: its letters come in the name, in this order."""
    match = _TYPED.match(text, span.start, max(offset, span.start))
    typed = (match[1] if match else "").casefold()
    several = {offer.label: offer for offer in reversed(list(found))}
    fitting = [offer for offer in reversed(several.values()) if _fits(typed, offer.label.casefold())]
    fitting.sort(key=lambda offer: not offer.label.casefold().startswith(typed))
    return Offers(span, tuple(fitting[:MOST]), len(fitting) <= MOST)


def _fits(typed: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in typed.lstrip("@"))


def in_json(
    source: Source, offset: int, place: JsonPlace, base: Pointer, known: Known
) -> tuple[Span, Iterable[Offer]]:
    """The offers at a place in JSON that stands at `base` of the file."""
    pointer = pointer_today((*base, *place.pointer))
    guide, below = guide_of(source, pointer)
    if place.is_key:
        colon = "" if place.has_value else ": "
        return place.span, _keys(guide, below, place, colon, named(roles.of_key(below), pointer, known))
    if place.string is not None and _is_prompt(pointer):
        return of_template(source.text, offset, place.string, pointer, known)
    role = roles.of_value(pointer)
    names = (Offer(n, json_print.quoted(n), "name", about) for n, about in named(role, pointer, known))
    values = (_value(choice) for choice in guide.choices(below, _present(place)))
    return place.span, [*names, *values]


def _present(place: JsonPlace) -> frozenset[str]:
    last = place.pointer[-1:] if place.pointer and isinstance(place.pointer[-1], str) else ()
    return place.keys | {str(part) for part in last}


def _is_prompt(pointer: Pointer) -> bool:
    return len(pointer) == 3 and pointer[0] == "materia" and pointer[2] == "prompt"


def guide_of(source: Source, pointer: Pointer) -> tuple[members.Guide, Pointer]:
    """What says which members an object has, and the pointer as it counts there."""
    if pointer[:1] == ("scenarios",) and len(pointer) > 1:
        return members.of_scenarios(), pointer[2:]
    if source.name.endswith(languages.SCENARIO_ENDING) and pointer[:1] != ("scenarios",):
        return members.of_scenarios(), pointer
    return members.of_loadouts(), pointer


def _keys(
    guide: members.Guide,
    below: Pointer,
    place: JsonPlace,
    colon: str,
    names: Iterable[tuple[str, str]],
) -> Iterator[Offer]:
    for name, about in names:
        if name not in place.keys:
            yield Offer(name, json_print.quoted(name) + colon, "name", about)
    for key, meaning in guide.keys(below, place.keys).items():
        yield Offer(key, json_print.quoted(key) + colon, "key", meaning)


def _value(choice: Any) -> Offer:
    written = json.dumps(choice)
    return Offer(choice if isinstance(choice, str) else written, written, "value")


def named(role: Role | None, pointer: Pointer, known: Known) -> list[tuple[str, str]]:
    """The names for a role at a pointer."""
    if role is None:
        return []
    parts = [*map(str, pointer), "", "", "", ""]
    loadout = parts[1] if parts[0] == "loadouts" else _about(pointer, known)
    loop = parts[3] if parts[2] == "loops" else None
    return [(name.name, name.about) for name in known.names(role, loadout, loop)]


def _about(pointer: Pointer, known: Known) -> str | None:
    """The loadout that a scenario is about, as far as it is of the same file."""
    data = known.data if isinstance(known.data, dict) else {}
    owners = (
        [_item(data.get("scenarios"), pointer[1])] if pointer[:1] == ("scenarios",) and pointer[1:] else []
    )
    named = [owner.get("loadout") for owner in [*owners, data] if isinstance(owner, dict)]
    for name in [*named, data.get("activeLoadout")]:
        if isinstance(name, str):
            return by_id(data, name)
    loadouts = data.get("loadouts")
    return next(iter(loadouts), None) if isinstance(loadouts, dict) else None


def _item(values: Any, index: object) -> Any:
    inside = isinstance(values, list) and isinstance(index, int) and index < len(values)
    return values[index] if inside else None


def of_template(
    text: str, offset: int, string: str, pointer: Pointer, known: Known
) -> tuple[Span, Iterable[Offer]]:
    """The references that may stand in a prompt, where double braces are open at the cursor."""
    match = _REFERENCE.search(string)
    if match is None:
        return Span(offset, offset), ()
    end = _REFERENCE_END.match(text, offset)
    span = Span(offset - len(match[1]), end.end() if end else offset)
    closing = "" if re.match(r"[ \t]*\}\}", text[span.end : span.end + 8]) else "}}"
    loadout = _user(pointer, known)
    found = known.names("reference", loadout)
    return span, [Offer(name, name + closing, "reference", about) for name, about in found]


def _user(pointer: Pointer, known: Known) -> str | None:
    """A loadout with a socket of the materia that a pointer leads to."""
    loadouts = known.data.get("loadouts") if isinstance(known.data, dict) else None
    for name, loadout in loadouts.items() if isinstance(loadouts, dict) else ():
        sockets = loadout.get("sockets") if isinstance(loadout, dict) else None
        uses = sockets.values() if isinstance(sockets, dict) else ()
        if any(isinstance(socket, dict) and socket.get("materia") == pointer[1] for socket in uses):
            return str(name)
    return None
