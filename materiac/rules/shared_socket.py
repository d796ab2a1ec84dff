"""`shared-socket`: a socket that works on the items of two loops at once.

Which of the loops it goes round in cannot be told, so no more is asked of such a loadout.
"""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY, Pointer


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    first: dict[str, tuple[str, Pointer]] = {}
    for loop in sorted(graph.loops.values(), key=lambda loop: loop.id):
        for i, id_ in enumerate(loop.sockets if not loop.foreach else ()):
            other, there = first.setdefault(id_, (loop.id, (*loop.at, "sockets", i)))
            if other != loop.id:
                yield RULE.finding(
                    f"'{id_}' is in loop '{loop.id}' and in loop '{other}'",
                    (*loop.at, "sockets", i),
                    related=[(there, f"in loop '{other}'")],
                    help="a socket works on one item: give each loop a socket of its own",
                )
    for id_, socket in graph.sockets.items():
        if socket.written.foreach is not None and id_ in first:
            loop_id, there = first[id_]
            yield RULE.finding(
                f"'{id_}' has a 'foreach' and is in loop '{loop_id}'",
                (*socket.at, "foreach", KEY),
                related=[(there, f"in loop '{loop_id}'")],
                help="a socket works on one item: remove the 'foreach', or take it out of the loop",
            )


RULE = Rule(
    "shared-socket",
    Severity.ERROR,
    "a socket is in two loops that go through lists",
    Stage.NAMES,
    check=check,
)
