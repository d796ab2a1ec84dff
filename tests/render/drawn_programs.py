"""Programs for pictures, built by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from materiac.program import (
    Advance,
    Agent,
    Budget,
    Edge,
    Exit,
    Image,
    Loop,
    Materia,
    Program,
    Settings,
    Socket,
    Utility,
)

MATERIA: Final = {
    "Plan": Materia("Plan", "Plan", agent=Agent("plan", "readOnly", multi_turn=True), generator=True),
    "Build": Materia("Build", "Builder", agent=Agent("build", "coding", model="big", thinking="high")),
    "Check": Materia("Check", "Check", agent=Agent("check", "custom", ("read", "grep"))),
    "Keep": Materia("Keep", "Keep", utility=Utility(builtin="vcs.checkpoint")),
    "Tell": Materia(
        "Tell", "Tell", utility=Utility(command=("python3", "-c", "print('a b')"), timeout_ms=90_000)
    ),
}


def full() -> Image:
    """A bit of everything: a loop with exits, a foreach, budgets, limits, groups, colours."""
    sockets = (
        Socket("plan", "Plan", "json", edges=(Edge("always", "build"),)),
        Socket("build", "Build", "text", edges=(Edge("always", "check"),), loop="work", max_visits=7),
        Socket(
            "check",
            "Check",
            "json",
            edges=(Edge("satisfied", "keep"), Edge("not_satisfied", "build", 3)),
            loop="work",
        ),
        Socket(
            "keep",
            "Keep",
            "json",
            edges=(Edge("always", "build"),),
            loop="work",
            advance=Advance("satisfied"),
        ),
        Socket("tell", "Tell", "json", edges=(Edge("satisfied", "each", 2),), max_output_bytes=500),
        Socket(
            "each",
            "Tell",
            "json",
            edges=(Edge("always", "each"),),
            loop="foreach:each",
            advance=Advance(done="last"),
        ),
        Socket("last", "Tell", "text"),
    )
    loops = (
        Loop(
            "work",
            ("build", "check", "keep"),
            items="state.workItems",
            alias="workItem",
            cursor="workItemIndex",
            done="end",
            empty="tell",
            exits=(Exit("out", "keep", "satisfied", "tell"),),
            source="plan",
            max_concurrency=2,
        ),
        Loop("foreach:each", ("each",), "state.names", "name", "eachIndex", "end", "last", foreach=True),
    )
    program = Program(
        name="Full",
        entry="plan",
        sockets={socket.id: socket for socket in sockets},
        materia=MATERIA,
        loops={loop.id: loop for loop in loops},
        budget=Budget(200_000, 5, stop_at_limit=False),
        properties=({"every path": ["build", "tell"], "passes": "check"},),
    )
    groups = {"reports": ("tell", "each", "last"), "across": ("check", "tell")}
    return Image(program, Settings(groups=groups, colors={"Plan": "materia-color-cyan", "last": "#F00"}))


NASTY: Final = (
    '<b>&lt;"x"</b>\\N\\G\\',
    '{a|b} #quot; #35; `m` "end" %% --> ]]',
    "设计 日本語 ソケット",
    "🙂 👨‍👩‍👧 e\u0301 \u0440\u0443\u0441",
    "1. list",
    "- item * item",
    "end",
    "long-" * 2000,
    "many words " * 900,
)


def chained(*labels: str) -> Image:
    """A chain with one socket for each label; ids and the loop's name are taken from the labels too."""
    ids = [f"{number} {label[:60]}" for number, label in enumerate(labels)]
    sockets = {
        id_: Socket(id_, f"m{number}", "text", edges=(Edge("always", ids[number + 1]),))
        if id_ != ids[-1]
        else Socket(id_, f"m{number}", "text", loop=ids[0])
        for number, id_ in enumerate(ids)
    }
    materia = {
        f"m{number}": Materia(f"m{number}", label, utility=Utility(command=("run", label)))
        for number, label in enumerate(labels)
    }
    loop = Loop(ids[0], (ids[-1],), "state.x", "item", "i", "end", "end")
    return Image(Program(labels[0], ids[0], sockets, materia, {ids[0]: loop}))


def chain(length: int, *, far: bool = False) -> Image:
    """Sockets in a row, each with a way back: to the one before, or to the first."""
    sockets = [
        Socket(
            f"s{index}",
            "Check",
            "json",
            edges=(
                Edge("satisfied", f"s{index + 1}" if index + 1 < length else "end"),
                Edge("not_satisfied", "s0" if far else f"s{max(0, index - 1)}", 3),
            ),
        )
        for index in range(length)
    ]
    return Image(Program("Chain", "s0", {socket.id: socket for socket in sockets}, MATERIA))


def looped(loops: int, size: int) -> Image:
    """Loops in a row, each over its own list, each leading to the next."""
    sockets: dict[str, Socket] = {}
    boxes: dict[str, Loop] = {}
    for number in range(loops):
        names = [f"l{number}.{index}" for index in range(size)]
        after = f"l{number + 1}.0" if number + 1 < loops else "end"
        for index, name in enumerate(names):
            step = Advance(done=after) if index + 1 == size else None
            edges = (Edge("always", names[(index + 1) % size]),)
            sockets[name] = Socket(name, "Build", "text", edges=edges, loop=f"l{number}", advance=step)
        boxes[f"l{number}"] = Loop(f"l{number}", tuple(names), "state.x", "item", "i", after, after)
    return Image(Program("Looped", "l0.0", sockets, MATERIA, boxes))


def grouped(image: Image, **groups: tuple[str, ...]) -> Image:
    """The same with these groups alone."""
    return replace(image, settings=replace(image.settings, groups=groups))
