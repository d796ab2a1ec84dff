"""The neutral diagram: which nodes, ways and boxes a program has, and its overview."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drawn_programs import MATERIA, chain, full, grouped, looped

from materiac.program import (
    Advance,
    Agent,
    Edge,
    Exit,
    Image,
    Loop,
    Materia,
    Program,
    Region,
    Socket,
    Utility,
)
from materiac.render.diagram import Diagram, make
from materiac.render.overview import overview


def ways(diagram: Diagram) -> list[str]:
    names = {node.id: node.name for node in diagram.nodes} | {"start": "START", "end": "END"}
    return [
        " ".join([names[a.source], f"-{a.words}->" if a.words else "->", names[a.target]])
        for a in diagram.arrows
    ]


def test_every_way_in_written_order() -> None:
    assert ways(make(full())) == [
        "START -> plan",
        "plan -> build",
        "build -> check",
        "check -satisfied-> keep",
        "check -not_satisfied ≤3-> build",
        "keep -> build",
        "keep -used up, satisfied-> tell",
        "tell -satisfied ≤2-> each",
        "tell -otherwise-> END",
        "each -> each",
        "each -used up-> last",
        "last -> END",
        "build -list empty-> tell",
        "each -list empty-> last",
    ]


EDGES = {
    "none": ((), ["-> END"]),
    "always": ((Edge("always", "a"),), ["-> a"]),
    "one verdict": ((Edge("not_satisfied", "a"),), ["-not_satisfied-> a", "-otherwise-> END"]),
    "both verdicts": (
        (Edge("satisfied", "end"), Edge("not_satisfied", "a", 1)),
        ["-satisfied-> END", "-not_satisfied ≤1-> a"],
    ),
    "a verdict and always": (
        (Edge("satisfied", "end"), Edge("always", "a")),
        ["-satisfied-> END", "-> a"],
    ),
}


@pytest.mark.parametrize(("edges", "expected"), EDGES.values(), ids=EDGES)
def test_what_edges_leave_open_leads_to_the_end(edges: tuple[Edge, ...], expected: list[str]) -> None:
    program = Program("p", "a", {"a": Socket("a", "Check", "json", edges=edges)}, MATERIA)
    assert ways(make(Image(program)))[1:] == [f"a {way}" for way in expected]


USED_UP = {
    "no exit": (Advance(), (), ["-used up-> b"]),
    "its own way": (Advance(done="c"), (), ["-used up-> c"]),
    "always": (Advance(), (Exit("x", "a", "always", "c"),), ["-used up-> c"]),
    "the verdict of the step": (
        Advance("satisfied"),
        (Exit("x", "a", "satisfied", "c"),),
        ["-used up, satisfied-> c"],
    ),
    "another verdict": (
        Advance("satisfied"),
        (Exit("x", "a", "not_satisfied", "c"),),
        ["-used up, not_satisfied-> c", "-used up, otherwise-> b"],
    ),
    "a verdict that may be missing": (
        Advance(),
        (Exit("x", "a", "satisfied", "c"), Exit("y", "a", "not_satisfied", "end")),
        ["-used up, satisfied-> c", "-used up, not_satisfied-> END", "-used up, otherwise-> b"],
    ),
    "a socket that does not step": (None, (), []),
}


@pytest.mark.parametrize(("step", "exits", "expected"), USED_UP.values(), ids=USED_UP)
def test_where_a_used_up_list_leads(
    step: Advance | None, exits: tuple[Exit, ...], expected: list[str]
) -> None:
    sockets = {
        "a": Socket("a", "Check", "json", edges=(Edge("always", "a"),), loop="w", advance=step),
        "b": Socket("b", "Check", "text"),
        "c": Socket("c", "Check", "text"),
    }
    loop = Loop("w", ("a",), "state.x", "item", "i", done="b", empty="b", exits=exits)
    found = ways(make(Image(Program("p", "a", sockets, MATERIA, {"w": loop}))))
    assert [way for way in found if "used up" in way] == [f"a {way}" for way in expected]


def test_what_is_said_of_a_socket() -> None:
    nodes = {node.name: node for node in make(full()).nodes}
    assert list(nodes) == ["plan", "build", "check", "keep", "tell", "each", "last"]
    assert (nodes["plan"].kind, nodes["plan"].marks) == ("agent", ("generator", "multi-turn"))
    assert nodes["plan"].color == "#0e8fa3"
    assert nodes["last"].color == "#ff0000"
    assert nodes["build"].materia == "Builder (Build)"
    assert nodes["build"].does == "tools coding, model big, thinking high"
    assert (nodes["build"].marks, nodes["build"].notes) == (("consumer",), ("≤7 visits",))
    assert (nodes["check"].does, nodes["check"].reads) == ("tools read grep", "json")
    assert (nodes["keep"].kind, nodes["keep"].does) == ("utility", "built-in vcs.checkpoint")
    assert nodes["keep"].notes == ("next item if satisfied",)
    assert nodes["tell"].does == "runs python3 -c \"print('a b')\""
    assert nodes["tell"].notes == ("≤500 bytes", "≤90 s", "group across")
    assert nodes["each"].marks == ("foreach",)
    assert nodes["each"].notes[:2] == ("for each name of state.names", "cursor eachIndex")


DOES = {
    "no tools": (Materia("m", "m", agent=Agent("p")), "no tools"),
    "an empty list of tools": (Materia("m", "m", agent=Agent("p", "custom")), "no tools"),
    "a plain command": (Materia("m", "m", utility=Utility(("ls", "-l"))), "runs ls -l"),
    "quotes of both kinds": (
        Materia("m", "m", utility=Utility(("echo", "'\"", ""))),
        "runs echo ''\"'\"'\"' ''",
    ),
    "a built-in that is missing": (
        Materia("m", "m", utility=Utility(missing="vcs.fly")),
        "built-in vcs.fly, which does not exist yet",
    ),
}


@pytest.mark.parametrize(("materia", "expected"), DOES.values(), ids=DOES)
def test_with_what_the_work_is_done(materia: Materia, expected: str) -> None:
    program = Program("p", "a", {"a": Socket("a", "m", "text")}, {"m": materia})
    assert make(Image(program)).nodes[0].does == expected


def test_facts_of_the_cast() -> None:
    assert make(full()).facts == (
        ("entry", "plan"),
        ("budget", "200,000 tokens, 5 USD, warning at 75 %, the cast waits there"),
        ("limits", "at most 3 cycles without advance"),
        ("artifacts", ".materia/casts"),
        ("property", "every path build – tell, passes check"),
    )


def test_a_loop_is_a_box_with_its_list_and_a_foreach_is_none() -> None:
    loop, reports = make(full()).boxes
    assert (loop.kind, loop.name, loop.nodes) == ("loop", "work", ("n2", "n3", "n4"))
    assert loop.lines == (
        "for each workItem of state.workItems",
        "cursor workItemIndex",
        "consumes workItems of plan",
    )
    assert (reports.kind, reports.name, reports.nodes) == ("group", "reports", ("n5", "n6", "n7"))


def test_what_runs_in_streams() -> None:
    """The loop says how many at a time, the sockets before it that each stream comes to them."""
    image = full()
    region = Region("plan", ("tell",), "work", "build", "last", max_concurrency=3)
    streamed = replace(image, program=replace(image.program, regions={"plan": region}))
    diagram = make(streamed)
    assert diagram.boxes[0].lines[-1] == "parallel ≤3"
    notes = {node.name: node.notes for node in diagram.nodes}
    assert notes["tell"][0] == "once for each stream"
    assert "once for each stream" not in notes["build"]
    [empty] = [arrow for arrow in diagram.arrows if arrow.kind == "empty" and arrow.box]
    assert {node.id: node.name for node in diagram.nodes}[empty.target] == "last"


def test_boxes_nest_and_never_cross() -> None:
    image = grouped(
        looped(2, 3),
        inner=("l0.0", "l0.1"),
        same=("l0.0", "l0.1", "l0.2"),
        across=("l0.2", "l1.0"),
        around=("l0.0", "l0.1", "l0.2", "l1.0", "l1.1", "l1.2"),
        unknown=("nobody",),
    )
    diagram = make(image)
    names = {box.id: box.name for box in diagram.boxes}
    parents = {box.name: names.get(box.parent or "") for box in diagram.boxes}
    assert parents == {"l0": "around", "l1": "around", "inner": "l0", "around": None}
    strays = {node.name: node.notes for node in diagram.nodes if any("group" in note for note in node.notes)}
    assert strays == {
        "l0.0": ("group same",),
        "l0.1": ("group same",),
        "l0.2": ("next item", "group same", "group across"),
        "l1.0": ("group across",),
    }


def test_the_overview_folds_loops_and_groups_and_counts_lines() -> None:
    diagram = overview(make(full()))
    assert [(node.name, node.materia) for node in diagram.nodes] == [
        ("plan", "Plan"),
        ("work", "loop of 3 sockets"),
        ("reports", "group of 3 sockets"),
    ]
    assert ways(diagram) == [
        "START -> plan",
        "plan -> work",
        "work -×2-> reports",
        "reports -×2-> END",
    ]
    assert diagram.boxes == ()


def test_the_overview_keeps_what_is_not_folded() -> None:
    image = grouped(looped(2, 2), around=("l0.0", "l0.1", "l1.0"), all=("l0.0", "l0.1", "l1.0", "l1.1"))
    diagram = overview(make(image))
    assert [(box.name, box.nodes) for box in diagram.boxes] == [("all", ("c1", "c2"))]
    assert ways(overview(make(chain(2)))) == [
        "START -> s0",
        "s0 -satisfied-> s1",
        "s0 -not_satisfied ≤3-> s0",
        "s1 -satisfied-> END",
        "s1 -not_satisfied ≤3-> s0",
    ]


def test_equal_lines_keep_their_words_in_the_overview() -> None:
    sockets = {
        name: Socket(name, "Check", "json", edges=(Edge("satisfied", "c", 2), Edge("always", "c")))
        for name in "ab"
    } | {"c": Socket("c", "Check", "text")}
    image = grouped(Image(Program("p", "a", sockets, MATERIA)), both=("a", "b"))
    assert "both -×4-> c" in ways(overview(make(image)))
    bounded = {name: Socket(name, "Check", "json", edges=(Edge("satisfied", "c", 2),)) for name in "ab"}
    image = grouped(Image(Program("p", "a", sockets | bounded, MATERIA)), both=("a", "b"))
    assert "both -satisfied ≤2 ×2-> c" in ways(overview(make(image)))
