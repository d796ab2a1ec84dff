from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from materiac import json_text
from materiac.diagnostic import Finding, Related, Severity, worded
from materiac.layers import choose, merge
from materiac.model import AgentMateria, UtilityMateria
from materiac.normalize import normalize
from materiac.shape import Shaped, shape
from materiac.source import KEY, Document, Pointer, Source, Span

Fields = dict[str, Any]

SOUND: Fields = {
    "activeLoadout": "L",
    "budget": {"maxTokens": 10, "warnAtPercent": 50},
    "loadouts": {
        "L": {
            "entry": "plan",
            "sockets": {
                "plan": {"materia": "Planner", "edges": [{"to": "work"}], "layout": {"x": 1}},
                "work": {
                    "materia": "Worker",
                    "parse": "json",
                    "assign": {"a": "$.a"},
                    "limits": {"maxVisits": 9},
                    "advance": {"cursor": "workItemIndex", "items": "state.workItems"},
                    "edges": [
                        {"when": "satisfied", "to": "end"},
                        {"when": "not_satisfied", "to": "work", "maxTraversals": 3},
                    ],
                },
            },
            "loops": {
                "l": {
                    "sockets": ["work"],
                    "consumes": {"from": "plan"},
                    "exits": [{"from": "work", "condition": "always", "targetSocketId": "end"}],
                    "parallel": {"maxConcurrency": 2},
                }
            },
        }
    },
    "materia": {
        "Planner": {"prompt": "p", "generator": True, "tools": {"type": "custom", "tools": ["read"]}},
        "Worker": {"command": ["true"], "timeoutMs": 5, "params": {"x": [1]}},
    },
}
SOCKETS = ("loadouts", "L", "sockets")
LOOP = ("loadouts", "L", "loops", "l")


def shaped(*files: Any) -> Shaped:
    documents = [Document(Source("f", ""), data, index=dict) for data in files]
    layered = merge([normalize(document, {})[0] for document in documents])
    data = layered.data if isinstance(layered.data, dict) else {}
    loadouts = data.get("loadouts")
    return shape(layered, set(loadouts) if isinstance(loadouts, dict) else set())


def changed(pointer: Pointer, value: Any) -> Fields:
    """The sound file with another value at a pointer; an ellipsis takes the value away."""
    data = copy.deepcopy(SOUND)
    *way, last = pointer
    inner: Any = data
    for part in way:
        inner = inner[part]
    inner[last] = value
    if value is ...:
        del inner[last]
    return data


def said(findings: tuple[Finding, ...]) -> list[tuple[str, Pointer | Span, str, str | None]]:
    return [(f.rule, f.at, f.message, worded(f.help, "json")) for f in findings]


def test_a_sound_file_is_made_in_silence() -> None:
    result = shaped(SOUND)
    assert result.findings == ()
    assert result.dropped == frozenset()
    assert result.frame.budget.max_tokens == 10
    assert list(result.loadouts["L"].sockets) == ["plan", "work"]
    assert isinstance(result.materia["Planner"], AgentMateria)
    assert isinstance(result.materia["Worker"], UtilityMateria)
    assert result.known_loadouts == {"L"}
    assert result.known_materia == {"Planner", "Worker"}


TOOLS = "'tools' of 'Planner', expected 'none', 'readOnly', 'coding' or an object of type 'custom'"
WHENS = "'always', 'satisfied' or 'not_satisfied'"
EDGE = (*SOCKETS, "work", "edges", 1)
FREE_EDGE = (*SOCKETS, "work", "edges", 0)
PLANNER = ("materia", "Planner")
WORKER = ("materia", "Worker")

FAULTS: dict[str, tuple[Pointer, Any, str, Pointer, str, str | None]] = {
    "unknown key of a socket": (
        (*SOCKETS, "plan", "edge"),
        [],
        "unknown-key",
        (*SOCKETS, "plan", "edge", KEY),
        "unknown key 'edge' in socket 'plan'",
        "'edges' is there already",
    ),
    "no guess at a key that is there": (
        (*SOCKETS, "plan", "maxTraversal"),
        2,
        "unknown-key",
        (*SOCKETS, "plan", "maxTraversal", KEY),
        "unknown key 'maxTraversal' in socket 'plan'",
        "'maxTraversals' stands on edges",
    ),
    "a key of limits on a socket": (
        (*SOCKETS, "work", "maxVisits"),
        2,
        "unknown-key",
        (*SOCKETS, "work", "maxVisits", KEY),
        "unknown key 'maxVisits' in socket 'work'",
        "'maxVisits' stands in the 'limits' of a socket",
    ),
    "unknown key of the file": (
        ("loadout",),
        {},
        "unknown-key",
        ("loadout", KEY),
        "unknown key 'loadout' in the file",
        "did you mean 'loadouts'?",
    ),
    "unknown key of the budget": (
        ("budget", "wibble"),
        1,
        "unknown-key",
        ("budget", "wibble", KEY),
        "unknown key 'wibble' in 'budget'",
        None,
    ),
    "unknown key of an edge": (
        (*FREE_EDGE, "maxTraversal"),
        1,
        "unknown-key",
        (*FREE_EDGE, "maxTraversal", KEY),
        "unknown key 'maxTraversal' in edge of 'work'",
        "did you mean 'maxTraversals'?",
    ),
    "no guess at keys of editors": (
        (*SOCKETS, "plan", "layouts"),
        1,
        "unknown-key",
        (*SOCKETS, "plan", "layouts", KEY),
        "unknown key 'layouts' in socket 'plan'",
        None,
    ),
    "unknown key of an advance": (
        (*SOCKETS, "work", "advance", "don"),
        "end",
        "unknown-key",
        (*SOCKETS, "work", "advance", "don", KEY),
        "unknown key 'don' in 'advance' of 'work'",
        "did you mean 'done'?",
    ),
    "a key of agents on a utility": (
        (*WORKER, "prompt"),
        "x",
        "unknown-key",
        (*WORKER, "prompt", KEY),
        "'prompt' belongs to agents, and 'Worker' is a utility",
        None,
    ),
    "variables of a utility": (
        (*WORKER, "env"),
        ["A_KEY"],
        "unknown-key",
        (*WORKER, "env", KEY),
        "'env' belongs to agents, and 'Worker' is a utility",
        'write "params": {"env": […]}',
    ),
    "the value of a variable": (
        (*PLANNER, "env"),
        ["A_KEY=b"],
        "invalid-value",
        (*PLANNER, "env", 0),
        "found the string \"A_KEY=b\" for an entry of 'env', expected the name of a variable, not its value",
        None,
    ),
    "a key of utilities on an agent": (
        (*PLANNER, "timeoutMs"),
        5,
        "unknown-key",
        (*PLANNER, "timeoutMs", KEY),
        "'timeoutMs' belongs to utilities, and 'Planner' is an agent",
        None,
    ),
    "no materia": (
        (*SOCKETS, "plan", "materia"),
        ...,
        "invalid-value",
        (*SOCKETS, "plan"),
        "socket 'plan' has no 'materia'",
        None,
    ),
    "no target": ((*EDGE, "to"), ..., "invalid-value", EDGE, "edge of 'work' has no 'to'", None),
    "no list in a foreach": (
        (*SOCKETS, "plan", "foreach"),
        {},
        "invalid-value",
        (*SOCKETS, "plan", "foreach"),
        "'foreach' of 'plan' has no 'items'",
        None,
    ),
    "no prompt": (
        (*PLANNER, "prompt"),
        ...,
        "invalid-value",
        PLANNER,
        "materia 'Planner' has no 'prompt'",
        None,
    ),
    "no target of an exit": (
        (*LOOP, "exits", 0, "targetSocketId"),
        ...,
        "invalid-value",
        (*LOOP, "exits", 0),
        "exit of 'l' has no 'targetSocketId'",
        None,
    ),
    "a wrong guard": (
        (*EDGE, "when"),
        "satisfid",
        "invalid-value",
        (*EDGE, "when"),
        f"found the string \"satisfid\" for 'when', expected {WHENS}",
        "did you mean 'satisfied'?",
    ),
    "a guard that is no string": (
        (*EDGE, "when"),
        True,
        "invalid-value",
        (*EDGE, "when"),
        f"found true for 'when', expected {WHENS}",
        None,
    ),
    "a wrong type": (
        (*PLANNER, "type"),
        "agnet",
        "invalid-value",
        (*PLANNER, "type"),
        "found the string \"agnet\" for 'type', expected 'agent' or 'utility'",
        "did you mean 'agent'?",
    ),
    "a blank prompt": (
        (*PLANNER, "prompt"),
        " \n",
        "invalid-value",
        (*PLANNER, "prompt"),
        "found the string \" \\n\" for 'prompt', expected a string that is not blank",
        None,
    ),
    "a folder with a NUL": (
        ("artifactDir",),
        "a\0b",
        "invalid-value",
        ("artifactDir",),
        "found the string \"a\\u0000b\" for 'artifactDir', expected a path without a NUL",
        None,
    ),
    "an empty name": (
        (*SOCKETS, "plan", "materia"),
        "",
        "invalid-value",
        (*SOCKETS, "plan", "materia"),
        "found the string \"\" for 'materia', expected a string that is not empty",
        None,
    ),
    "no sockets": (
        SOCKETS,
        {},
        "invalid-value",
        SOCKETS,
        "found an empty object for 'sockets', expected at least one entry",
        None,
    ),
    "a socket that is none": (
        (*SOCKETS, "plan"),
        "Planner",
        "invalid-value",
        (*SOCKETS, "plan"),
        "found the string \"Planner\" for socket 'plan', expected an object",
        None,
    ),
    "an edge that is none": (
        EDGE,
        None,
        "invalid-value",
        EDGE,
        "found null for edge of 'work', expected an object",
        None,
    ),
    "a member that is none": (
        (*LOOP, "sockets", 0),
        ["work"],
        "invalid-value",
        (*LOOP, "sockets", 0),
        "found a list for an entry of 'sockets', expected a string",
        None,
    ),
    "a flag that is none": (
        (*PLANNER, "generator"),
        "yes",
        "invalid-value",
        (*PLANNER, "generator"),
        "found the string \"yes\" for 'generator', expected true or false",
        None,
    ),
    "a long string": (
        (*SOCKETS, "plan", "edges"),
        "x" * 41,
        "invalid-value",
        (*SOCKETS, "plan", "edges"),
        f"found the string \"{'x' * 40}…\" for 'edges', expected a list",
        None,
    ),
    "a loadout that is none": (
        ("loadouts", "L"),
        [],
        "invalid-value",
        ("loadouts", "L"),
        "found an empty list for loadout 'L', expected an object",
        None,
    ),
    "loadouts that are none": (
        ("loadouts",),
        [1],
        "invalid-value",
        ("loadouts",),
        "found a list for 'loadouts', expected an object",
        None,
    ),
    "a limit as a string": (
        (*EDGE, "maxTraversals"),
        "1",
        "invalid-limit",
        (*EDGE, "maxTraversals"),
        "found the string \"1\" for 'maxTraversals', expected a whole number of at least 1",
        None,
    ),
    "a limit of nothing": (
        (*WORKER, "timeoutMs"),
        0,
        "invalid-limit",
        (*WORKER, "timeoutMs"),
        "found 0 for 'timeoutMs', expected a whole number of at least 1",
        None,
    ),
    "a limit between two numbers": (
        (*LOOP, "parallel", "maxConcurrency"),
        1.5,
        "invalid-limit",
        (*LOOP, "parallel", "maxConcurrency"),
        "found 1.5 for 'maxConcurrency', expected a whole number of at least 1",
        None,
    ),
    "a limit over 100 per cent": (
        ("budget", "warnAtPercent"),
        101,
        "invalid-limit",
        ("budget", "warnAtPercent"),
        "found 101 for 'warnAtPercent', expected a number above 0 and at most 100",
        None,
    ),
    "a limit beyond all numbers": (
        ("budget", "maxCostUsd"),
        10**400,
        "invalid-limit",
        ("budget", "maxCostUsd"),
        "found a number of very many digits for 'maxCostUsd', expected a number above 0",
        None,
    ),
    "a limit that is true": (
        ("limits",),
        {"maxNoAdvanceCycles": True},
        "invalid-limit",
        ("limits", "maxNoAdvanceCycles"),
        "found true for 'maxNoAdvanceCycles', expected a whole number of at least 0",
        None,
    ),
    "an absolute limit of nothing": (
        ("limits",),
        {"maxAnswerBytes": 0},
        "invalid-limit",
        ("limits", "maxAnswerBytes"),
        "found 0 for 'maxAnswerBytes', expected a whole number of at least 1",
        None,
    ),
    "a shell line": (
        (*WORKER, "command"),
        "npm run 'a b'",
        "shell-string",
        (*WORKER, "command"),
        "found the string \"npm run 'a b'\" for 'command', expected a list: no shell runs it",
        'write ["npm", "run", "a b"]',
    ),
    "a shell line that cannot be split": (
        (*WORKER, "command"),
        "echo 'a",
        "shell-string",
        (*WORKER, "command"),
        "found the string \"echo 'a\" for 'command', expected a list: no shell runs it",
        "write each word as an entry of a list",
    ),
    "tools as a list": (
        (*PLANNER, "tools"),
        ["read", "ls"],
        "invalid-value",
        (*PLANNER, "tools"),
        f"found a list for {TOOLS}",
        'write {"type": "custom", "tools": ["read", "ls"]}',
    ),
    "tools of a wrong scope": (
        (*PLANNER, "tools"),
        "readonly",
        "invalid-value",
        (*PLANNER, "tools"),
        f'found the string "readonly" for {TOOLS}',
        "did you mean 'readOnly'?",
    ),
    "custom tools without a list": (
        (*PLANNER, "tools", "tools"),
        ...,
        "invalid-value",
        (*PLANNER, "tools"),
        "'tools' of 'Planner' has no 'tools'",
        None,
    ),
    "a custom tool that is none": (
        (*PLANNER, "tools", "tools", 0),
        5,
        "invalid-value",
        (*PLANNER, "tools", "tools", 0),
        "found 5 for an entry of 'tools', expected a string",
        None,
    ),
}


@pytest.mark.parametrize(("pointer", "value", "rule", "at", "message", "advice"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_finding(
    pointer: Pointer, value: Any, rule: str, at: Pointer, message: str, advice: str | None
) -> None:
    findings = shaped(changed(pointer, value)).findings
    assert said(findings) == [(rule, at, message, advice)]
    assert findings[0].severity is Severity.ERROR


@pytest.mark.parametrize("data", [[], 5, "x", None], ids=json.dumps)
def test_a_root_that_is_no_object_is_one_finding(data: Any) -> None:
    [finding] = shaped(data).findings
    assert (finding.rule, finding.at) == ("invalid-value", ())


NAMES: dict[str, tuple[Fields, Pointer, str]] = {
    "socket": (
        {"loadouts": {"L": {"sockets": {"a b": {"materia": "m"}}}}},
        ("loadouts", "L", "sockets", "a b", KEY),
        "socket name 'a b' has ' ' in it",
    ),
    "loadout": (
        {"loadouts": {"end": {"sockets": {"a": {"materia": "m"}}}}},
        ("loadouts", "end", KEY),
        "loadout name 'end' is taken",
    ),
    "materia": (
        {"materia": {"a/b": {"prompt": "p"}}},
        ("materia", "a/b", KEY),
        "materia name 'a/b' has '/' in it",
    ),
    "role": (
        {"roles": {"a/b": {"systemPrompt": "p"}}},
        ("materia", "a/b", KEY),
        "materia name 'a/b' has '/' in it",
    ),
}


@pytest.mark.parametrize(("data", "at", "message"), NAMES.values(), ids=NAMES)
def test_names_are_looked_at(data: Fields, at: Pointer, message: str) -> None:
    [finding] = shaped(data).findings
    assert (finding.rule, finding.at) == ("invalid-name", at)
    assert finding.message.startswith(message)


def test_names_of_loadouts_and_materia_may_have_inner_spaces_and_unnamed_ones_a_slash() -> None:
    data = {"loadouts": {"a b": {"sockets": {"a": {"prompt": "p"}}}}, "materia": {"c d": {"prompt": "p"}}}
    result = shaped(data)
    assert result.findings == ()
    assert set(result.materia) == {"a b/a", "c d"}


LEFT_OUT: dict[str, tuple[Pointer, Any, Pointer]] = {
    "an unknown key": ((*SOCKETS, "plan", "x"), 1, (*SOCKETS, "plan", "x")),
    "a wrong value": ((*EDGE, "maxTraversals"), "1", (*EDGE, "maxTraversals")),
    "an edge without a target": ((*EDGE, "to"), ..., EDGE),
    "an edge with a wrong target": ((*EDGE, "to"), 5, EDGE),
    "a socket without a materia": ((*SOCKETS, "plan", "materia"), ..., (*SOCKETS, "plan")),
    "a loop whose only member is wrong": ((*LOOP, "sockets", 0), 5, LOOP),
    "tools": ((*PLANNER, "tools"), ["read"], (*PLANNER, "tools")),
}


@pytest.mark.parametrize(("pointer", "value", "dropped"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_wrong_is_left_out_and_the_rest_is_made(
    pointer: Pointer, value: Any, dropped: Pointer
) -> None:
    result = shaped(changed(pointer, value))
    assert dropped in result.dropped
    assert set(result.loadouts) == {"L"}
    assert set(result.materia) == {"Planner", "Worker"}


NOT_MADE: dict[str, tuple[Pointer, Any, Pointer]] = {
    "a loadout without sockets": (SOCKETS, {}, ("loadouts", "L")),
    "a materia without a prompt": ((*PLANNER, "prompt"), ..., PLANNER),
    "a materia with a wrong prompt": ((*PLANNER, "prompt"), 5, PLANNER),
}


@pytest.mark.parametrize(("pointer", "value", "dropped"), NOT_MADE.values(), ids=NOT_MADE)
def test_a_part_that_cannot_do_without_is_not_made_but_known(
    pointer: Pointer, value: Any, dropped: Pointer
) -> None:
    result = shaped(changed(pointer, value))
    assert dropped in result.dropped
    assert dropped[1] not in {**result.loadouts, **result.materia}
    assert result.known_loadouts == {"L"}
    assert result.known_materia == {"Planner", "Worker"}


def test_findings_on_a_list_with_entries_left_out_lead_back_to_the_data() -> None:
    edges = [None, {"to": "a"}, {"when": "always"}, {"to": 5}, {"to": "b"}]
    result = shaped(changed((*SOCKETS, "plan", "edges"), edges))
    assert [edge.to for edge in result.loadouts["L"].sockets["plan"].edges] == ["a", "b"]
    second = (*SOCKETS, "plan", "edges", 1)
    on_model = Finding("r", Severity.ERROR, "m", (*second, "to"), (Related((*second[:-1], 0), "x"),))
    on_data = result.written(on_model)
    assert on_data.at == (*SOCKETS, "plan", "edges", 4, "to")
    assert on_data.related == (Related((*SOCKETS, "plan", "edges", 1), "x"),)
    elsewhere = Finding("r", Severity.ERROR, "m", EDGE)
    assert result.written(elsewhere) == elsewhere
    assert {(*SOCKETS, "plan", "edges", index) for index in (0, 2, 3)} < result.dropped


def test_one_broken_part_hides_no_other() -> None:
    data = changed((*SOCKETS, "plan", "x"), 1)
    data["loadouts"]["M"] = {}
    data["materia"] |= {"bad": {}, "worse": 5}
    data["limits"] = []
    assert len(shaped(data).findings) == 5


def test_only_what_is_asked_for_has_to_be_sound() -> None:
    low = {"materia": {"unused": {}, "m": {"x": 1}}, "loadouts": {"B": {}}}
    top = {"loadouts": {"A": {"sockets": {"a": {"materia": "m"}}}, "C": {}}}
    documents = [Document(Source("f", ""), data, index=dict) for data in (low, top)]
    result = shape(merge(documents), {"A"})
    assert [finding.at for finding in result.findings] == [("materia", "m"), ("materia", "m", "x", KEY)]
    assert (set(result.loadouts), set(result.materia)) == ({"A"}, set())
    assert result.known_loadouts == {"A", "B", "C"}
    assert result.known_materia == {"unused", "m"}


def test_findings_on_early_forms_are_placed_in_the_text() -> None:
    sockets = '{\n  "a": {"role": "r", "params": 5},\n  "b": {"command": "x"}}'
    text = f'{{"pipeline": {{"sockets": {sockets}}},\n "roles": {{"r": {{"systemPrompt": 5}}}}}}'
    read, _ = json_text.read(Source("f", text))
    assert read is not None
    layered = merge([normalize(read, {})[0]])
    findings = shape(layered, {"pipeline"}).findings
    spans = [layered.place(finding.at).span for finding in findings]
    positions = [read.source.position(span.start) for span in spans]
    assert {(p.line, p.column, text[s.start : s.end]) for p, s in zip(positions, spans, strict=True)} == {
        (2, 22, '"params"'),
        (3, 20, '"x"'),
        (4, 34, "5"),
    }


def test_deep_nesting_is_no_trouble() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    result = shaped(changed((*SOCKETS, "plan", "materia"), deep) | {"x": deep})
    assert [finding.rule for finding in result.findings] == ["unknown-key", "invalid-value"]


def pointers(data: Any, at: Pointer = ()) -> list[Pointer]:
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(pointer for key, value in members for pointer in pointers(value, (*at, key)))]


KEYS = st.sampled_from(
    ["materia", "sockets", "edges", "type", "tools", "from", "exit", "prompt", "id", "x", "end"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just("agent")
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
DAMAGE = st.tuples(st.sampled_from(pointers(SOUND)), KEYS, ANYTHING, st.sampled_from(["put", "drop", "add"]))


def damaged(data: Any, pointer: Pointer, key: str, value: Any, what: str) -> Any:
    """The data with a value put, dropped or added at a pointer, if damage done before left one there."""
    if not pointer:
        return value if what == "put" else {**data, key: value} if isinstance(data, dict) else data
    first: Any = pointer[0]
    if not isinstance(data, dict | list) or first not in (
        data if isinstance(data, dict) else range(len(data))
    ):
        return data
    result = copy.copy(data)
    if what == "drop" and len(pointer) == 1:
        del result[first]
    else:
        result[first] = damaged(data[first], pointer[1:], key, value, what)
    return result


@settings(max_examples=150)
@given(damages=st.lists(DAMAGE, min_size=1, max_size=4))
def test_any_damage_gives_findings_or_a_model(damages: list[tuple[Pointer, str, Any, str]]) -> None:
    data: Any = SOUND
    for damage in damages:
        data = damaged(data, *damage)
    document, early = normalize(Document(Source("f", ""), data, index=dict), {})
    layered = merge([document])
    choose(layered, None)
    result = shape(layered, {"L"})
    made = len(result.loadouts) + len(result.materia)
    assert made or early or result.findings or not isinstance(data, dict) or not data.get("loadouts")
    assert result.findings or not result.dropped
    assert all(finding.message and finding.severity is Severity.ERROR for finding in result.findings)
