"""`unused-assign`: an assignment that nothing sees, whatever way a cast goes on."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules import reading
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    for found in reading.unused_of(view):
        target, at = ".".join(found.write.place[1:]), found.write.at
        socket = view.graph.sockets[found.socket]
        if at is None or at[:-1] != (*socket.at, "assign") or (socket.generator and target == "workItems"):
            continue
        yield RULE.finding(
            f"nothing sees '{target}' after '{found.socket}' assigned it",
            (*at, KEY),
            help="it is gone when its stream is done"
            if found.stream
            else "nothing but the result of the cast has it",
        )


RULE = Rule("unused-assign", Severity.INFO, "nothing sees what is assigned", Stage.MEANING, check=check)
