"""`missing-route`: a verdict that may come and that no edge is for."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Bilingual, Finding, Fix, Insertion, Severity
from materiac.names import END
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY, Pointer


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        # Without an edge a cast ends by design, but for where its advance asks for a verdict.
        if socket.parse == "text" or not (socket.written.edges or socket.asks_verdict):
            continue
        at = (*socket.at, "edges", KEY) if socket.written.edges else (*socket.at, KEY)
        for verdict in socket.verdicts:
            if verdict is None or socket.edge_for(verdict) is not None:
                continue
            word = "satisfied" if verdict else "not_satisfied"
            left = ", with items left" if socket.advances(verdict) else ""
            yield RULE.finding(
                f"no edge of '{id_}' is for '{word}': the cast ends there{left}",
                at,
                help=Bilingual(
                    f'say so with {{"when": "{word}", "to": "end"}}, or lead it elsewhere',
                    f"say so with '{word} -> end', or lead it elsewhere",
                ),
                fix=Fix("say that the cast ends there", (_edge_to_end(socket.at, word),)),
            )


def _edge_to_end(socket: Pointer, word: str) -> Insertion:
    return Insertion((*socket, "edges"), {"when": word, "to": END})


RULE = Rule("missing-route", Severity.WARNING, "a verdict has no edge", Stage.MEANING, check=check)
