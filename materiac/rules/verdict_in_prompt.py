"""`verdict-in-prompt`: a prompt asks for a verdict on which nothing depends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.flow.handed_on import keeps_verdict
from materiac.rules.asking import unread
from materiac.rules.rule import LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, SocketView

_FIELDS: Final = frozenset({"satisfied"})


def check(view: LoadoutView) -> Iterator[Finding]:
    for part in unread(view, _FIELDS, _is_read):
        socket = part.sockets[0]
        rest = "and one for 'not_satisfied'"
        rest = f"{rest}, and let it read JSON" if socket.parse == "text" else rest
        yield RULE.finding(
            f"the prompt of materia '{part.materia}' asks for 'satisfied',"
            f" and nothing depends on the verdict of '{socket.id}'",
            part.at,
            related=part.related,
            help=Bilingual(
                f'give \'{socket.id}\' an edge with "when": "satisfied", {rest}',
                f"give '{socket.id}' an edge 'satisfied -> …', {rest}",
            ),
        )


def _is_read(graph: LoadoutGraph, socket: SocketView, _field: str) -> bool:
    return keeps_verdict(graph, socket)


RULE = Rule(
    "verdict-in-prompt",
    Severity.WARNING,
    "a prompt asks for a verdict, and nothing depends on it",
    Stage.MEANING,
    check=check,
)
