"""Sound loadouts that together use all that the language has, and how tests run one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from materiac.agents.protocol import Agent
from materiac.agents.scripted import Script, Scripted
from materiac.diagnostic import Severity
from materiac.pipeline import Text, compile_loadout
from materiac.program import Image
from materiac.runtime.run import Order, Result, run

Json = dict[str, Any]

SHIPPED = sorted((Path(__file__).parent.parent / "loadouts").glob("*.json"))

AGENT: Json = {"prompt": "Do it."}
GENERATOR: Json = {"prompt": "Plan it.", "generator": True}
STEP: Json = {"cursor": "workItemIndex", "items": "state.workItems"}


def loadout(sockets: Json, **rest: Any) -> Json:
    """A file with one loadout, of the materia `Agent` and `Planner` and those of its own."""
    frame: Json = {key: rest.pop(key) for key in ("budget", "limits", "parallelism") if key in rest}
    materia = {"Agent": AGENT, "Planner": GENERATOR, **rest.pop("materia", {})}
    entry = next(iter(sockets))
    return {**frame, "loadouts": {"L": {"entry": entry, "sockets": sockets, **rest}}, "materia": materia}


def socket(**fields: Any) -> Json:
    """A socket of the materia `Agent`."""
    return {"materia": "Agent", **fields}


def working(**change: Any) -> Json:
    """A generator, and a loop of two sockets over what it plans."""
    check = socket(
        parse="json",
        advance={**STEP, "when": "satisfied"},
        edges=[
            {"when": "satisfied", "to": "build"},
            {"when": "not_satisfied", "to": "build", "maxTraversals": 2},
        ],
    )
    sockets = {
        "plan": {"materia": "Planner", "edges": [{"to": "build"}]},
        "build": socket(edges=[{"to": "check"}]),
        "check": {**check, **change.pop("check", {})},
        "tell": socket(),
    }
    work = {
        "sockets": ["build", "check"],
        "consumes": {"from": "plan", "output": "workItems"},
        "exits": [{"id": "out", "from": "check", "condition": "always", "targetSocketId": "tell"}],
    }
    return loadout(sockets, loops={"work": work}, **change)


FEATURES: dict[str, Json] = {
    "hello": loadout({"hello": socket()}),
    "work": working(
        budget={"maxTokens": 900, "maxCostUsd": 2.5, "warnAtPercent": 50, "stopAtLimit": False},
        limits={"maxNoAdvanceCycles": 2, "maxAnswerBytes": 1000, "maxItems": 20},
        parallelism={"maxConcurrency": 3},
    ),
    "exits": loadout(
        {
            "plan": {"materia": "Planner", "edges": [{"to": "build"}]},
            "build": socket(
                parse="json",
                assign={"notes.last": "$.context", "titles": "workItem.title", "seen": "notes"},
                advance=STEP,
                edges=[{"when": "satisfied", "to": "check"}, {"when": "not_satisfied", "to": "build"}],
            ),
            "check": socket(edges=[{"to": "build"}], limits={"maxVisits": 9, "maxOutputBytes": 4000}),
            "good": socket(),
            "bad": socket(),
        },
        loops={
            "work": {
                "sockets": ["build", "check"],
                "iterator": {**STEP, "as": "job", "done": "good"},
                "exits": [
                    {"from": "build", "condition": "not_satisfied", "targetSocketId": "bad"},
                    {"from": "build", "condition": "always", "targetSocketId": "good"},
                ],
            },
            "group": {"sockets": ["good", "bad"]},
        },
        properties=[{"every path": ["check", "good"], "passes": "build"}],
    ),
    "foreach": loadout(
        {
            "seed": {"materia": "Seed", "edges": [{"to": "each"}]},
            "each": socket(
                foreach={"items": "state.files", "as": "file", "cursor": "at", "done": "tell"},
                advance={"cursor": "at", "items": "state.files", "done": "tell"},
                edges=[{"to": "each"}],
            ),
            "tell": {"materia": "Tell"},
        },
        materia={
            "Seed": {
                "utility": "echo",
                "params": {"output": {"state": {"files": ["a", {"name": "b"}]}}},
                "parse": "json",
                "writes": ["files"],
                "idempotent": True,
            },
            "Tell": {"command": ["cat"], "params": {"env": ["HOME"]}, "timeoutMs": 9000},
        },
    ),
    "scopes": loadout(
        {"ask": {"materia": "Asker", "edges": [{"to": "old"}]}, "old": {"materia": "Old"}},
        materia={
            "Asker": {
                "prompt": "Ask {{request}}",
                "tools": {"type": "custom", "tools": ["read", "bash"]},
                "model": "m",
                "thinking": "high",
                "multiTurn": True,
                "env": ["OPEN_API_KEY", "ASKER_TOKEN"],
                "cost": {"inputTokens": 10, "usd": 0.5},
                "label": "The one who asks",
                "color": "#ff0000",
            },
            "Old": {"script": {"kind": "shippedUtility", "name": "mime-gh-pr.mjs"}},
        },
    ),
    "words": {
        "pipeline": {
            "entry": "a",
            "sockets": {
                "a": {"role": "worker", "prompt": "More.", "edges": [{"to": "b"}]},
                "b": {"command": ["cat"]},
            },
        },
        "roles": {"worker": {"systemPrompt": "Work."}},
    },
}


def _early() -> Json:
    """The loop of `working`, whose exit is written in the early form."""
    config = working()
    (spec,) = config["loadouts"].values()
    del spec["sockets"]["check"]["advance"], spec["loops"]["work"]["exits"]
    spec["loops"]["work"]["exit"] = {"from": "check", "when": "satisfied", "to": "tell"}
    return config


FEATURES["early"] = _early()


def compiled(config: Json, name: str | None = None) -> Image:
    """The image of a file that has to be sound."""
    done = compile_loadout([Text("loadout.json", json.dumps(config).encode())], name)
    errors = [part.finding.message for part in done.findings if part.finding.severity is Severity.ERROR]
    assert not errors, errors
    assert done.image is not None
    return done.image


def answers(**sockets: Any) -> Scripted:
    """An agent with answers by socket; an object is sent as JSON."""
    script = {id_: _script(listed) for id_, listed in sockets.items()}
    return Scripted("scripted:here", Script.model_validate({"sockets": script}))


def _script(listed: Any) -> Any:
    parts = listed if isinstance(listed, list) else [listed]
    return [part if isinstance(part, str) or _is_answer(part) else {"json": part} for part in parts]


def _is_answer(part: Mapping[str, Any]) -> bool:
    return not {"text", "json", "error"}.isdisjoint(part) and part.keys() <= {
        "text",
        "json",
        "error",
        "usage",
    }


def order(image: Image, cwd: Path, agent: Agent, **rest: Any) -> Order:
    """An order with a request, in `cwd`, its casts too; the environment is next to empty."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    return replace(Order(image, "a request", agent, cwd, cwd / "casts", environ), **rest)


def cast(config: Json, cwd: Path, agent: Agent, **rest: Any) -> Result:
    """Run the one loadout of a file."""
    return run(order(compiled(config), cwd, agent, **rest))
