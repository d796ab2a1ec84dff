"""Files on top of one another, as one set of data that remembers which file each part came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from materiac.diagnostic import Bilingual, Finding, Fix, Place, Severity
from materiac.fixes import renamed
from materiac.model import SOURCES, kind_of
from materiac.names import suggestion
from materiac.source import KEY, Document, Pointer, Span

_MERGED_BY_FIELD: Final = ("budget", "limits", "parallelism", "agents", "recovery", "eventing")

Fields = dict[str, Any]


@dataclass(frozen=True)
class Layered:
    """Merged data. A pointer into it is also the pointer into the document that wrote the value.

    The first `shipped` of the documents come with the package.
    """

    data: Any
    documents: tuple[Document, ...]
    shipped: int = 0

    @property
    def top(self) -> Document:
        return self.documents[-1]

    def place(self, at: Pointer | Span, document: Document | None = None) -> Place:
        """Where something stands: in `document`, else in the owner of a pointer or the top for a span."""
        if isinstance(at, Span):
            return Place((document or self.top).source, at)
        document = document or self.documents[self.owner(at)]
        return Place(document.source, document.span(at))

    def owner(self, pointer: Pointer) -> int:
        """The index of the document that wrote a value, or, where there is none, the value around it."""
        path = pointer[: _depth(self.data, pointer)]
        last = len(self.documents) - 1
        return next(i for i in range(last, -1, -1) if _depth(self.documents[i].data, path) == len(path))

    def written(self, fix: Fix, at: Pointer | Span) -> Fix | None:
        """A fix with pointers into the text that `at` is in; None where it is about others too."""
        owner = self.owner(at) if not isinstance(at, Span) else len(self.documents) - 1
        if any(self.owner(edit.at) != owner for edit in fix.edits):
            return None
        document = self.documents[owner]
        return fix._replace(edits=tuple(edit._replace(at=document.written(edit.at)) for edit in fix.edits))

    def is_unnamed(self, materia: str) -> bool:
        """Whether a materia was made out of what a socket carries itself."""
        return _is_unnamed(self.documents[self.owner(("materia", materia))], materia)


def _is_unnamed(document: Document, materia: str) -> bool:
    return "sockets" in document.moved.get(("materia", materia), ())[:-1]


def _depth(data: Any, pointer: Pointer) -> int:
    """How many parts of a pointer lead to something."""
    for depth, part in enumerate(pointer):
        keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part not in keys:
            return depth
        data = data[part]
    return len(pointer)


@dataclass(frozen=True, slots=True)
class Again:
    """A loadout that was run, to be found once more: as it was called, by name and by id.

    One that ships with the package is only meant if it is `shipped`: nobody runs one without naming it.
    """

    name: str
    id: str | None = None
    shipped: bool = False


def merge(documents: Sequence[Document], shipped: int = 0) -> Layered:
    """Lay documents over one another, lowest first. They have been normalised; `null` takes away."""
    data: Any = {}
    for document in documents:
        data = over(data, document)
    return Layered(data, tuple(documents), shipped)


def over(lower: Any, document: Document) -> Any:
    """The data of a document laid over merged data; neither is changed."""
    upper = document.data
    if not isinstance(upper, dict):
        return upper
    lower = _object(lower)
    merged = {**lower, **upper}
    for key in upper.keys() & {"materia", "loadouts", *_MERGED_BY_FIELD}:
        if isinstance(upper[key], dict):
            merged[key] = _part_over(key, _object(lower.get(key)), document)
    return merged


def _object(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def _part_over(key: str, lower: Fields, document: Document) -> Fields:
    upper: Fields = document.data[key]
    if key == "loadouts":
        return {**lower, **{name: _loadout_over(lower.get(name), value) for name, value in upper.items()}}
    if key == "materia":
        return _all_materia_over(lower, document)
    return {**lower, **upper}


def _loadout_over(lower: Any, upper: Any) -> Any:
    laid_over = isinstance(lower, dict) and isinstance(upper, dict) and "sockets" not in upper
    return {**lower, **upper} if laid_over else upper


def _all_materia_over(lower: Fields, document: Document) -> Fields:
    merged = dict(lower)
    for name, fields in document.data["materia"].items():
        if fields is None:
            merged.pop(name, None)
        elif not isinstance(fields, dict):
            merged[name] = fields
        else:
            below = {} if _is_unnamed(document, name) else _object(merged.get(name))
            merged[name] = _materia_over(below, fields)
    return merged


def _materia_over(lower: Fields, upper: Fields) -> Fields:
    kind = kind_of(upper)
    if kind is not None and kind != (kind_of(lower) or "agent"):
        lower = {}
    if any(upper.get(source) is not None for source in SOURCES):
        lower = {key: value for key, value in lower.items() if key not in SOURCES}
    return {key: value for key, value in {**lower, **upper}.items() if value is not None}


def choose(layered: Layered, asked: str | Again | None) -> tuple[str | None, list[Finding]]:
    """Which loadout runs: the one `asked` for by name or id, else what the topmost file says that can.

    What was asked for and is not there is reported at the empty pointer.
    """
    if isinstance(asked, Again):
        return _again(layered, asked)
    loadouts = layered.data.get("loadouts", {}) if isinstance(layered.data, dict) else None
    if not isinstance(loadouts, dict):
        return None, []
    if asked is not None:
        return _find(loadouts, asked, ())
    for document in reversed(layered.documents[layered.shipped :]):
        data = _object(document.data)
        said = data.get("activeLoadout")
        if said is not None:
            return _find(loadouts, said, ("activeLoadout",)) if isinstance(said, str) else (None, [])
        if own := _object(data.get("loadouts")):
            return _only(own)
    advice = f"name a file, or one of these with '--loadout': {_listed(loadouts)}" if loadouts else None
    return None, [_unknown("nothing says which loadout is meant", (), advice)]


def _again(layered: Layered, was: Again) -> tuple[str | None, list[Finding]]:
    """A loadout that was run: by its name, else by its id, else the only one of the topmost file with any."""
    own = [_object(_object(part.data).get("loadouts")) for part in layered.documents[layered.shipped :]]
    loadouts = _object(_object(layered.data).get("loadouts"))
    known = {name: loadouts[name] for part in own for name in part if name in loadouts}
    among = loadouts if was.shipped else known
    found = (_named(among, asked) for asked in (was.name, was.id) if asked is not None)
    name = next(filter(None, found), None)
    only = next(filter(None, reversed(own)), {})
    if name is None and len(only) == 1:
        name = next(iter(only.keys() & known), None)
    if name is not None:
        return name, []
    words = f"loadout '{was.name}' is not there any more"
    return None, [_unknown(words, (), _listed(known) or None)]


def _named(loadouts: Fields, asked: str) -> str | None:
    by_id = (name for name, value in loadouts.items() if _object(value).get("id") == asked)
    return asked if asked in loadouts else next(by_id, None)


def _find(loadouts: Fields, asked: str, at: Pointer) -> tuple[str | None, list[Finding]]:
    name = _named(loadouts, asked)
    if name is not None:
        return name, []
    known = f"known loadouts: {_listed(loadouts)}" if loadouts else "there is none"
    fix = renamed(asked, loadouts, at) if at else None
    return None, [_unknown(f"there is no loadout '{asked}'", at, suggestion(asked, loadouts) or known, fix)]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _only(loadouts: Fields) -> tuple[str | None, list[Finding]]:
    if len(loadouts) == 1:
        return next(iter(loadouts)), []
    words = f"nothing says which of the loadouts {_listed(loadouts)} runs"
    return None, [_unknown(words, ("loadouts", KEY), _ACTIVE)]


_ACTIVE: Final = Bilingual(
    "name it in 'activeLoadout' or with '--loadout'", "name it with 'active' or with '--loadout'"
)


def _unknown(message: str, at: Pointer, advice: str | Bilingual | None, fix: Fix | None = None) -> Finding:
    return Finding("unknown-loadout", Severity.ERROR, message, at, help=advice, fix=fix)
