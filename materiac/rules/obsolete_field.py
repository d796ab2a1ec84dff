"""`obsolete-field`: a prompt asks for a field that older loadouts had, and nothing reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.flow.handed_on import keeps
from materiac.rules.asking import unread
from materiac.rules.rule import LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, SocketView

_TODAY: Final = {
    "tasks": "workItems",
    "passed": "satisfied",
    "feedback": "context",
    "missing": "context",
    "summary": "context",
    "checkpointCreated": "context",
    "commitMessage": "context",
}
"""Fields of old, and those that have their place today."""

_FIELDS: Final = frozenset(_TODAY)


def check(view: LoadoutView) -> Iterator[Finding]:
    for part in unread(view, _FIELDS, _is_read):
        socket, field = part.sockets[0], part.field
        today = _TODAY[field]
        yield RULE.finding(
            f"the prompt of materia '{part.materia}' asks for '{field}', which nothing reads: it is dropped",
            part.at,
            related=part.related,
            help=Bilingual(
                f'ask for \'{today}\', or let \'{socket.id}\' keep it: "assign": {{"{field}": "$.{field}"}}',
                f"ask for '{today}', or let '{socket.id}' keep it: 'assign {field} = $.{field}'",
            ),
        )


def _is_read(graph: LoadoutGraph, socket: SocketView, field: str) -> bool:
    """An answer that is a text goes on as a whole."""
    return socket.parse == "text" or keeps(graph, socket, field)


RULE = Rule(
    "obsolete-field",
    Severity.WARNING,
    "a prompt asks for a field that is dropped, as older loadouts had it",
    Stage.MEANING,
    check=check,
)
