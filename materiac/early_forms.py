"""What mends each early form by itself: the edits that write it in the form of today.

Pointers lead to where the form is written. Each fix means the same as the form did, or is marked unsafe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from materiac.diagnostic import Edit, Fix, Insertion, Move, Removal, Replacement
from materiac.names import END
from materiac.path import WORK_ITEMS
from materiac.source import KEY, Pointer
from materiac.views import WORK_ITEM_INDEX

Fields = Mapping[str, Any]

PIPELINE: Final = Fix("write it as a loadout", (Move(("pipeline",), ("loadouts", "pipeline")),), safe=True)


def removed(at: Pointer) -> Fix:
    """A key that means nothing goes."""
    return Fix(f"remove '{at[-1]}'", (Removal(at),), safe=True)


def renamed(at: Pointer, new: str, value: Any = None) -> Fix:
    """A key becomes another one; its value stays, or is another one too."""
    edits: list[Edit] = [] if value is None else [Replacement(at, value)]
    return Fix(f"write '{new}'", (*edits, Replacement((*at, KEY), new)), safe=True)


def roles(written: Fields, materia: Fields | None) -> Fix:
    """Roles become materia; those that a materia hides go."""
    edits: list[Edit]
    if materia is None:
        edits, kept = [Replacement(("roles", KEY), "materia")], list(written)
    else:
        kept = [name for name in written if name not in materia]
        edits = [Move(("roles", name), ("materia", name)) for name in kept]
        edits.append(Removal(("roles",)))
    for name in kept:
        role = written[name]
        if isinstance(role, dict) and "systemPrompt" in role and "prompt" not in role:
            edits.append(Replacement(("materia", name, "systemPrompt", KEY), "prompt"))
    return Fix("write the roles as materia", tuple(edits), safe=True)


def named(socket: Pointer, keys: Iterable[str], materia: Fields, name: str) -> Fix:
    """What a socket carries itself becomes a materia with a name, which the socket names."""
    edits: list[Edit] = [
        Insertion(("materia",), dict(materia), name),
        Insertion(socket, name, "materia", first=True),
    ]
    edits += [Removal((*socket, key)) for key in keys]
    return Fix(f"write it as the materia '{name}'", tuple(edits), safe=True)


def exit_of_loop(loop: Pointer, fields: Fields, sockets: Any, *, reads_json: bool) -> Fix | None:
    """An early exit becomes an advance of its source, and an exit, unless that would lead to `end`.

    `loop` is the way to the loop; `reads_json` says whether its source is known to.
    """
    early = fields.get("exit")
    if not isinstance(early, dict) or not isinstance(fields.get("exits", []), list):
        return None
    source, to, when = (early.get(key) for key in ("from", "to", "when"))
    if not isinstance(source, str) or not isinstance(to, str) or not isinstance(when, str | None):
        return None
    socket = sockets.get(source) if isinstance(sockets, dict) else None
    if not isinstance(socket, dict):
        return None
    at: Pointer = (*loop[:-2], "sockets", source)
    edits: list[Edit] = [Removal((*loop, "exit"))]
    safe = _kept(fields, to, when)
    step = _step(fields, when)
    if step is not None and "advance" not in socket:
        edits.append(Insertion(at, step, "advance"))
    elif step is not None:
        safe = safe and socket["advance"] == step
    if step is not None and when not in (None, "always") and to == END and not reads_json:
        edits.append(Insertion(at, "json", "parse"))
    if to != END:
        way = {"from": source, "condition": when or "always", "targetSocketId": to}
        edits.append(Insertion((*loop, "exits"), way))
    return Fix("write it as an advance and an exit", tuple(edits), safe)


def _step(loop: Fields, when: str | None) -> dict[str, str] | None:
    """The advance that an early exit stands for; None where the loop goes through no list."""
    parts = [loop[key] for key in ("consumes", "iterator") if isinstance(loop.get(key), dict)]
    if not parts:
        return None
    fields = {key: value for part in parts for key, value in part.items()}
    items = parts[-1].get("items", WORK_ITEMS)
    step = {"cursor": fields.get("cursor", WORK_ITEM_INDEX), "items": items}
    return step if when in (None, "always") else {**step, "when": when}


def _kept(loop: Fields, to: str, when: str | None) -> bool:
    """Whether an empty list goes the same way without an early exit to `end`."""
    iterator = loop.get("iterator")
    done = iterator.get("done", END) if isinstance(iterator, dict) else END
    if to != END or done == END or when not in (None, "always"):
        return True
    exits = (way for way in loop.get("exits", []) if isinstance(way, dict))
    return any(way.get("condition", "always") == "always" for way in exits)
