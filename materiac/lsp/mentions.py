"""Where a document names its sockets, materia and loops: the value of a file, walked with pointers.

The value may be of any shape: what is not as it should be names nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from materiac.lsp.early import ROLES, written_loadouts
from materiac.path import ROOTS, WORK_ITEMS
from materiac.source import KEY, Pointer

Kind = Literal["socket", "materia", "loop", "loadout", "list", "file"]

_PROPERTY_SOCKETS: Final = ("never", "before", "passes", "after every", "comes", "of")
_PROPERTY_PAIRS: Final = ("every path", "between")
_LOOP_ENDS: Final = (("consumes", "from"), ("iterator", "done"), ("exit", "from"), ("exit", "to"))
_OUTPUT: Final = "workItems"
_EXIT_ENDS: Final = ("from", "targetSocketId")


class Mention(NamedTuple):
    """A name that is written: what it names, in which loadout, where; whether it is given its meaning there.

    `at` points to a value, or to a key. `part` is what the name is within a longer text.
    """

    kind: Kind
    loadout: str | None
    name: str
    at: Pointer
    defines: bool = False
    part: bool = False


def mentions(data: Any) -> Iterator[Mention]:
    """All names in the value of a document."""
    for index, path in enumerate(_list(data, "import")):
        yield from _named("file", None, path, ("import", index))
    active = _get(data, "activeLoadout")
    yield from _named("loadout", None, _meant(data, active), ("activeLoadout",))
    hidden = _object(data, "materia").keys()
    for key in ("materia", ROLES):
        for name in _object(data, key):
            defines = key == "materia" or name not in hidden
            yield Mention("materia", None, name, (key, name, KEY), defines)
    for name in _object(_get(data, "agents"), "materia"):
        yield Mention("materia", None, name, ("agents", "materia", name, KEY))
    for at, loadout in written_loadouts(data):
        name = str(at[-1])
        yield Mention("loadout", None, name, (*at, KEY), defines=True)
        yield from _of_loadout(name, loadout, at)
    yield from _of_scenarios(data)


def by_id(data: Any, name: str) -> str:
    """The name of the loadout of a file that is meant by a name, or by an id."""
    ids: dict[str, str] = {}
    names: list[object] = []
    for at, loadout in written_loadouts(data):
        names.append(at[-1])
        if isinstance(id_ := _get(loadout, "id"), str):
            ids.setdefault(id_, str(at[-1]))
    return name if name in names else ids.get(name, name)


def _meant(data: Any, name: Any) -> Any:
    return by_id(data, name) if isinstance(name, str) else name


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _object(value: Any, key: str) -> Mapping[str, Any]:
    found = _get(value, key)
    return found if isinstance(found, dict) else {}


def _list(value: Any, key: str) -> Sequence[Any]:
    found = _get(value, key)
    return found if isinstance(found, list) else ()


def _named(kind: Kind, loadout: str | None, name: Any, at: Pointer) -> Iterator[Mention]:
    if isinstance(name, str):
        yield Mention(kind, loadout, name, at)


def _of_loadout(name: str, loadout: Any, at: Pointer) -> Iterator[Mention]:
    yield from _named("socket", name, _get(loadout, "entry"), (*at, "entry"))
    for id_, socket in _object(loadout, "sockets").items():
        here = (*at, "sockets", id_)
        yield Mention("socket", name, id_, (*here, KEY), defines=True)
        yield from _of_socket(name, socket, here)
    for id_ in _object(_get(loadout, "layout"), "sockets"):
        yield Mention("socket", name, id_, (*at, "layout", "sockets", id_, KEY))
    for id_, loop in _object(loadout, "loops").items():
        here = (*at, "loops", id_)
        yield Mention("loop", name, id_, (*here, KEY), defines=True)
        yield from _of_loop(name, loop, here)
    for index, part in enumerate(_list(loadout, "properties")):
        yield from _of_property(name, part, (*at, "properties", index))


def _of_socket(loadout: str, socket: Any, at: Pointer) -> Iterator[Mention]:
    for key in ("materia", "role"):
        yield from _named("materia", None, _get(socket, key), (*at, key))
    for index, edge in enumerate(_list(socket, "edges")):
        yield from _named("socket", loadout, _get(edge, "to"), (*at, "edges", index, "to"))
    for key in ("foreach", "advance"):
        yield from _named("socket", loadout, _get(_get(socket, key), "done"), (*at, key, "done"))
        yield from _listed(loadout, _get(socket, key), (*at, key))


def _of_loop(loadout: str, loop: Any, at: Pointer) -> Iterator[Mention]:
    for index, member in enumerate(_list(loop, "sockets")):
        yield from _named("socket", loadout, member, (*at, "sockets", index))
    for key, end in _LOOP_ENDS:
        yield from _named("socket", loadout, _get(_get(loop, key), end), (*at, key, end))
    yield from _listed(loadout, _get(loop, "iterator"), (*at, "iterator"))
    if _get(_get(loop, "consumes"), "output") == _OUTPUT:
        yield Mention("list", loadout, WORK_ITEMS, (*at, "consumes", "output"))
    for index, route in enumerate(_list(loop, "exits")):
        for end in _EXIT_ENDS:
            yield from _named("socket", loadout, _get(route, end), (*at, "exits", index, end))


def _listed(loadout: str, way: Any, at: Pointer) -> Iterator[Mention]:
    """The list that a loop or a socket goes through; a bare name is that of a key of the state."""
    items = _get(way, "items")
    if isinstance(items, str):
        yield Mention("list", loadout, list_name(items), (*at, "items"))


def list_name(items: str) -> str:
    """The whole name of a list."""
    return items if items.partition(".")[0] in ROOTS else f"state.{items}"


def _of_property(loadout: str, part: Any, at: Pointer) -> Iterator[Mention]:
    for key in _PROPERTY_SOCKETS:
        yield from _named("socket", loadout, _get(part, key), (*at, key))
    for key in _PROPERTY_PAIRS:
        for index, socket in enumerate(_list(part, key)):
            yield from _named("socket", loadout, socket, (*at, key, index))


def _of_scenarios(data: Any) -> Iterator[Mention]:
    loadout = _about(data, data, None)
    yield from _target(data, data, ())
    for index, scenario in enumerate(_list(data, "scenarios")):
        at = ("scenarios", index)
        yield from _target(data, scenario, at)
        about = _about(data, scenario, loadout) or _only(data)
        if about is not None:
            yield from _of_scenario(about, scenario, at)


def _target(data: Any, scenario: Any, at: Pointer) -> Iterator[Mention]:
    target = _get(scenario, "loadout")
    if isinstance(target, dict):
        yield from _named("file", None, target.get("file"), (*at, "loadout", "file"))
    elif isinstance(target, str):
        yield Mention("loadout", None, by_id(data, target), (*at, "loadout"))


def _about(data: Any, value: Any, otherwise: str | None) -> str | None:
    """The loadout of this file that scenarios are about; the empty text where it is in another file."""
    match _get(value, "loadout"):
        case str(name):
            return by_id(data, name)
        case dict():
            return ""
    return otherwise


def _only(data: Any) -> str | None:
    loadouts, active = [str(at[-1]) for at, _ in written_loadouts(data)], _get(data, "activeLoadout")
    if isinstance(active, str):
        return by_id(data, active)
    return loadouts[0] if len(loadouts) == 1 else None


def _of_scenario(loadout: str, scenario: Any, at: Pointer) -> Iterator[Mention]:
    keys: list[tuple[str, ...]] = [("agent", "sockets"), ("utilities",), ("expect", "visits")]
    for way in keys:
        found = _below(scenario, way)
        for id_ in found if isinstance(found, dict) else ():
            yield Mention("socket", loadout, id_, (*at, *way, id_, KEY))
    expect = _get(scenario, "expect")
    for key in ("path", "pathHas"):
        for index, id_ in enumerate(_list(expect, key)):
            yield from _named("socket", loadout, id_, (*at, "expect", key, index))
    for key in _object(expect, "prompts"):
        socket, sign, _ = key.rpartition("#")
        if sign:
            yield Mention("socket", loadout, socket, (*at, "expect", "prompts", key, KEY), part=True)


def _below(value: Any, way: Sequence[str]) -> Any:
    for key in way:
        value = _get(value, key)
    return value
