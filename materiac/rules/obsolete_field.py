"""`obsolete-field`: a prompt asks for a field that older loadouts had, and nothing reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.rules.asking import by_materia, is_handed_on, unread
from materiac.rules.reading import accesses_of
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.template import references

if TYPE_CHECKING:
    from materiac.graph import SocketView

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
    yield from _asked(view)
    yield from _filled_in(view)


def _asked(view: LoadoutView) -> Iterator[Finding]:
    for part in unread(view, _FIELDS, is_handed_on):
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


def _filled_in(view: LoadoutView) -> Iterator[Finding]:
    """Templates of such a field alone, as if it were there; they stay as they are."""
    for name, sockets in by_materia(view.graph).items():
        behaviour = sockets[0].materia
        if behaviour is None or behaviour.type != "agent" or "{{" not in behaviour.prompt:
            continue
        words = dict.fromkeys(reference.name for reference in references(behaviour.prompt))
        for word in (word for word in words if word.split(".")[0] in _TODAY):
            if not _may_be_known(view, word.split(".")[0], sockets):
                yield RULE.finding(
                    f"'{{{{{word}}}}}' stays as it is in the prompt of materia '{name}': nothing writes it",
                    ("materia", name, "prompt"),
                    help="name what is written, such as '{{lastOutput}}' or a key of the state",
                )


def _may_be_known(view: LoadoutView, key: str, sockets: Iterable[SocketView]) -> bool:
    accesses = accesses_of(view)
    aliases = {socket.loop.alias for socket in sockets if socket.loop is not None}
    return key in accesses.keys or key in aliases or bool(accesses.patchers)


RULE = Rule(
    "obsolete-field",
    Severity.WARNING,
    "a prompt asks for a field that is dropped, as older loadouts had it",
    Stage.MEANING,
    check=check,
)
