"""`unasked-text`: a prompt asks for a text that reaches no other socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.rules.asking import is_handed_on, unread
from materiac.rules.rule import LoadoutView, Rule, Stage

_FIELDS: Final = frozenset({"text"})


def check(view: LoadoutView) -> Iterator[Finding]:
    for part in unread(view, _FIELDS, is_handed_on):
        socket = part.sockets[0].id
        yield RULE.finding(
            f"the prompt of materia '{part.materia}' asks for 'text', which nothing assigns:"
            " it is shown, and no other socket gets it",
            part.at,
            related=part.related,
            help=Bilingual(
                f'let \'{socket}\' keep it under a key of your own: "assign": {{"notes": "$.text"}}',
                f"let '{socket}' keep it under a key of your own: 'assign notes = $.text'",
            ),
        )


RULE = Rule(
    "unasked-text",
    Severity.INFO,
    "a prompt asks for a text that nothing assigns",
    Stage.MEANING,
    check=check,
)
