"""Merged data to a model, part by part, so that one broken part hides no other.

What is wrong is reported once; then it is left out, so that the rules can still look at the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from materiac.diagnostic import Finding, Fix, Related, Severity
from materiac.layers import Layered
from materiac.misfit import Loc, found, misfits
from materiac.model import AgentMateria, Frame, Loadout, Materia, Node, UtilityMateria, kind_of
from materiac.names import fault
from materiac.source import KEY, Pointer, Span

_CONTAINERS: Final = ("loadouts", "materia")
_MAX_PASSES: Final = 16

Fields = dict[str, Any]
_Model = TypeVar("_Model", bound=Node)


@dataclass(frozen=True, slots=True)
class Shaped:
    """The parts that could be made, without what was wrong with them.

    `dropped` points to what was left out. Where an entry of a list was, later entries moved up in the
    model: `kept` has the entries that are left, and `written` leads back to the data.
    """

    frame: Frame
    loadouts: Mapping[str, Loadout] = field(default_factory=dict)
    materia: Mapping[str, Materia] = field(default_factory=dict)
    known_materia: frozenset[str] = frozenset()
    known_loadouts: frozenset[str] = frozenset()
    dropped: frozenset[Pointer] = frozenset()
    kept: Mapping[Pointer, tuple[int, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def written(self, finding: Finding) -> Finding:
        """A finding on the model as a finding on the data: the same, but for lists with entries left out."""
        if not self.kept:
            return finding
        related = tuple(Related(self._at(other.at), other.message) for other in finding.related)
        return finding._replace(at=self._at(finding.at), related=related, fix=self._fix(finding.fix))

    def _fix(self, fix: Fix | None) -> Fix | None:
        if fix is None:
            return None
        return fix._replace(
            edits=tuple(edit._replace(at=_original(self.kept, edit.at)) for edit in fix.edits)
        )

    def _at(self, at: Pointer | Span) -> Pointer | Span:
        return at if isinstance(at, Span) else _original(self.kept, at)


def _original(kept: Mapping[Pointer, tuple[int, ...]], pointer: Pointer) -> Pointer:
    result: Pointer = ()
    for part in pointer:
        entries = kept.get(result, ())
        result = (*result, entries[part] if isinstance(part, int) and part < len(entries) else part)
    return result


def shape(layered: Layered, loadouts: Collection[str], materia: Collection[str] = ()) -> Shaped:
    """Make the frame, what is asked for, and the materia that it uses or the top file has."""
    if not isinstance(layered.data, dict):
        return Shaped(Frame(), findings=(_wrong(f"found {found(layered.data)}, expected an object", ()),))
    shaping = _Shaping()
    known = {key: shaping.container(layered.data, key) for key in _CONTAINERS}
    asked = {name: value for name, value in known["loadouts"].items() if name in loadouts}
    used = _used(asked.values()) | _own_materia(layered) | set(materia)
    made_of = {name: value for name, value in known["materia"].items() if name in used}
    rest = {key: value for key, value in layered.data.items() if key not in _CONTAINERS}
    frame = shaping.fit(Frame, rest, ())
    made = shaping.loadouts(asked), shaping.materia(made_of, layered)
    return Shaped(
        frame or Frame(),
        *made,
        known_materia=frozenset(known["materia"]),
        known_loadouts=frozenset(known["loadouts"]),
        dropped=frozenset(shaping.dropped),
        kept=shaping.kept,
        findings=tuple(shaping.findings),
    )


def _wrong(message: str, at: Pointer) -> Finding:
    return Finding("invalid-value", Severity.ERROR, message, at)


def _used(loadouts: Iterable[Any]) -> set[str]:
    sockets = (socket for loadout in loadouts for socket in _object(_object(loadout).get("sockets")).values())
    names = (_object(socket).get("materia") for socket in sockets)
    return {name for name in names if isinstance(name, str)}


def _object(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def _own_materia(layered: Layered) -> set[str]:
    return set(_object(_object(layered.top.data).get("materia")))


@dataclass
class _Shaping:
    """What is gathered on the way."""

    findings: list[Finding] = field(default_factory=list)
    dropped: set[Pointer] = field(default_factory=set)
    kept: dict[Pointer, tuple[int, ...]] = field(default_factory=dict)

    def container(self, data: Fields, key: str) -> Fields:
        value = data.get(key, {})
        if not isinstance(value, dict):
            self.findings.append(_wrong(f"found {found(value)} for '{key}', expected an object", (key,)))
            self.dropped.add((key,))
        return _object(value)

    def loadouts(self, asked: Fields) -> dict[str, Loadout]:
        made = {}
        for name, value in asked.items():
            at = ("loadouts", name)
            self.name("loadout", at, spaces=True)
            for socket in _object(_object(value).get("sockets")):
                self.name("socket", (*at, "sockets", socket), spaces=False)
            made[name] = self.fit(Loadout, value, at)
        return {name: loadout for name, loadout in made.items() if loadout is not None}

    def materia(self, asked: Fields, layered: Layered) -> dict[str, Materia]:
        made: dict[str, Materia | None] = {}
        for name, value in asked.items():
            at = ("materia", name)
            if not layered.is_unnamed(name):
                self.name("materia", at, spaces=True)
            if kind_of(_object(value)) == "utility":
                made[name] = self.fit(UtilityMateria, value, at)
            else:
                made[name] = self.fit(AgentMateria, value, at)
        return {name: materia for name, materia in made.items() if materia is not None}

    def name(self, what: str, at: Pointer, *, spaces: bool) -> None:
        wrong = fault(str(at[-1]), spaces=spaces)
        if wrong is not None:
            message = f"{what} name '{at[-1]}' {wrong}"
            self.findings.append(Finding("invalid-name", Severity.ERROR, message, (*at, KEY)))

    def fit(self, model: type[_Model], value: Any, at: Pointer) -> _Model | None:
        """Make a part; without what is wrong with it, where it can do without."""
        for attempt in range(_MAX_PASSES):
            try:
                return model.model_validate(value)
            except ValidationError as error:
                wrong = misfits(model, error, at, value)
            if attempt == 0:
                self.findings += [misfit.finding for misfit in wrong]
            if any(misfit.culprit == () for misfit in wrong):
                break
            value = self._without(_tree(misfit.culprit for misfit in wrong), value, at)
        self.dropped.add(at)
        return None

    def _without(self, culprits: _Tree, value: Any, at: Pointer) -> Any:
        if isinstance(value, dict):
            return dict(self._remaining(culprits, value.items(), at, {}))
        if isinstance(value, list):
            entries = self.kept.get(at, tuple(range(len(value))))
            left = list(self._remaining(culprits, enumerate(value), at, dict(enumerate(entries))))
            self.kept[at] = tuple(entries[index] for index, _ in left)
            return [entry for _, entry in left]
        return value

    def _remaining(
        self, culprits: _Tree, members: Iterable[tuple[Any, Any]], at: Pointer, written: Mapping[int, int]
    ) -> Iterator[tuple[Any, Any]]:
        for key, value in members:
            pointer = (*at, written.get(key, key))
            below = culprits.get(key)
            if below is None:
                yield key, value
            elif below:
                yield key, self._without(below, value, pointer)
            else:
                self.dropped.add(pointer)


class _Tree(dict[str | int, "_Tree"]):
    """Ways through a value, by their first part; an empty tree is the end of a way."""


def _tree(ways: Iterable[Loc]) -> _Tree:
    """Ways as a tree; what lies below the end of another way is not in it."""
    root = _Tree()
    for way in sorted(ways, key=len, reverse=True):
        node = root
        for part in way:
            node = node.setdefault(part, _Tree())
        node.clear()
    return root
