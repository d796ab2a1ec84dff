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
    """Plans whose items are built and checked, each plan reviewed and sent back to the one before."""
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


def dense(size: int) -> Json:
    """Three edges a socket: on, back a little with a budget, and ahead a little; every tenth two loop."""
    sockets: Json = {}
    loops: Json = {}
    for i in range(size):
        socket = _judged(_name(i + 1, size), f"s{max(0, i - 4)}", 2)
        socket["edges"].append({"to": _name(i + 3, size)})
        sockets[f"s{i}"] = socket
    for i in range(5, size - 2, 20):
        items = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
        sockets[f"s{i}"]["edges"][0]["to"] = f"s{i + 1}"
        sockets[f"s{i + 1}"]["edges"][0]["to"] = f"s{i}"
        sockets[f"s{i + 1}"]["advance"] = items
        loops[f"work{i}"] = {
            "sockets": [f"s{i}", f"s{i + 1}"],
            "iterator": {"items": "state.workItems", "done": f"s{i + 2}"},
        }
    sockets["s0"]["materia"] = "Plan"
    return _file(sockets, loops)


def diamonds(size: int) -> Json:
    """Branches that meet again, one behind the other: the ways through them cannot be counted."""
    sockets: Json = {}
    count = max(1, size // 3)
    for i in range(count):
        after = f"fork{i + 1}" if i + 1 < count else "end"
        sockets[f"fork{i}"] = _judged(f"left{i}", f"right{i}", None)
        for side in ("left", "right"):
            sockets[f"{side}{i}"] = {"materia": "Work", "edges": [{"to": after}]}
    return _file(sockets)


def to_first(size: int) -> Json:
    """Every socket goes on when it is satisfied, and back to the first one when it is not."""
    return _file({f"s{i}": _judged(_name(i + 1, size), "s0", 2) for i in range(size)})


def ladder(size: int) -> Json:
    """Every socket goes on, or back to the one before it."""
    return _file({f"s{i}": _judged(_name(i + 1, size), f"s{max(0, i - 1)}", 2) for i in range(size)})


def tangle(size: int) -> Json:
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
    data = tangle(size)
    for socket in data["loadouts"]["L"]["sockets"].values():
        for edge in socket["edges"]:
            edge.pop("maxTraversals", None)
    return data


ORDINARY: Final[dict[str, Shape]] = {"ordinary": ordinary, "loops": looping, "dense": dense}
ADVERSE: Final[dict[str, Shape]] = {
    "diamonds": diamonds,
    "to first": to_first,
    "ladder": ladder,
    "tangle": tangle,
    "unbounded": unbounded,
}


def priced(data: Json) -> Json:
    """The same with prices and a budget, so that a check tells the bound too."""
    costs = {"inputTokens": 1_000, "outputTokens": 100, "usd": 0.01}
    materia = {name: {**it, "cost": costs} for name, it in data["materia"].items()}
    return {**data, "materia": materia, "budget": {"maxTokens": 10_000_000, "maxCostUsd": 100}}


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
