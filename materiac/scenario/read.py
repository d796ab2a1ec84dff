"""From the text of a scenario file to scenarios that know where they stand, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from materiac import languages
from materiac.diagnostic import Finding, Located, Place, Severity
from materiac.misfit import found
from materiac.names import suggestion
from materiac.scenario.model import Kind, Part, Scenario, Status, Suite, Target
from materiac.source import KEY, Document, Language, Pointer, Span

ENDING: Final = languages.SCENARIO_ENDING

_CHOICES: Final = (*get_args(Kind), *get_args(Status))
_CONTAINERS: Final = frozenset({"import", "loadouts", "materia"})

_Model = TypeVar("_Model", bound=Part)

_EXPECTED: Final = {
    "string_type": "a string",
    "string_too_short": "a string that is not empty",
    "int_type": "a whole number",
    "float_type": "a number",
    "greater_than_equal": "a number of at least 0",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}


@dataclass(frozen=True)
class Placed:
    """A scenario, and where it stands: `at` in a document. `target` is its loadout, or that of its file."""

    scenario: Scenario
    document: Document
    at: Pointer
    target: Target

    @property
    def file(self) -> Path:
        return Path(self.document.source.name)

    def place(self, *loc: str | int) -> Place:
        """Where a part of the scenario stands, or the nearest one around it."""
        pointer = (*self.at, *written(_value(self.document.data, self.at), loc))
        return Place(self.document.source, self.document.span(pointer))


def read(name: str, raw: bytes) -> tuple[list[Placed], list[Located]]:
    """The scenarios of a file, those that are sound; every finding is an error."""
    source, document, findings = languages.read(name, raw, None)
    if document is None:
        return [], [Located(f, Place(source, f.at)) for f in findings if isinstance(f.at, Span)]
    return from_document(document)


def from_document(document: Document) -> tuple[list[Placed], list[Located]]:
    """The scenarios of a document, however its text was spelt."""
    placed: list[Placed] = []
    located: list[Located] = []
    suite, parts = _parts(document, located)
    for at, data in parts:
        scenario = _fit(Scenario, data, at, document, located)
        if scenario is not None:
            target = scenario.loadout or (suite.loadout if suite else None) or Target()
            placed.append(Placed(scenario, document, at, _own(target, at, document, located)))
    return placed, located


def findings_of(name: str, raw: bytes, language: Language | None) -> list[Located]:
    """What is wrong with the scenarios that stand in a file, alone or in a list, if they can be read."""
    _, document, _ = languages.read(name, raw, language)
    if document is None:
        return []
    if "scenarios" not in _object(document.data) and not languages.is_scenario(document):
        return []
    return from_document(document)[1]


def _holds_loadouts(data: Any) -> bool:
    return isinstance(data, dict) and not _CONTAINERS.isdisjoint(data)


def _own(target: Target, at: Pointer, document: Document, located: list[Located]) -> Target:
    """A loadout as it is seen from a file that has loadouts itself: what it names is looked for there."""
    if target.file is not None or not _holds_loadouts(document.data):
        return target
    name, loadouts = target.name, list(_object(document.data.get("loadouts")))
    if name is None and "activeLoadout" not in document.data and len(loadouts) > 1:
        words = f"the scenario names none of the loadouts {', '.join(map(repr, loadouts))}"
        advice = "'loadout' says which one it is about"
        located.append(_located(document, "unknown-loadout", words, (*at, "name"), advice))
    elif name is None and len(loadouts) == 1:
        name = loadouts[0]
    return Target(file=Path(document.source.name).name, name=name)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _parts(document: Document, located: list[Located]) -> tuple[Suite | None, list[tuple[Pointer, Any]]]:
    """What stands around the scenarios, and each of them with its place."""
    data = document.data
    if not isinstance(data, dict) or "scenarios" not in data:
        alone = document.source.language == "json"
        return None, [((), data)] if alone else []
    suite = _fit(Suite, _of_suite(data), (), document, located)
    listed = data["scenarios"]
    if not isinstance(listed, list):
        return suite, []
    if not listed:
        words = "found an empty list for 'scenarios', expected at least one entry"
        located.append(_located(document, "invalid-value", words, ("scenarios",)))
    return suite, [(("scenarios", index), part) for index, part in enumerate(listed)]


def _of_suite(data: dict[str, Any]) -> dict[str, Any]:
    """What a file says of its scenarios; a file of loadouts says other things too, which count elsewhere."""
    if not _holds_loadouts(data):
        return data
    keys = {field.alias or name for name, field in Suite.model_fields.items()}
    return {key: value for key, value in data.items() if key in keys}


def _fit(
    model: type[_Model], data: Any, at: Pointer, document: Document, located: list[Located]
) -> _Model | None:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        located += [_misfit(model, detail, data, at, document) for detail in error.errors(include_url=False)]
        return None


def _misfit(model: type[Part], detail: ErrorDetails, data: Any, at: Pointer, document: Document) -> Located:
    kind, loc = detail["type"], detail["loc"]
    pointer = (*at, *written(data, loc))
    if kind == "extra_forbidden":
        known = [field.alias or name for name, field in _model_at(model, loc[:-1]).model_fields.items()]
        key = str(loc[-1])
        words, advice = f"unknown key '{key}'", suggestion(key, known)
        return _located(document, "unknown-key", words, (*pointer, KEY), advice)
    if kind == "missing":
        what = "the scenario" if len(loc) == 1 else f"'{pointer[-1]}'"
        return _located(document, "invalid-value", f"{what} has no '{loc[-1]}'", pointer)
    if kind == "value_error":
        words = detail["msg"].removeprefix("Value error, ")
        return _located(document, "invalid-value", words, pointer)
    expected = _EXPECTED.get(kind) or detail["msg"].removeprefix("Input should be ")
    name = f" for '{pointer[-1]}'" if pointer and isinstance(pointer[-1], str) else ""
    words = f"found {found(detail['input'])}{name}, expected {expected}"
    near = suggestion(str(detail["input"]), _CHOICES) if kind == "literal_error" else None
    return _located(document, "invalid-value", words, pointer, near)


def _located(document: Document, rule: str, words: str, at: Pointer, advice: str | None = None) -> Located:
    finding = Finding(rule, Severity.ERROR, words, at, help=advice)
    return Located(finding, Place(document.source, document.span(at)))


def written(data: Any, loc: Sequence[str | int]) -> tuple[str | int, ...]:
    """A way through a model as a way through what was written: without the parts that shorthands left out."""
    return tuple(_written(data, loc))


def _written(data: Any, loc: Sequence[str | int]) -> Iterator[str | int]:
    for part in loc:
        keys: Any = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part in keys:
            yield part
            data = data[part]


def _value(data: Any, at: Pointer) -> Any:
    for part in at:
        data = data[part]
    return data


def _model_at(model: type[Part], loc: Sequence[str | int]) -> type[BaseModel]:
    """The model of the object that a way leads to."""
    at: Any = model
    for part in loc:
        at = _plain(at)
        if isinstance(at, type) and issubclass(at, BaseModel):
            fields = at.model_fields.items()
            at = next((f.annotation for name, f in fields if (f.alias or name) == part), None)
        else:
            at = get_args(at)[-1]
    at = _plain(at)
    return at if isinstance(at, type) and issubclass(at, BaseModel) else model


def _plain(annotation: Any) -> Any:
    """An annotation without `Annotated` and `| None`."""
    while get_origin(annotation) not in (None, list, dict):
        options = [option for option in get_args(annotation) if option is not NoneType]
        annotation = options[0]
    return annotation


def unknown_name(placed: Placed, name: str, known: Sequence[str], *loc: str | int) -> Located:
    """The finding that a scenario names a socket which its loadout does not have."""
    words = f"there is no socket '{name}' in the loadout"
    return _located(placed.document, "unknown-target", words, _named_at(placed, loc), suggestion(name, known))


def misplaced(placed: Placed, words: str, advice: str, *loc: str | int) -> Located:
    """The finding that something stands where it means nothing."""
    return _located(placed.document, "invalid-value", words, _named_at(placed, loc), advice)


def _named_at(placed: Placed, loc: Sequence[str | int]) -> Pointer:
    """Where a scenario names something: in the key of a member, in an entry of a list."""
    pointer = (*placed.at, *written(_value(placed.document.data, placed.at), loc))
    return (*pointer, KEY) if isinstance(loc[-1], str) else pointer
