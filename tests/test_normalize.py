from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac import json_text
from materiac.diagnostic import Finding, Severity
from materiac.normalize import normalize
from materiac.source import Document, Pointer, Source, Span

Fields = dict[str, Any]


def document(text: str) -> Document:
    read, findings = json_text.read(Source("loadout.json", text))
    assert read is not None, findings
    return read


def of(data: Any, below: Fields | None = None) -> tuple[Document, list[Finding]]:
    return normalize(document(json.dumps(data, ensure_ascii=False)), below or {})


def shown(doc: Document, at: Pointer | Span) -> str:
    span = at if isinstance(at, Span) else doc.span(at)
    return doc.source.text[span.start : span.end]


def said(doc: Document, findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.rule, finding.message, shown(doc, finding.at)) for finding in findings]


def socket(**fields: Any) -> Fields:
    return {"loadouts": {"L": {"sockets": {"a": fields}}}}


def early(message: str, where: str) -> tuple[str, str, str]:
    return ("legacy-form", message, where)


NOTHING = "means nothing here"

REWRITTEN: dict[str, tuple[Fields, Fields, list[tuple[str, str, str]]]] = {
    "pipeline": (
        {"pipeline": {"sockets": {}}, "loadouts": {"A": {}}},
        {"loadouts": {"A": {}, "pipeline": {"sockets": {}}}},
        [early("'pipeline' is the early form of a loadout", '"pipeline"')],
    ),
    "a pipeline of any shape": (
        {"pipeline": "x"},
        {"loadouts": {"pipeline": "x"}},
        [early("'pipeline' is the early form of a loadout", '"pipeline"')],
    ),
    "pipeline beside its loadout": (
        {"pipeline": {"x": 1}, "loadouts": {"pipeline": {}}},
        {"loadouts": {"pipeline": {}}},
        [("invalid-value", "'pipeline' stands beside a loadout of that name", '"pipeline"')],
    ),
    "roles": (
        {"roles": {"r": {"tools": "none", "systemPrompt": "Do."}, "s": {"prompt": "p", "systemPrompt": "q"}}},
        {"materia": {"r": {"tools": "none", "prompt": "Do."}, "s": {"prompt": "p", "systemPrompt": "q"}}},
        [early("'roles' is the early form of 'materia'", '"roles"')],
    ),
    "hidden role": (
        {"roles": {"r": {"systemPrompt": "x"}}, "materia": {"r": {"prompt": "y"}}},
        {"materia": {"r": {"prompt": "y"}}},
        [
            early("'roles' is the early form of 'materia'", '"roles"'),
            early("role 'r' is hidden by the materia of that name", '"r"'),
        ],
    ),
    "a socket with a command": (
        socket(type="utility", command=["true"], params={}, parse="json", edges=[]),
        {
            "loadouts": {"L": {"sockets": {"a": {"materia": "L/a", "parse": "json", "edges": []}}}},
            "materia": {"L/a": {"type": "utility", "command": ["true"], "params": {}, "label": "a"}},
        },
        [early("socket 'a' carries 'command' and 'params' itself", '"command"')],
    ),
    "a socket with a script": (
        socket(command=["node", "../config/utilities/detect-vcs.mjs"]),
        socket(materia="L/a") | {"materia": {"L/a": {"utility": "vcs.detect", "label": "a"}}},
        [
            early("socket 'a' carries 'command' itself", '"command"'),
            early(
                "'command' calls a script whose place the built-in 'vcs.detect' takes",
                '["node", "../config/utilities/detect-vcs.mjs"]',
            ),
        ],
    ),
    "a socket with a system prompt": (
        socket(systemPrompt="Do."),
        socket(materia="L/a") | {"materia": {"L/a": {"prompt": "Do.", "label": "a"}}},
        [early("socket 'a' carries 'systemPrompt' itself", '"systemPrompt"')],
    ),
    "type beside materia": (
        socket(type="agent", materia="m"),
        socket(materia="m"),
        [early("'type' of socket 'a' is ignored: its materia has one", '"type"')],
    ),
    "early keys beside materia": (
        socket(prompt="p", materia="m", timeoutMs=5),
        socket(materia="m"),
        [
            ("unknown-key", "'prompt' stands beside 'materia' in socket 'a'", '"prompt"'),
            ("unknown-key", "'timeoutMs' stands beside 'materia' in socket 'a'", '"timeoutMs"'),
        ],
    ),
    "exit": (
        {"loadouts": {"L": {"loops": {"l": {"exit": 5}, "m": 3}}}},
        {"loadouts": {"L": {"loops": {"l": {"exit": 5}, "m": 3}}}},
        [early("'exit' is the early form of 'exits'", '"exit"')],
    ),
    "parallelPlanner": (
        {"materia": {"m": {"parallelPlanner": True, "prompt": "p"}}},
        {"materia": {"m": {"parallel": True, "prompt": "p"}}},
        [early("'parallelPlanner' is the early form of 'parallel'", '"parallelPlanner"')],
    ),
    "parallelPlanner beside parallel": (
        {"materia": {"m": {"parallelPlanner": True, "parallel": False}}},
        {"materia": {"m": {"parallel": False}}},
        [early(f"'parallelPlanner' {NOTHING}", '"parallelPlanner"')],
    ),
    "keys that mean nothing": (
        {
            "compaction": 1,
            "loadouts": {"L": {"finalization": 1, "sockets": {"a": {"materia": "m", "central": 1}}}},
            "materia": {"m": {"webui": {}, "generates": None, "prompt": "p"}},
            "limits": {"maxSocketVisits": 1, "maxEdgeTraversals": 1, "maxNoAdvanceCycles": 1},
        },
        {
            "loadouts": {"L": {"sockets": {"a": {"materia": "m"}}}},
            "materia": {"m": {"prompt": "p"}},
            "limits": {"maxNoAdvanceCycles": 1},
        },
        [
            early(f"'{key}' {NOTHING}", f'"{key}"')
            for key in (
                "compaction",
                "maxSocketVisits",
                "maxEdgeTraversals",
                "webui",
                "generates",
                "finalization",
                "central",
            )
        ],
    ),
    "a shipped script": (
        {"materia": {"m": {"type": "utility", "command": ["bun", "config/utilities/mime-maintain.mjs"]}}},
        {"materia": {"m": {"type": "utility", "utility": "vcs.checkpoint"}}},
        [
            early(
                "'command' calls a script whose place the built-in 'vcs.checkpoint' takes",
                '["bun", "config/utilities/mime-maintain.mjs"]',
            )
        ],
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), REWRITTEN.values(), ids=REWRITTEN)
def test_early_forms_are_rewritten(
    before: Fields, after: Fields, expected: list[tuple[str, str, str]]
) -> None:
    doc, findings = of(before)
    assert doc.data == after
    assert said(doc, findings) == expected


UNTOUCHED = {
    "no object": [1],
    "empty": {},
    "roles of the wrong shape": {"roles": [1]},
    "pipeline among loadouts of the wrong shape": {"pipeline": {}, "loadouts": []},
    "materia of the wrong shape": {"materia": [], **socket(prompt="x")},
    "generates something": {"materia": {"m": {"generates": ["x"]}}},
    "a role that is no name": socket(role=5, prompt="x"),
    "a socket with nothing": socket(edges=[]),
    "a socket with a type alone": socket(type="agent"),
    "a script without a counterpart": {
        "materia": {"m": {"command": ["node", "config/utilities/mime-gh-pr.mjs"]}}
    },
    "a script with words behind": {
        "materia": {"m": {"command": ["node", "config/utilities/detect-vcs.mjs", "x"]}}
    },
    "a script of another folder": {"materia": {"m": {"command": ["node", "utilities/detect-vcs.mjs"]}}},
    "a script beside a utility": {
        "materia": {"m": {"command": ["node", "config/utilities/detect-vcs.mjs"], "utility": "echo"}}
    },
    "null for a field": {"materia": {"m": {"prompt": None}, "n": None}},
}


@pytest.mark.parametrize("data", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_is_no_early_form_is_left_alone(data: Any) -> None:
    doc, findings = of(data)
    assert doc.data == data
    assert findings == []


def with_role(**fields: Any) -> Fields:
    return socket(role="r", **fields)


def test_the_text_of_the_role_comes_first() -> None:
    roles = {"roles": {"r": {"tools": "coding", "systemPrompt": "Be kind.", "color": None}}}
    doc, findings = of({**with_role(prompt="Greet."), **roles})
    unnamed = {"tools": "coding", "prompt": "Be kind.\n\nGreet.", "label": "a"}
    assert doc.data["materia"]["L/a"] == unnamed
    assert [finding.severity for finding in findings] == [Severity.WARNING] * 2


def test_a_role_may_come_from_a_lower_layer_and_be_changed_in_this_one() -> None:
    below = {"materia": {"r": {"prompt": "Low.", "tools": "coding"}}}
    doc, _ = of({**with_role(), "materia": {"r": {"prompt": "High."}}}, below)
    assert doc.data["materia"]["L/a"] == {"prompt": "High.", "tools": "coding", "label": "a"}
    doc, _ = of({**with_role(), "materia": {"r": {"type": "utility", "utility": "echo"}}}, below)
    assert doc.data["materia"]["L/a"] == {"type": "utility", "utility": "echo", "label": "a"}


def test_a_role_that_is_nowhere_is_reported_once() -> None:
    doc, findings = of({**socket(role="planer"), "roles": {"planner": {"systemPrompt": "x"}}})
    error = next(finding for finding in findings if finding.severity is Severity.ERROR)
    assert error.rule == "unknown-materia"
    assert error.message == "socket 'a' has the role 'planer', which is neither a materia nor a role"
    assert error.help == "did you mean 'planner'?"
    assert shown(doc, error.at) == '"planer"'
    assert doc.data["materia"]["L/a"]["prompt"].strip()


def test_the_name_of_an_unnamed_materia_is_free() -> None:
    doc, _ = of({**socket(prompt="x"), "materia": {"L/a": {"prompt": "mine"}}})
    assert doc.data["materia"]["L/a"] == {"prompt": "mine"}
    assert doc.data["loadouts"]["L"]["sockets"]["a"] == {"materia": "L/a/"}


def test_what_was_rewritten_keeps_its_place() -> None:
    text = json.dumps(
        {
            "pipeline": {"sockets": {"a": {"role": "r", "timeoutMs": 7}, "b": {"systemPrompt": "B"}}},
            "roles": {"r": {"systemPrompt": "R", "parallelPlanner": True}},
        }
    )
    doc, _ = normalize(document(text), {})
    places = {
        ("loadouts", "pipeline", "sockets", "a", "materia"): '"r"',
        ("loadouts", "pipeline", "sockets", "b", "materia"): '"b"',
        ("loadouts", "pipeline", "sockets", "b"): '{"systemPrompt": "B"}',
        ("materia", "r", "prompt"): '"R"',
        ("materia", "r", "parallel"): "true",
        ("materia", "pipeline/a", "prompt"): '"R"',
        ("materia", "pipeline/a", "parallel"): "true",
        ("materia", "pipeline/a", "timeoutMs"): "7",
        ("materia", "pipeline/a", "label"): '"a"',
        ("materia", "pipeline/b", "prompt"): '"B"',
        ("materia", "pipeline/b"): '{"systemPrompt": "B"}',
    }
    assert {pointer: shown(doc, pointer) for pointer in places} == places


def test_the_prompt_of_a_lower_role_stands_where_the_role_is_named() -> None:
    doc, _ = of(with_role(), {"materia": {"r": {"prompt": "Low."}}})
    assert shown(doc, ("materia", "L/a", "prompt")) == '"r"'


def test_the_order_of_keys_is_kept() -> None:
    sockets = {"b": {"materia": "m"}, "a": {"prompt": "x", "edges": [], "assign": {}}, "c": {"materia": "m"}}
    doc, _ = of({"loadouts": {"L": {"sockets": sockets, "entry": "b"}}})
    loadout = doc.data["loadouts"]["L"]
    assert list(loadout) == ["sockets", "entry"]
    assert list(loadout["sockets"]) == ["b", "a", "c"]
    assert list(loadout["sockets"]["a"]) == ["materia", "edges", "assign"]


KEYS = (
    "pipeline",
    "roles",
    "materia",
    "loadouts",
    "sockets",
    "loops",
    "limits",
    "role",
    "prompt",
    "systemPrompt",
)
MORE_KEYS = ("command", "type", "exit", "parallelPlanner", "parallel", "generates", "webui", "a")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "r", "agent", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS + MORE_KEYS), inner),
    max_leaves=20,
)


@given(data=ANYTHING, below=st.dictionaries(st.sampled_from(["materia", "a"]), ANYTHING))
def test_any_data_comes_through_unharmed(data: Any, below: Fields) -> None:
    before = copy.deepcopy(data)
    doc, findings = normalize(Document(Source("f", ""), data, index=dict), below)
    assert data == before
    again, more = normalize(doc, below)
    left = {finding.message for finding in more}
    assert left <= {finding.message for finding in findings}
    assert again.data == doc.data
