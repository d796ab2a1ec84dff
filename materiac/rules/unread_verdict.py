"""`unread-verdict`: a condition asks for a verdict where the output is read as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Fix, Insertion, Replacement, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import read_as_json
from materiac.source import Pointer

if TYPE_CHECKING:
    from materiac.graph import SocketView


def check(view: LoadoutView) -> Iterator[Finding]:
    for socket in view.graph.sockets.values():
        if socket.parse != "text" or socket.generator:
            continue
        for words, when, at in _conditions(socket):
            if when != "always":
                yield RULE.finding(
                    f"{words} asks for '{when}', but the output of '{socket.id}' is read as text",
                    at,
                    related=_said(socket),
                    help=read_as_json(socket.id),
                    fix=_fix(socket),
                )


def _conditions(socket: SocketView) -> Iterator[tuple[str, str, Pointer]]:
    for i, edge in enumerate(socket.written.edges):
        yield f"edge to '{edge.to}'", edge.when, (*socket.at, "edges", i, "when")
    loop, early = socket.loop, socket.loop.early if socket.loop else None
    if socket.written.advance is not None:
        yield "'advance'", socket.written.advance.when, (*socket.at, "advance", "when")
    if loop is None:
        return
    if early is not None and early.source == socket.id:
        yield f"exit to '{early.to}'", early.when, (*loop.at, "exit", "when")
    for route in loop.exits:
        if route.source == socket.id and route.at[-1] != "exit":
            yield f"exit to '{route.to}'", route.condition, (*route.at, "condition")


def _fix(socket: SocketView) -> Fix:
    said = socket.written.parse is not None
    edit = Replacement((*socket.at, "parse"), "json") if said else Insertion(socket.at, "json", "parse")
    return Fix(f"let the output of '{socket.id}' be read as JSON", (edit,))


def _said(socket: SocketView) -> list[tuple[Pointer, str]]:
    if socket.written.parse is not None:
        return [((*socket.at, "parse"), "said here")]
    if socket.materia is not None and socket.materia.parse is not None:
        return [(("materia", socket.written.materia, "parse"), "said here, by its materia")]
    return []


RULE = Rule(
    "unread-verdict",
    Severity.ERROR,
    "a verdict is asked for where the output is read as text",
    Stage.MEANING,
    check=check,
)
