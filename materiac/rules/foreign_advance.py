"""`foreign-advance`: an advance of a cursor or list that is not that of its loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import loop_words
from materiac.source import KEY

if TYPE_CHECKING:
    from materiac.graph import LoopView, SocketView


def check(view: LoadoutView) -> Iterator[Finding]:
    for socket in view.graph.sockets.values():
        loop = socket.loop
        if socket.written.advance is None:
            continue
        if loop is None:
            yield RULE.finding(
                f"'{socket.id}' has an advance and is in no loop that goes through a list",
                (*socket.at, "advance", KEY),
                help="add it to the sockets of such a loop, or give it a 'foreach'",
            )
        elif loop.early is None or loop.early.source != socket.id:
            yield from _strange(socket, loop)


def _strange(socket: SocketView, loop: LoopView) -> Iterator[Finding]:
    advance = socket.written.advance
    if advance is None:
        return
    if advance.cursor != loop.cursor:
        yield RULE.finding(
            f"advance of '{socket.id}' steps the cursor '{advance.cursor}', its loop has '{loop.cursor}'",
            (*socket.at, "advance", "cursor"),
            related=[((*loop.at, KEY), loop_words(loop))],
        )
    if not loop.is_list(advance.items):
        yield RULE.finding(
            f"advance of '{socket.id}' goes through '{advance.items}', its loop through '{loop.items}'",
            (*socket.at, "advance", "items"),
            related=[((*loop.at, KEY), loop_words(loop))],
        )


RULE = Rule(
    "foreign-advance",
    Severity.ERROR,
    "an advance is not of the cursor and list of its loop",
    Stage.MEANING,
    check=check,
)
