from __future__ import annotations

from typing import Any

import pytest

from materiac import model
from materiac.flow.generators import Feeders
from materiac.graph import LoadoutGraph

MATERIA: dict[str, model.Materia] = {
    "P": model.AgentMateria.model_validate({"prompt": "p"}),
    "G": model.AgentMateria.model_validate({"prompt": "p", "generator": True}),
}


def feeders_of(edges: dict[str, list[str]], members: str, source: str = "G1") -> tuple[list[str], bool]:
    """The generators that feed a loop, and whether `source` is the only one; `G…` are generators."""
    guards = ["satisfied", "not_satisfied"]
    sockets = {
        name: {
            "materia": name[0] if name[0] in MATERIA else "P",
            "parse": "json",
            "edges": [{"when": when, "to": to} for when, to in zip(guards, targets, strict=False)],
        }
        for name, targets in edges.items()
    }
    loops: dict[str, Any] = {"work": {"sockets": members.split(), "consumes": {"from": source}}}
    frame = {"entry": next(iter(edges)), "sockets": sockets, "loops": loops}
    graph = LoadoutGraph("L", model.Loadout.model_validate(frame), MATERIA)
    feeders, loop = Feeders(graph), graph.loops["work"]
    found = sorted(id_ for id_ in feeders.before(loop) if graph.sockets[id_].generator)
    return found, feeders.only(loop, source)


@pytest.mark.parametrize(
    ("edges", "members", "found"),
    [
        ({"G1": ["m"], "m": ["m"]}, "m", ["G1"]),
        ({"G1": ["P1"], "P1": ["P2"], "P2": ["P1", "m"], "m": ["m"]}, "m", ["G1"]),
        ({"G1": ["G2"], "G2": ["m"], "m": ["m"]}, "m", ["G2"]),
        ({"G1": ["m"], "G2": ["m"], "m": ["m"]}, "m", ["G1", "G2"]),
        ({"G1": ["m"], "m": ["G2"], "G2": ["m"]}, "m G2", ["G1"]),
        ({"G1": ["m"], "m": ["G2"], "G2": ["P1", "m"], "P1": ["m"]}, "m G2", ["G1"]),
        ({"G1": ["m"], "m": ["P1", "m"], "P1": ["m"]}, "m", ["G1"]),
        ({"P1": ["m"], "m": ["m"]}, "m", []),
    ],
    ids=[
        "at once",
        "plain sockets between, in a cycle",
        "another generator between",
        "two",
        "one in the loop",
        "one in the loop, around outside",
        "back from outside",
        "none",
    ],
)
def test_feeders(edges: dict[str, list[str]], members: str, found: list[str]) -> None:
    source = next(name for name in edges if name != "m")
    assert feeders_of(edges, members, source) == (found, found == [source])


def test_many_generators_are_all_found() -> None:
    edges = {f"G{i}": ["P1"] for i in range(1, 30)} | {"P1": ["m"], "m": ["m"]}
    found, only = feeders_of(edges, "m")
    assert (len(found), only) == (29, False)


def test_many_generators_in_the_loop_feed_it_no_less() -> None:
    inside = {f"G{i}": [f"G{i + 1}", "P1"] for i in range(2, 20)} | {"G20": ["m", "P1"]}
    edges = {"G1": ["P1"], "P1": ["m"], "m": ["G2"], **inside}
    assert feeders_of(edges, f"m {' '.join(inside)}") == (["G1"], True)
