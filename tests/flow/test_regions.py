"""What keeps the streams of a parallel generator from being told, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import STEP, Json, compiled, loadout, socket

from materiac.diagnostic import Severity
from materiac.pipeline import Text, check
from materiac.program import Region

SAFE = {"prompt": "Do it.", "parallelSafe": True}
PARALLEL = {"prompt": "Plan it.", "generator": True, "parallel": True}


def safe(**fields: Any) -> Json:
    return {"materia": "Safe", **fields}


def streams(*, to: str = "make", sockets: Json | None = None, loops: Json | None = None, **loop: Any) -> Json:
    """`plan`, then the loop of `make` and `keep`, then `tell`; `sockets` and `loops` are laid over that."""
    made = {
        "plan": {"materia": "Plan", "edges": [{"to": to}]},
        "make": safe(edges=[{"to": "keep"}]),
        "keep": safe(parse="json", advance={**STEP, "when": "satisfied"}, edges=[{"to": "make"}]),
        "tell": socket(),
    }
    work = {
        "sockets": ["make", "keep"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "keep", "condition": "satisfied", "targetSocketId": "tell"}],
    }
    return loadout(
        made | (sockets or {}),
        loops={"work": work | loop, **(loops or {})},
        materia={"Plan": PARALLEL, "Safe": SAFE},
    )


def faults(config: Json) -> list[str]:
    report = check([Text("loadout.json", json.dumps(config).encode())])
    found = [part.finding for part in report]
    return [f"{one.rule}: {one.message}" for one in found if one.severity is Severity.ERROR]


WITHOUT = {"plan": {"materia": "Plan", "edges": [{"to": "tell"}]}}

REFUSED: dict[str, tuple[Json, str]] = {
    "no loop": (
        loadout({**WITHOUT, "tell": socket()}, materia={"Plan": PARALLEL}),
        "no loop consumes the work items of the parallel generator 'plan'",
    ),
    "no edge": (
        streams(sockets={"plan": {"materia": "Plan"}, "begin": socket(edges=[{"to": "make"}])}),
        "on the way of streams to loop 'work', 'plan' has no edge, expected one that is always taken",
    ),
    "a guarded edge": (
        streams(sockets={"plan": {"materia": "Plan", "edges": [{"to": "make", "when": "satisfied"}]}}),
        (
            "on the way of streams to loop 'work', 'plan' has an edge that is taken when 'satisfied', "
            "expected one that is always taken"
        ),
    ),
    "a fork in the prelude": (
        streams(
            to="spawn",
            sockets={
                "spawn": safe(parse="json", edges=[{"to": "make", "when": "satisfied"}, {"to": "tell"}])
            },
        ),
        "on the way of streams to loop 'work', 'spawn' has 2 edges, expected one that is always taken",
    ),
    "a way that does not arrive": (
        streams(to="a", sockets={"a": safe(edges=[{"to": "b"}]), "b": safe(edges=[{"to": "a"}])}),
        "the way from 'plan' to loop 'work' leads to 'a', for the second time",
    ),
    "a way that ends": (
        streams(to="a", sockets={"a": safe(edges=[{"to": "end"}])}),
        "the way from 'plan' to loop 'work' leads to 'end'",
    ),
    "a list on the way": (
        streams(
            to="each", sockets={"each": safe(foreach={"items": "state.workItems"}, edges=[{"to": "make"}])}
        ),
        "the way from 'plan' to loop 'work' leads to 'each', which goes through a list of its own",
    ),
    "another list": (
        streams(
            iterator={"items": "state.files"}, sockets={"keep": safe(parse="json", edges=[{"to": "make"}])}
        ),
        "loop 'work' goes through 'state.files', the streams of 'plan' are of 'state.workItems'",
    ),
    "a way into the loop": (
        streams(sockets={"tell": socket(edges=[{"to": "make", "maxTraversals": 1}])}),
        "'make' runs in the streams of 'plan', but 'tell' leads to it too",
    ),
    "back into the prelude": (
        streams(
            to="spawn",
            sockets={
                "spawn": safe(edges=[{"to": "make"}]),
                "keep": safe(parse="json", advance={**STEP, "when": "satisfied"}, edges=[{"to": "spawn"}]),
            },
        ),
        "'spawn' runs in the streams of 'plan', but 'keep' leads to it too",
    ),
    "two ways on": (
        streams(
            exits=[
                {"from": "keep", "condition": "satisfied", "targetSocketId": "tell"},
                {"from": "keep", "condition": "not_satisfied", "targetSocketId": "mourn"},
            ],
            sockets={
                "keep": safe(parse="json", advance=STEP, edges=[{"to": "make", "when": "satisfied"}]),
                "mourn": socket(),
            },
        ),
        "loop 'work' leads to 'tell' and to 'mourn' when it is used up, expected one way on from its streams",
    ),
    "on into itself": (
        streams(exits=[{"from": "keep", "condition": "satisfied", "targetSocketId": "make"}]),
        "the streams of 'plan' would go on at 'make', which runs in them",
    ),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_no_stream_can_go(config: Json, message: str) -> None:
    assert f"parallel-path: {message}" in faults(config)


def test_two_loops_of_one_generator() -> None:
    again = {"sockets": ["tell", "last"], "consumes": {"from": "plan"}}
    more = {"tell": safe(edges=[{"to": "last"}]), "last": safe(edges=[{"to": "tell"}])}
    words = "loops 'work' and 'again' both consume the work items of 'plan', whose streams run one"
    assert f"parallel-path: {words}" in faults(streams(sockets=more, loops={"again": again}))


KEPT: dict[str, tuple[Json, Region]] = {
    "no prelude": (streams(), Region("plan", (), "work", "make", "tell", 2)),
    "a prelude": (
        streams(to="a", sockets={"a": safe(edges=[{"to": "b"}]), "b": safe(edges=[{"to": "make"}])}),
        Region("plan", ("a", "b"), "work", "make", "tell", 2),
    ),
    "the loop's own limit": (
        streams(parallel={"maxConcurrency": 7}),
        Region("plan", (), "work", "make", "tell", 7),
    ),
    "to the end": (
        streams(exits=[{"from": "keep", "condition": "satisfied", "targetSocketId": "end"}]),
        Region("plan", (), "work", "make", "end", 2),
    ),
    "a new plan after the streams": (
        streams(
            sockets={
                "tell": socket(
                    parse="json",
                    edges=[
                        {"when": "satisfied", "to": "end"},
                        {"when": "not_satisfied", "to": "plan", "maxTraversals": 1},
                    ],
                )
            }
        ),
        Region("plan", (), "work", "make", "tell", 2),
    ),
}


@pytest.mark.parametrize(("config", "region"), KEPT.values(), ids=KEPT)
def test_what_streams_go(config: Json, region: Region) -> None:
    assert compiled(config).program.regions == {"plan": region}
