"""What changed in meaning from one program to another, in words: nothing where their digests are equal.

Both are taken as their JSON and compared part by part, by the names of the parts. Every field is compared,
whether or not it has words of its own below.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as field_
from functools import partial
from itertools import chain, starmap
from typing import Any, Final

from materiac.difference import NOTHING, brief, differences, quoted, same, text_difference, written
from materiac.program import END, Materia, Program, settled, to_data
from materiac.properties import PropertyError, parse

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: the part of the program, the place in it, and what was and is there.

    `old` is None for what is new, `new` for what is gone, both where `what` says all. Each is one short line
    that does nothing to a terminal. `part` is `where` for programs: the section of a socket, materia, loop or
    region, and its id; None where the change is in no such part.
    """

    where: str
    what: str
    old: str | None = None
    new: str | None = None
    part: tuple[str, str] | None = field_(default=None, compare=False)

    def __str__(self) -> str:
        words = filter(None, (self.what, self._values()))
        return f"{self.where}: {' '.join(words)}"

    def _values(self) -> str:
        if self.old is not None and self.new is not None:
            return f"{self.old} → {self.new}"
        if self.old is not None:
            return f"{self.old} is gone"
        return "" if self.new is None else f"{self.new} is new"


@dataclass(frozen=True, slots=True)
class _Form:
    """How the entries of a list are told apart, and called.

    `keys` are what may be the same in an entry that changed, the surest first; `shown` has the fields of
    an entry that is an object in the order in which they are said, each with the word before it; or
    `words` says it.
    """

    one: str
    many: str
    keys: tuple[tuple[str, ...], ...] = ()
    shown: Mapping[str, str] | None = None
    numbered: bool = False
    words: Callable[[Any], str] = brief


def _property(rule: Json) -> str:
    """A property in words, where it is of one of the known forms and can be shown."""
    try:
        words = str(parse(rule))
    except PropertyError:
        return brief(rule)
    return words if words.isprintable() else brief(rule)


_ASSIGN: Final = _Form("assignment", "assignments", (("target",),), {"target": "", "source": "from "})
_KEYS: Final = _Form("key", "keys")
_LISTS: Final = {
    "edges": _Form(
        "edge", "edges", (("when", "to"), ("when",), ("to",)), {"when": "", "to": "to "}, numbered=True
    ),
    "exits": _Form(
        "exit",
        "exits",
        (("source", "condition"), ("id", "source"), ("source", "to")),
        {"condition": "", "source": "from ", "to": "to "},
        numbered=True,
    ),
    "sockets": _Form("socket", "sockets"),
    "prelude": _Form("socket before the loop", "sockets before the loop"),
    "tools": _Form("tool", "tools"),
    "env": _Form("variable", "variables"),
    "properties": _Form("property", "properties", words=_property),
}
_PARTS: Final = {"sockets": "socket", "materia": "materia", "loops": "loop", "regions": "region of"}
"""The lists of a program whose order means nothing, and what one of their parts is called."""
_FRAME: Final = {
    "name": ("loadout", ""),
    "entry": ("entry", ""),
    "max_no_advance_cycles": ("limits", "maxNoAdvanceCycles"),
    "max_concurrency": ("parallelism", "maxConcurrency"),
}
"""Where what is no part stands in a file."""
_WORDS: Final = {"alias": "as", "builtin": "built-in", "missing": "unknown built-in", "source": "generator"}
"""What a field is called where it is not by the same name in files."""


def changes(old: Program, new: Program) -> tuple[Change, ...]:
    """All that means something else in `new`: empty if and only if the digests are equal."""
    was, now = to_data(old), to_data(new)
    renamed = _renamed(was, now)
    for socket in was["sockets"]:
        socket["materia"] = renamed.get(socket["materia"], socket["materia"])
    was["materia"] = [part for part in was["materia"] if part["name"] not in renamed]
    now["materia"] = [part for part in now["materia"] if part["name"] not in renamed.values()]
    names = (
        Change("materia", "renamed", quoted(one), quoted(other), ("materia", other))
        for one, other in renamed.items()
    )
    parts = (_parts(section, was[section], now[section]) for section in _PARTS)
    return tuple(chain(_frame(was, now), names, *parts))


def materia_changes(old: Mapping[str, Materia], new: Mapping[str, Materia]) -> tuple[Change, ...]:
    """What means something else in materia that no loadout has to use, by their names."""
    was, now = (Program("", END, {}, materia) for materia in (old, new))
    return changes(was, now)


# Parts


def _renamed(was: Json, now: Json) -> dict[str, str]:
    """The materia that have another name and are the same for the rest, by what sockets name them."""
    old, new = _by_id(was["materia"]), _by_id(now["materia"])
    after: dict[str, str] = {socket["id"]: socket["materia"] for socket in now["sockets"]}
    renamed: dict[str, str] = {}
    for socket in was["sockets"]:
        one, other = socket["materia"], after.get(socket["id"], END)
        fresh = one in old and one not in new and other in new and other not in old
        if fresh and other not in renamed.values() and _is_renamed(old[one], new[other]):
            renamed.setdefault(one, other)
    return renamed


def _is_renamed(old: Json, new: Json) -> bool:
    """Whether two materia are the same but for the name; a label that is the name goes with it."""
    label = new["name"] if old["label"] == old["name"] else old["label"]
    return any(same({**old, "name": new["name"], "label": said}, new) for said in (label, old["label"]))


def _frame(was: Json, now: Json) -> Iterator[Change]:
    """The changes of what a program has beside its parts."""
    for field in was:
        if field not in {*_PARTS, "budget", "state_keys", "properties"}:
            where, what = _FRAME.get(field, ("loadout", _word(field)))
            yield from _value(where, what, was[field], now[field])
    yield from _fields("budget", was["budget"], now["budget"])
    yield from _list("state", _KEYS, sorted(was["state_keys"]), sorted(now["state_keys"]))
    yield from _list("properties", _LISTS["properties"], was["properties"], now["properties"])


def _parts(section: str, was: list[Json], now: list[Json]) -> Iterator[Change]:
    old, new = _by_id(was), _by_id(now)
    compare = _materia if section == "materia" else _fields
    for id_ in old:
        if id_ not in new:
            yield Change(section, "", old=quoted(id_), part=(section, id_))
        elif not same(old[id_], new[id_]):
            for change in compare(f"{_PARTS[section]} {quoted(id_)}", old[id_], new[id_]):
                yield replace(change, part=(section, id_))
    for id_ in new:
        if id_ not in old:
            yield Change(section, "", new=quoted(id_), part=(section, id_))


def _by_id(parts: list[Json]) -> dict[str, Json]:
    return {str(part.get("id", part.get("name", part.get("generator")))): part for part in parts}


def _materia(where: str, old: Json, new: Json) -> Iterator[Change]:
    """The changes of a materia; one of another type is not compared any further."""
    types = {"agent", "utility"}
    shared = [{field: value for field, value in part.items() if field not in types} for part in (old, new)]
    yield from _fields(where, *shared)
    was, now = ({field for field in types if part[field] is not None} for part in (old, new))
    if was != now:
        yield Change(where, "type", _type(was), _type(now))
    if "agent" in was & now:
        yield from _agent(where, old["agent"], new["agent"])
    if "utility" in was & now:
        yield from _fields(where, old["utility"], new["utility"])


def _type(types: set[str]) -> str:
    return " and ".join(map(quoted, sorted(types))) or "none"


def _agent(where: str, old: Json, new: Json) -> Iterator[Change]:
    if old["scope"] == new["scope"]:
        yield from _fields(where, old, new)
        return
    yield Change(where, "tools", _tools(old), _tools(new))
    rest = [
        {field: agent[field] for field in agent if field not in ("scope", "tools")} for agent in (old, new)
    ]
    yield from _fields(where, *rest)


def _tools(agent: Json) -> str:
    return brief(agent["tools"]) if agent["scope"] == "custom" else quoted(agent["scope"])


# Fields, lists and values


def _fields(where: str, old: Json, new: Json) -> Iterator[Change]:
    """The changes of the fields of one dataclass, in which None is nothing."""
    for field, was in old.items():
        now = new[field]
        if field == "prompt":
            yield from starmap(partial(Change, where), text_difference(was, now, "the prompt"))
        elif field == "assign":
            yield from _assign(where, was, now)
        elif field in _LISTS:
            yield from _list(where, _LISTS[field], was, now)
        else:
            yield from _value(where, _word(field), _present(field, was), _present(field, now))


def _present(field: str, value: Any) -> Any:
    if field == "advance" and value is not None:
        return {_word(inner): part for inner, part in value.items() if part is not None}
    return NOTHING if value is None else value


def _word(field: str) -> str:
    first, *rest = field.split("_")
    return _WORDS.get(field) or first + "".join(word.capitalize() for word in rest)


def _assign(where: str, old: list[list[str]], new: list[list[str]]) -> Iterator[Change]:
    was, now = ([{"target": target, "source": source} for target, source in part] for part in (old, new))
    yield from _entries(where, _ASSIGN, was, now, _pairs(_ASSIGN, was, now))
    if settled(_common(old, new)) != settled(_common(new, old)):
        yield Change(where, "assignments are in another order")


def _common(pairs: list[list[str]], others: list[list[str]]) -> list[list[str]]:
    """Those of the pairs that are among the others too, as often as there."""
    left = Counter(map(tuple, others))
    common = []
    for pair in pairs:
        if left[tuple(pair)]:
            left[tuple(pair)] -= 1
            common.append(pair)
    return common


def _list(where: str, form: _Form, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    """The changes of a list whose order matters."""
    pairs = _pairs(form, old, new)
    yield from _entries(where, form, old, new, pairs)
    order = [pairs[index] for index in sorted(pairs)]
    if order != sorted(order):
        yield Change(where, f"{form.many} are in another order")


def _pairs(form: _Form, old: Sequence[Any], new: Sequence[Any]) -> dict[int, int]:
    """Which entries are the same, or the same but changed: indexes in `new` by those in `old`."""
    pairs: dict[int, int] = {}
    for fields in (None, *form.keys):
        free: defaultdict[str, deque[int]] = defaultdict(deque)
        for index in sorted(set(range(len(new))) - set(pairs.values())):
            free[_key(new[index], fields)].append(index)
        for index in sorted(set(range(len(old))) - pairs.keys()):
            if found := free[_key(old[index], fields)]:
                pairs[index] = found.popleft()
    return pairs


def _key(entry: Any, fields: tuple[str, ...] | None) -> str:
    return written(entry if fields is None else [entry[field] for field in fields])


def _entries(
    where: str, form: _Form, old: Sequence[Any], new: Sequence[Any], pairs: Mapping[int, int]
) -> Iterator[Change]:
    for index, entry in enumerate(old):
        what = f"{form.one} {index + 1}" if form.numbered else form.one
        if index not in pairs:
            yield Change(where, what, old=_shown(entry, form))
        elif not same(entry, new[pairs[index]]):
            yield from _changed(where, what, form, entry, new[pairs[index]])
    for index in sorted(set(range(len(new))) - set(pairs.values())):
        what = f"{form.one} {index + 1}" if form.numbered else form.one
        yield Change(where, what, new=_shown(new[index], form))


def _changed(where: str, what: str, form: _Form, old: Any, new: Any) -> Iterator[Change]:
    if form.shown is None:
        yield from _value(where, what, old, new)
    else:
        yield Change(where, what, _shown(old, form), _shown(new, form))


def _shown(entry: Any, form: _Form) -> str:
    if form.shown is None:
        return form.words(entry)
    words = " ".join(f"{word}{quoted(entry[field])}" for field, word in form.shown.items())
    rest = {
        _word(field): value for field, value in entry.items() if field not in form.shown and value is not None
    }
    more = ", ".join(f"{field} {brief(value)}" for field, value in rest.items())
    return f"{words} ({more})" if more else words


def _value(where: str, what: str, old: Any, new: Any) -> Iterator[Change]:
    return starmap(partial(Change, where), differences(old, new, what))
