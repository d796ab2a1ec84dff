"""Why control went where it went after a visit, in words."""

from __future__ import annotations

from typing import Any, Final

from materiac.cli.wording import clipped, one_line
from materiac.runtime.contents import Definition
from materiac.runtime.visits import Visited

Json = dict[str, Any]

_VERDICTS: Final = {True: "satisfied", False: "not satisfied", None: "none"}
_ASKED: Final = {"satisfied": "the verdict is satisfied", "not_satisfied": "the verdict is not satisfied"}
_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}


def verdict(visit: Visited) -> str:
    """The verdict in a word; empty where there was none."""
    return "" if visit.verdict is None else _VERDICTS[visit.verdict]


def briefly(visit: Visited) -> str:
    """Where control went, and by what, in a few words."""
    route = visit.route or {}
    if not route:
        return visit.state
    by = {"edge": route.get("when"), "exit": "exit", "done": "list used up"}.get(str(route.get("kind")))
    barred = f" (barred: {visit.blocked})" if visit.blocked and not visit.cleared else ""
    return f"→ {one_line(str(route.get('to')))}" + (f", {by}" if by else "") + barred


def why(visit: Visited, definition: Definition) -> str:
    """The step that was taken, and what made it the one; what barred it, where it was not."""
    if visit.route is None:
        return ""
    route, socket = visit.route, definition.sockets.get(visit.place["socket"], {})
    tellers = {"edge": _edge, "exit": _exit, "done": _done, "end": _end}
    teller = tellers.get(str(route.get("kind")))
    to = f"to '{clipped(str(route.get('to')))}'"
    told = f"{to}: {teller(visit, route, socket)}" if teller else f"{to} ({one_line(str(route.get('kind')))})"
    return told + _barred(visit, route, socket)


def _edge(_: Visited, route: Json, socket: Json) -> str:
    when, index = str(route.get("when")), route.get("edge")
    edges = socket.get("edges") or []
    which = f"{_nth(index + 1)} of {len(edges)} edges" if isinstance(index, int) and edges else "an edge"
    which = "its only edge" if len(edges) == 1 else which
    return f"{which}, '{one_line(when)}', {_for(when)}"


def _for(when: str) -> str:
    return f"as {_ASKED[when]}" if when in _ASKED else "which asks for no verdict"


def _exit(_: Visited, route: Json, socket: Json) -> str:
    when = str(route.get("when"))
    asked = f", and {_ASKED[when]}" if when in _ASKED else ""
    return f"an exit of {_loop(socket)}, whose list is used up{asked}"


def _done(_: Visited, __: Json, socket: Json) -> str:
    return f"the list of {_loop(socket)} is used up"


def _loop(socket: Json) -> str:
    return f"loop '{clipped(str(socket['loop']))}'" if socket.get("loop") else "its loop"


def _end(visit: Visited, _: Json, socket: Json) -> str:
    edges = socket.get("edges") or []
    if not edges:
        return "no edge leads on"
    return f"none of its edges asks for a verdict like this one, {_VERDICTS[visit.verdict]}"


def _barred(visit: Visited, route: Json, socket: Json) -> str:
    if not visit.blocked:
        return ""
    index, edges = route.get("edge"), socket.get("edges") or []
    limit = edges[index].get("max_traversals") if isinstance(index, int) and index < len(edges) else None
    by = {
        "budget": "the budget of the cast was used up",
        "limit": f"its limit of {limit} was reached",
        "property": "a property of the loadout forbids it",
    }
    taken = "it was taken all the same later" if visit.cleared else "it was not taken"
    return f"; {by.get(visit.blocked, one_line(visit.blocked))}, and {taken}"


def _nth(number: int) -> str:
    return _ORDINALS.get(number, f"{number}th") if number < 20 else f"number {number}"
