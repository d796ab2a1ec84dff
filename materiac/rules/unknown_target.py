"""`unknown-target`: something names a socket that the loadout does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from materiac.diagnostic import Finding, Severity
from materiac.fixes import renamed
from materiac.names import END, suggestion
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import Pointer

if TYPE_CHECKING:
    from materiac import model


class _Mention(NamedTuple):
    """A place that names a socket: what it is said to do, and whether `end` may stand there."""

    words: str
    name: str
    at: Pointer
    may_end: bool


def check(view: LoadoutView) -> Iterator[Finding]:
    sockets = view.known_sockets
    targets = sockets | {END}
    for mention in _mentions(view):
        known = targets if mention.may_end else sockets
        if mention.name not in known:
            yield RULE.finding(
                f"{mention.words} '{mention.name}', which is no socket",
                mention.at,
                help=suggestion(mention.name, known),
                fix=renamed(mention.name, known, mention.at),
            )


def _mentions(view: LoadoutView) -> Iterator[_Mention]:
    graph = view.graph
    if view.loadout.entry is not None:
        yield _Mention(
            f"loadout '{graph.name}' begins at", graph.entry, (*graph.base, "entry"), may_end=False
        )
    for id_, socket in view.loadout.sockets.items():
        yield from _of_socket(id_, socket, graph.socket_at(id_))
    for id_, loop in view.loadout.loops.items():
        at = graph.loop_at(id_)
        for i, member in enumerate(loop.sockets):
            yield _Mention(f"loop '{id_}' has the member", member, (*at, "sockets", i), may_end=False)
        # A loop that goes through no list only groups its members: nothing else of it means anything.
        if loop.iterates:
            yield from _of_loop(id_, loop, at)
    for i, rule in enumerate(view.loadout.properties):
        yield from _of_property(rule, (*graph.base, "properties", i))


def _of_socket(id_: str, socket: model.Socket, at: Pointer) -> Iterator[_Mention]:
    for i, edge in enumerate(socket.edges):
        yield _Mention(f"edge of '{id_}' leads to", edge.to, (*at, "edges", i, "to"), may_end=True)
    for key, part in (("foreach", socket.foreach), ("advance", socket.advance)):
        if part is not None and part.done is not None:
            yield _Mention(f"'done' of the {key} of '{id_}' is", part.done, (*at, key, "done"), may_end=True)


def _of_loop(id_: str, loop: model.Loop, at: Pointer) -> Iterator[_Mention]:
    words = f"loop '{id_}'"
    if loop.consumes is not None:
        yield _Mention(
            f"{words} takes its items from", loop.consumes.source, (*at, "consumes", "from"), may_end=False
        )
    if loop.iterator is not None and loop.iterator.done is not None:
        yield _Mention(f"'done' of {words} is", loop.iterator.done, (*at, "iterator", "done"), may_end=True)
    for i, route in enumerate(loop.exits):
        here = (*at, "exits", i)
        yield _Mention(f"exit of {words} is from", route.source, (*here, "from"), may_end=False)
        to = route.target_socket_id
        yield _Mention(f"exit of {words} leads to", to, (*here, "targetSocketId"), may_end=True)
    if loop.exit is not None:
        yield _Mention(f"exit of {words} is from", loop.exit.source, (*at, "exit", "from"), may_end=False)
        yield _Mention(f"exit of {words} leads to", loop.exit.to, (*at, "exit", "to"), may_end=True)


def _of_property(rule: model.Property, at: Pointer) -> Iterator[_Mention]:
    for key, said in rule.said.items():
        if isinstance(said, str):
            yield _Mention("a property names", said, (*at, key), may_end=True)
        elif isinstance(said, list):
            for i, name in enumerate(said):
                yield _Mention("a property names", name, (*at, key, i), may_end=True)


RULE = Rule("unknown-target", Severity.ERROR, "a socket is named that is not there", Stage.NAMES, check=check)
