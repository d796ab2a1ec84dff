"""`exit-conflict`: the early `exit` of a loop and the `advance` of its socket say different things."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.names import END
from materiac.rules.rule import LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac import model
    from materiac.graph import LoopView


def check(view: LoadoutView) -> Iterator[Finding]:
    for socket in view.graph.sockets.values():
        loop, advance = socket.loop, socket.written.advance
        if loop is None or loop.early is None or advance is None or loop.early.source != socket.id:
            continue
        for key, said, expected in _conflicts(loop, loop.early, advance):
            yield RULE.finding(
                f"'{key}' of the advance of '{socket.id}' is '{said}', its loop's exit says '{expected}'",
                (*socket.at, "advance", key),
                related=[((*loop.at, "exit"), f"the exit of loop '{loop.id}'")],
                help="leave one of the two out, or let them say the same",
            )


def _conflicts(
    loop: LoopView, early: model.EarlyExit, advance: model.Advance
) -> Iterator[tuple[str, str, str]]:
    if advance.when != early.when:
        yield "when", advance.when, early.when
    if advance.cursor != loop.cursor:
        yield "cursor", advance.cursor, loop.cursor
    if not loop.is_list(advance.items):
        yield "items", advance.items, loop.items
    # `end` is what happens anyhow, on either side: only two other targets contradict each other.
    if advance.done not in (None, END, early.to) and early.to != END:
        yield "done", advance.done or END, early.to


RULE = Rule(
    "exit-conflict",
    Severity.ERROR,
    "the early exit of a loop and an advance say different things",
    Stage.MEANING,
    check=check,
)
