"""Loadouts of any size, ordinary ones and those that graph algorithms find hard."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

Json = dict[str, Any]

Shape = Callable[[int], Json]


def ordinary(size: int) -> Json:
    """A plan, and groups of three sockets that build, check with a retry, and tell."""
    sockets: Json = {"plan": {"materia": "Plan", "edges": [{"to": "build0"}]}}
    groups = max(1, (size - 1) // 3)
    for i in range(groups):
        following = f"build{i + 1}" if i + 1 < groups else "end"
        sockets[f"build{i}"] = {"materia": "Work", "edges": [{"to": f"check{i}"}]}
        judged = _judged(f"tell{i}", f"build{i}", 3)
        sockets[f"check{i}"] = {**judged, "assign": {f"note{i}": "$.context"}}
        sockets[f"tell{i}"] = {"materia": "Work", "edges": [{"to": following}]}
    return _file(sockets)


def looping(size: int) -> Json:
    """Plans whose items are built and checked one after the other, each reviewed and sent back to the last."""
    sockets: Json = {}
    loops: Json = {}
    groups = max(1, size // 4)
    for i in range(groups):
        sockets[f"plan{i}"] = {"materia": "Plan", "edges": [{"to": f"build{i}"}]}
        sockets[f"build{i}"] = {"materia": "Work", "edges": [{"to": f"check{i}"}]}
        step = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
        sockets[f"check{i}"] = {**_judged(f"build{i}", f"build{i}", 3), "advance": step}
        following = f"plan{i + 1}" if i + 1 < groups else "end"
        sockets[f"review{i}"] = _judged(following, f"plan{max(0, i - 1)}", 2)
        way = {"from": f"check{i}", "targetSocketId": f"review{i}"}
        loops[f"work{i}"] = {
            "sockets": [f"build{i}", f"check{i}"],
            "consumes": {"from": f"plan{i}"},
            "exits": [way],
        }
    return _file(sockets, loops)


def edgy(size: int) -> Json:
    """Three edges a socket: on, back a little with a budget, and ahead a little."""
    sockets: Json = {}
    for i in range(size):
        socket = _judged(_name(i + 1, size), f"s{max(0, i - 4)}", 2)
        socket["edges"].append({"to": _name(i + 3, size)})
        sockets[f"s{i}"] = socket
    return _file(sockets)


def diamonds(size: int) -> Json:
    """Branches that meet again, one behind the other: the ways through them cannot be counted."""
    sockets: Json = {}
    for i in range(max(1, size // 4)):
        after = f"fork{i + 1}" if i + 1 < max(1, size // 4) else "end"
        sockets[f"fork{i}"] = _judged(f"left{i}", f"right{i}", None)
        for side in ("left", "right"):
            sockets[f"{side}{i}"] = {"materia": "Work", "edges": [{"to": f"join{i}"}]}
        sockets[f"join{i}"] = {"materia": "Work", "edges": [{"to": after}]}
    return _file(sockets)


def to_first(size: int) -> Json:
    """Every socket goes on when it is satisfied, and back to the first one when it is not."""
    return _file({f"s{i}": _judged(_name(i + 1, size), "s0", 2) for i in range(size)})


def ladder(size: int) -> Json:
    """Every socket goes on, or back to the one before it."""
    return _file({f"s{i}": _judged(_name(i + 1, size), f"s{max(0, i - 1)}", 2) for i in range(size)})


def component(size: int) -> Json:
    """One large component: on, back to anywhere with a budget, and ahead to anywhere."""
    chance = Random(size)  # noqa: S311 (no secret depends on it)
    sockets: Json = {}
    for i in range(size):
        socket = _judged(_name(i + 1, size), f"s{chance.randrange(size)}", chance.randint(1, 3))
        if chance.random() < 0.5:
            socket["edges"].append({"to": f"s{chance.randrange(i, size)}"})
        sockets[f"s{i}"] = socket
    return _file(sockets)


def unbounded(size: int) -> Json:
    """The same, and nothing bounds it but the stall guard."""
    data = component(size)
    for socket in data["loadouts"]["L"]["sockets"].values():
        for edge in socket["edges"]:
            edge.pop("maxTraversals", None)
    return data


ORDINARY: Final[dict[str, Shape]] = {"ordinary": ordinary, "loops": looping, "edges": edgy}
ADVERSE: Final[dict[str, Shape]] = {
    "diamonds": diamonds,
    "to first": to_first,
    "ladder": ladder,
    "component": component,
    "unbounded": unbounded,
}


def _name(i: int, size: int) -> str:
    return f"s{i}" if i < size else "end"


def _judged(on: str, back: str, budget: int | None) -> Json:
    refused: Json = {"when": "not_satisfied", "to": back}
    if budget is not None:
        refused["maxTraversals"] = budget
    return {"materia": "Work", "parse": "json", "edges": [{"when": "satisfied", "to": on}, refused]}


def _file(sockets: Json, loops: Json | None = None) -> Json:
    materia = {"Work": {"prompt": "Do your part."}, "Plan": {"prompt": "Plan it.", "generator": True}}
    loadout = {"entry": next(iter(sockets)), "sockets": sockets, "loops": loops or {}}
    return {"loadouts": {"L": loadout}, "materia": materia}
