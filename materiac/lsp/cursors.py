"""The cursor of a `foreach` without a name of its own is called after its socket: where others read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from materiac.lsp.early import ROLES
from materiac.lsp.looks import Behaviour
from materiac.lsp.refusals import RefusedError
from materiac.source import Pointer
from materiac.template import references
from materiac.views import WORK_ITEM_INDEX

_ROOT: Final = "cursor."
_PROMPTS: Final = ("prompt", "systemPrompt")
_OF_LOOPS: Final = ("iterator", "consumes")

_Below = Mapping[str, Behaviour]
_Change = tuple[Pointer, str]


def changes(data: Any, at: Pointer, new: str, below: _Below) -> list[_Change]:
    """The values that name the cursor of the socket at a pointer, as they are with another name of it.

    Raises `RefusedError` where a value may mean another cursor, or cannot be changed here.
    """
    socket, loadout = _value(data, at), _value(data, at[:-2])
    if not _is_called_after(socket):
        return []
    before, after = f"{at[-1]}Index", f"{new}Index"
    found = list(_changes(data, at[:-2], before, after))
    others = [_cursor_of(id_, other) for id_, other in _object(loadout, "sockets").items() if id_ != at[-1]]
    others += map(_cursor_of_loop, _object(loadout, "loops").values())
    if after in others:
        raise RefusedError(f"the cursor of '{new}' would be '{after}', and there is one of that name")
    if found and before in others:
        raise RefusedError(f"another cursor is called '{before}' too: give one of them a name of its own")
    if found and "." in after:
        raise RefusedError(f"'{_ROOT}{before}' is read, and no cursor with a '.' in its name can be")
    _refuse_strangers(data, at, before, found, below)
    return found


def _is_called_after(socket: Any) -> bool:
    foreach = socket.get("foreach") if isinstance(socket, dict) else None
    return isinstance(foreach, dict) and not foreach.get("cursor")


def _changes(data: Any, loadout: Pointer, before: str, after: str) -> Iterator[_Change]:
    owners: dict[Pointer, None] = {}
    for id_, socket in _object(_value(data, loadout), "sockets").items():
        at = (*loadout, "sockets", id_)
        if _value(socket, ("advance", "cursor")) == before:
            yield (*at, "advance", "cursor"), after
        owners.update(dict.fromkeys([at, *_materia_of(socket)]))
    for owner in owners:
        yield from _of_owner(owner, _value(data, owner), before, after)


def _materia_of(socket: Any) -> Iterator[Pointer]:
    for key in ("materia", "role"):
        name = socket.get(key) if isinstance(socket, dict) else None
        if isinstance(name, str):
            yield from (("materia", name), (ROLES, name))


def _of_owner(owner: Pointer, fields: Any, before: str, after: str) -> Iterator[_Change]:
    for target, source in _object(fields, "assign").items():
        if source == f"{_ROOT}{before}":
            yield (*owner, "assign", target), f"{_ROOT}{after}"
    for key in _PROMPTS:
        prompt = fields.get(key) if isinstance(fields, dict) else None
        if isinstance(prompt, str) and (changed := _filled(prompt, before, after)) != prompt:
            yield (*owner, key), changed


def _filled(prompt: str, before: str, after: str) -> str:
    """A prompt that reads another cursor, written as it was for the rest."""
    for reference in reversed(list(references(prompt))):
        if reference.name == f"{_ROOT}{before}":
            written = prompt[reference.start : reference.end].replace(before, after)
            prompt = prompt[: reference.start] + written + prompt[reference.end :]
    return prompt


def _refuse_strangers(data: Any, at: Pointer, before: str, found: list[_Change], below: _Below) -> None:
    """Refuse where what reads the cursor is of another file, or reads one of that name elsewhere."""
    changed = {pointer[:2] for pointer, _ in found}
    for name, loadout in _object(data, "loadouts").items():
        sockets = _object(loadout, "sockets")
        shared = {part for socket in sockets.values() for part in _materia_of(socket)} & changed
        if ("loadouts", name) != at[:2] and shared and before in _cursors(loadout):
            materia = min(str(part[1]) for part in shared)
            raise RefusedError(f"'{materia}' reads '{_ROOT}{before}' in loadout '{name}' too")
    own = _object(_value(data, at[:-2]), "sockets").values()
    for used in dict.fromkeys(str(part[1]) for socket in own for part in _materia_of(socket)):
        fields = below[used].fields if used in below else {}
        reads = any(True for _ in _of_owner(("materia", used), fields, before, ""))
        if reads and not {("materia", used), (ROLES, used)} & changed:
            raise RefusedError(f"materia '{used}' of another file reads '{_ROOT}{before}'")


def _cursors(loadout: Any) -> list[str]:
    sockets = _object(loadout, "sockets")
    found = [_cursor_of(id_, socket) for id_, socket in sockets.items()]
    return [*found, *map(_cursor_of_loop, _object(loadout, "loops").values())]


def _cursor_of(id_: str, socket: Any) -> str:
    """The cursor of a socket; the empty text where it has none."""
    if _is_called_after(socket):
        return f"{id_}Index"
    return str(_value(socket, ("foreach", "cursor")) or "")


def _cursor_of_loop(loop: Any) -> str:
    """The cursor of a loop; the empty text where it goes through no list."""
    if not isinstance(loop, dict) or not any(key in loop for key in _OF_LOOPS):
        return ""
    return next((str(c) for key in _OF_LOOPS if (c := _value(loop, (key, "cursor")))), WORK_ITEM_INDEX)


def _object(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _value(data: Any, at: Pointer) -> Any:
    for part in at:
        if not isinstance(data, dict) or part not in data:
            return None
        data = data[part]
    return data
