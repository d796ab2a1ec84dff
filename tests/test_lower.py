from __future__ import annotations

from typing import Any

import pytest
from samples import AGENT, FEATURES, STEP, Json, compiled, loadout, socket, working

from materiac.program import (
    END,
    Advance,
    Agent,
    Agents,
    Budget,
    Edge,
    Exit,
    Limits,
    Loop,
    Materia,
    Program,
    Recovery,
    Settings,
    Socket,
    Utility,
)


def program(config: Json) -> Program:
    return compiled(config).program


def test_defaults_are_filled_in() -> None:
    assert program(loadout({"a": {"materia": "Agent"}})) == Program(
        "L",
        "a",
        {"a": Socket("a", "Agent", "text")},
        {"Agent": Materia("Agent", "Agent", agent=Agent("Do it."))},
        budget=Budget(warn_at_percent=75.0),
        max_concurrency=2,
    )


def test_only_what_is_used_is_compiled() -> None:
    assert list(program(FEATURES["foreach"]).materia) == ["Seed", "Agent", "Tell"]


def test_a_loop_that_consumes() -> None:
    assert program(FEATURES["work"]).loops == {
        "work": Loop(
            id="work",
            sockets=("build", "check"),
            items="state.workItems",
            alias="workItem",
            cursor="workItemIndex",
            done=END,
            empty="tell",
            exits=(Exit("out", "check", "always", "tell"),),
            source="plan",
        )
    }


def test_a_loop_with_an_iterator() -> None:
    (loop,) = program(FEATURES["exits"]).loops.values()
    assert (loop.items, loop.alias, loop.cursor, loop.done) == (
        "state.workItems",
        "job",
        "workItemIndex",
        "good",
    )
    assert loop.exits == (
        Exit("", "build", "not_satisfied", "bad"),
        Exit("", "build", "always", "good"),
    )
    assert (loop.empty, loop.source, loop.foreach) == ("good", None, False)


def test_a_loop_that_only_groups_is_for_the_picture() -> None:
    image = compiled(FEATURES["exits"])
    assert list(image.program.loops) == ["work"]
    assert image.settings.groups == {"group": ("good", "bad")}


def test_an_early_exit_is_an_advance_and_an_exit() -> None:
    built = program(FEATURES["early"])
    assert built.sockets["check"].advance == Advance("satisfied")
    assert built.loops["work"].exits == (Exit("", "check", "satisfied", "tell"),)
    assert built.loops["work"].empty == END


def test_an_early_exit_to_the_end_has_no_exit() -> None:
    config = FEATURES["early"]
    spec = {**config["loadouts"]["L"]}
    spec["loops"] = {
        "work": {**spec["loops"]["work"], "exit": {"from": "check", "when": "always", "to": "end"}}
    }
    built = program({**config, "loadouts": {"L": spec}})
    assert built.sockets["check"].advance == Advance("always")
    assert (built.loops["work"].exits, built.loops["work"].empty) == ((), END)


def test_foreach_is_a_loop_of_one() -> None:
    built = program(FEATURES["foreach"])
    assert built.loops == {
        "foreach:each": Loop(
            id="foreach:each",
            sockets=("each",),
            items="state.files",
            alias="file",
            cursor="at",
            done="tell",
            empty="tell",
            foreach=True,
        )
    }
    assert built.sockets["each"] == Socket(
        "each",
        "Agent",
        "text",
        edges=(Edge("always", "each"),),
        loop="foreach:each",
        advance=Advance(done="tell"),
    )


@pytest.mark.parametrize(
    ("change", "parse"),
    [
        pytest.param({}, "text", id="plain"),
        pytest.param({"materia": {"parse": "json"}}, "json", id="materia"),
        pytest.param({"materia": {"parse": "json"}, "socket": {"parse": "text"}}, "text", id="socket"),
        pytest.param({"materia": {"generator": True}}, "json", id="generator"),
    ],
)
def test_how_an_output_is_read(change: Json, parse: str) -> None:
    config = loadout(
        {"a": socket(**change.get("socket", {}))}, materia={"Agent": {**AGENT, **change.get("materia", {})}}
    )
    assert program(config).sockets["a"].parse == parse


@pytest.mark.parametrize(
    ("condition", "parse"), [("satisfied", "json"), ("not_satisfied", "json"), ("always", "text")]
)
def test_an_exit_with_a_verdict_makes_its_source_json(condition: str, parse: str) -> None:
    config = working(check={"parse": None, "advance": STEP, "edges": [{"to": "build"}]})
    del config["loadouts"]["L"]["sockets"]["check"]["parse"]
    config["loadouts"]["L"]["loops"]["work"]["exits"] = [
        {"from": "check", "condition": condition, "targetSocketId": "tell"},
        {"from": "build", "condition": "always", "targetSocketId": "tell"},
    ]
    assert program(config).sockets["check"].parse == parse


def test_assigns_are_merged_in_order() -> None:
    config = loadout(
        {"a": {"materia": "P", "assign": {"b": "$.socket", "workItems": "$.workItems", "c": "$.c"}}},
        materia={"P": {"prompt": "p", "generator": True, "assign": {"a": "$.a", "b": "$.b"}}},
    )
    assert program(config).sockets["a"].assign == (
        ("a", "$.a"),
        ("b", "$.socket"),
        ("c", "$.c"),
        ("workItems", "$.workItems"),
    )


@pytest.mark.parametrize(
    ("materia", "expected"),
    [
        pytest.param({"command": ["a", "b"]}, Utility(command=("a", "b")), id="command"),
        pytest.param({"utility": "noop"}, Utility(builtin="noop"), id="built-in"),
        pytest.param(
            {"script": {"kind": "shippedUtility", "name": "detect-vcs.mjs"}},
            Utility(builtin="vcs.detect"),
            id="script",
        ),
        pytest.param(
            {"script": {"kind": "shippedUtility", "name": "mime-gh-pr.mjs"}},
            Utility(missing="mime-gh-pr.mjs"),
            id="script without a counterpart",
        ),
        pytest.param(
            {"utility": "vcs.spawnJjWorkspace"},
            Utility(missing="vcs.spawnJjWorkspace"),
            id="utility without a counterpart",
        ),
        pytest.param(
            {"command": ["a"], "params": {"x": [1]}, "timeoutMs": 5, "idempotent": True},
            Utility(command=("a",), params={"x": [1]}, timeout_ms=5, idempotent=True),
            id="all",
        ),
    ],
)
def test_utilities(materia: Json, expected: Utility) -> None:
    built = program(loadout({"a": {"materia": "U"}}, materia={"U": materia}))
    assert built.materia["U"] == Materia("U", "U", utility=expected)


@pytest.mark.parametrize(
    ("tools", "scope", "names"),
    [
        ("none", "none", ()),
        ("readOnly", "readOnly", ("read", "grep", "find", "ls")),
        ("coding", "coding", ("read", "grep", "find", "ls", "bash", "edit", "write")),
        ({"type": "custom", "tools": ["bash"]}, "custom", ("bash",)),
    ],
    ids=str,
)
def test_tools(tools: Any, scope: str, names: tuple[str, ...]) -> None:
    built = program(loadout({"a": socket()}, materia={"Agent": {**AGENT, "tools": tools}}))
    assert built.materia["Agent"].agent == Agent("Do it.", scope=scope, tools=names)


def test_all_of_an_agent() -> None:
    assert program(FEATURES["scopes"]).materia["Asker"] == Materia(
        "Asker",
        "The one who asks",
        agent=Agent(
            "Ask {{request}}",
            "custom",
            ("read", "bash"),
            "m",
            "high",
            multi_turn=True,
            env=("ASKER_TOKEN", "OPEN_API_KEY"),
        ),
        cost={"inputTokens": 10, "usd": 0.5},
    )


def test_the_keys_of_the_state_that_are_known() -> None:
    assert set(program(FEATURES["foreach"]).state_keys) == {"files", "context", "envelope", "workItems"}
    assert set(program(FEATURES["exits"]).state_keys) >= {"notes", "titles", "seen"}
    detect = loadout({"a": {"materia": "U"}}, materia={"U": {"utility": "vcs.detect"}})
    assert program(detect).state_keys == ("vcs",)


def test_frame() -> None:
    built = program(FEATURES["work"])
    assert built.budget == Budget(900, 2.5, 50.0, stop_at_limit=False)
    assert (built.max_no_advance_cycles, built.max_concurrency) == (2, 3)
    assert program(FEATURES["exits"]).properties == ({"every path": ["check", "good"], "passes": "build"},)


def test_settings() -> None:
    config = {
        **FEATURES["scopes"],
        "artifactDir": "x",
        "agents": {
            "default": "ask",
            "scopes": {"readOnly": "command:look", "coding": "command:build"},
            "materia": {"Asker": "command:talk"},
        },
        "recovery": {"attempts": 2, "toolTimeouts": 0},
        "eventing": {"enabled": True, "presets": ["p"]},
    }
    assert compiled(config).settings == Settings(
        artifact_dir="x",
        agents=Agents(
            "ask", {"readOnly": "command:look", "coding": "command:build"}, {"Asker": "command:talk"}
        ),
        recovery=Recovery(attempts=2, tool_timeouts=0),
        eventing={"enabled": True, "sinks": {}, "presets": ["p"], "heartbeatIntervalMs": 30_000},
        colors={"Asker": "#ff0000"},
    )


@pytest.mark.parametrize(
    ("own", "of_all", "handoff"),
    [
        (None, None, "text"),
        (None, "tool", "tool"),
        ("schema", "tool", "schema"),
        ("text", "tool", "text"),
    ],
    ids=["said nowhere", "of the file", "of the materia", "back to text"],
)
def test_how_objects_are_handed_over(own: str | None, of_all: str | None, handoff: str) -> None:
    materia = {"prompt": "p", **({"handoff": own} if own else {})}
    config = loadout({"a": {"materia": "A"}}, materia={"A": materia})
    agent = program({**config, "agents": {"handoff": of_all} if of_all else {}}).materia["A"].agent
    assert agent is not None
    assert agent.handoff == handoff


@pytest.mark.parametrize(
    ("materia", "scope", "spec"),
    [("Asker", "coding", "ask"), ("Other", "coding", "command:build"), ("Other", "none", "command:any")],
    ids=["by materia", "by scope", "by default"],
)
def test_who_answers(materia: str, scope: str, spec: str) -> None:
    agents = Agents("command:any", {"coding": "command:build"}, {"Asker": "ask"})
    assert agents.of(materia, scope) == spec
    assert Agents().of(materia, scope) is None


def test_limits() -> None:
    most = {"maxAnswerBytes": 1, "maxPromptBytes": 2, "maxItems": 3, "maxJournalBytes": 4}
    assert compiled({**FEATURES["hello"], "limits": most}).settings.limits == Limits(1, 2, 3, 4)
    assert compiled(FEATURES["hello"]).settings.limits == Limits()
