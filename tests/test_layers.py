from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac import json_text
from materiac.diagnostic import Place, worded
from materiac.layers import Again, Layered, choose, merge
from materiac.normalize import normalize
from materiac.source import KEY, Document, Pointer, Position, Source, Span

Fields = dict[str, Any]


def document(data: Any, name: str = "loadout.json") -> Document:
    text = data if isinstance(data, str) else json.dumps(data, indent=1)
    read, findings = json_text.read(Source(name, text))
    assert read is not None, findings
    return normalize(read, {})[0]


def layered(*files: Any) -> Layered:
    return merge([document(data, f"{index}.json") for index, data in enumerate(files)])


def materia(**entries: Any) -> Fields:
    return {"materia": entries}


AGENT = {"prompt": "p", "tools": "coding"}
UTILITY = {"command": ["true"], "timeoutMs": 5}

MERGED: dict[str, tuple[list[Any], Any]] = {
    "one file": ([{"budget": {"maxTokens": 1}}], {"budget": {"maxTokens": 1}}),
    "materia by name": ([materia(a=AGENT), materia(b=AGENT)], materia(a=AGENT, b=AGENT)),
    "materia by field": (
        [materia(a=AGENT), materia(a={"prompt": "q", "model": "m"})],
        materia(a={"prompt": "q", "tools": "coding", "model": "m"}),
    ),
    "null takes a field away": ([materia(a=AGENT), materia(a={"tools": None})], materia(a={"prompt": "p"})),
    "null takes a materia away": ([materia(a=AGENT, b=AGENT), materia(a=None)], materia(b=AGENT)),
    "null takes away in a file alone": (
        [materia(a=None, b={"prompt": None, "tools": "none"})],
        materia(b={"tools": "none"}),
    ),
    "what was taken away may come again": (
        [materia(a=AGENT), materia(a=None), materia(a={"prompt": "q"})],
        materia(a={"prompt": "q"}),
    ),
    "another type replaces the whole": ([materia(a=AGENT), materia(a=UTILITY)], materia(a=UTILITY)),
    "another type, said aloud": (
        [materia(a=UTILITY), materia(a={"type": "agent", "prompt": "p"})],
        materia(a={"type": "agent", "prompt": "p"}),
    ),
    "another type, by its prompt": ([materia(a=UTILITY), materia(a=AGENT)], materia(a=AGENT)),
    "the same type, said aloud": (
        [materia(a=AGENT), materia(a={"type": "agent", "prompt": "q"})],
        materia(a={"type": "agent", "prompt": "q", "tools": "coding"}),
    ),
    "no type keeps the lower one": (
        [materia(a=UTILITY), materia(a={"params": {}})],
        materia(a={**UTILITY, "params": {}}),
    ),
    "one way to run replaces the others": (
        [materia(a=UTILITY), materia(a={"utility": "echo"})],
        materia(a={"timeoutMs": 5, "utility": "echo"}),
    ),
    "loadouts by name": (
        [{"loadouts": {"A": {"sockets": {}}}}, {"loadouts": {"B": {}}}],
        {"loadouts": {"A": {"sockets": {}}, "B": {}}},
    ),
    "sockets replace a loadout whole": (
        [
            {"loadouts": {"A": {"sockets": {"a": 1}, "loops": {}, "entry": "a"}}},
            {"loadouts": {"A": {"sockets": {}}}},
        ],
        {"loadouts": {"A": {"sockets": {}}}},
    ),
    "other fields are laid over": (
        [{"loadouts": {"A": {"sockets": {}, "entry": "a"}}}, {"loadouts": {"A": {"entry": "b"}}}],
        {"loadouts": {"A": {"sockets": {}, "entry": "b"}}},
    ),
    "the frame by field": (
        [{"budget": {"maxTokens": 1, "maxCostUsd": 2}, "artifactDir": "x"}, {"budget": {"maxTokens": 3}}],
        {"budget": {"maxTokens": 3, "maxCostUsd": 2}, "artifactDir": "x"},
    ),
    "a list wins": ([materia(a=AGENT), {"materia": []}], {"materia": []}),
    "an object wins over a list": ([{"materia": []}, materia(a=AGENT)], materia(a=AGENT)),
    "a materia of the wrong shape wins": ([materia(a=AGENT), materia(a=5)], materia(a=5)),
    "a root of the wrong shape wins": ([materia(a=AGENT), [1]], [1]),
    "a root wins over one of the wrong shape": ([[1], materia(a=None)], materia()),
    "an unnamed materia replaces the lower one": (
        [
            {"loadouts": {"L": {"sockets": {"a": {"command": ["true"], "timeoutMs": 5}}}}},
            {"loadouts": {"L": {"sockets": {"a": {"command": ["false"]}}}}},
        ],
        {
            "loadouts": {"L": {"sockets": {"a": {"materia": "L/a"}}}},
            "materia": {"L/a": {"command": ["false"], "label": "a"}},
        },
    ),
}


@pytest.mark.parametrize(("files", "expected"), MERGED.values(), ids=MERGED)
def test_files_are_laid_over_one_another(files: list[Any], expected: Any) -> None:
    assert layered(*files).data == expected


LOW = {
    "budget": {"maxTokens": 1},
    "materia": {"a": AGENT, "b": AGENT},
    "loadouts": {"L": {"sockets": {"s": {}}}},
}
HIGH = {"materia": {"a": {"prompt": "q"}, "b": UTILITY}, "loadouts": {"L": {"entry": "s"}}}

OWNERS: dict[Pointer, int] = {
    (): 1,
    ("budget", "maxTokens"): 0,
    ("materia", "a"): 1,
    ("materia", "a", KEY): 1,
    ("materia", "a", "prompt"): 1,
    ("materia", "a", "tools"): 0,
    ("materia", "a", "tools", KEY): 0,
    ("materia", "b", "command", 0): 1,
    ("materia", "b", "prompt"): 1,
    ("loadouts", "L", "entry"): 1,
    ("loadouts", "L", "sockets", "s", "materia"): 0,
    ("nothing",): 1,
}


@pytest.mark.parametrize(("pointer", "index"), OWNERS.items(), ids=str)
def test_a_value_is_owned_by_the_file_that_wrote_it(pointer: Pointer, index: int) -> None:
    assert layered(LOW, HIGH).owner(pointer) == index


def test_places_are_in_the_file_that_wrote_the_value() -> None:
    files = layered(LOW, HIGH)
    tools = files.place(("materia", "a", "tools", KEY))
    assert (tools.source.name, tools.source.position(tools.span.start)) == ("0.json", Position(8, 4))
    prompt = files.place(("materia", "a", "prompt"))
    assert (prompt.source.name, prompt.source.position(prompt.span.start)) == ("1.json", Position(4, 14))


def test_a_place_may_be_asked_of_one_file() -> None:
    files = layered(LOW, HIGH)
    low, high = files.documents
    assert files.place(Span(1, 2)) == Place(high.source, Span(1, 2))
    assert files.place(Span(1, 2), low) == Place(low.source, Span(1, 2))
    assert files.place(("materia", "a"), low).source is low.source


def test_only_generated_materia_are_unnamed() -> None:
    early = {"loadouts": {"L": {"sockets": {"s": {"prompt": "x"}}}}, "roles": {"a/b": {}}, **materia(c=AGENT)}
    files = layered(early, materia(d=AGENT))
    assert [name for name in files.data["materia"] if files.is_unnamed(name)] == ["L/s"]


def loadouts(*names: str, **more: Any) -> Fields:
    return {"loadouts": {name: {"id": f"id:{name}"} for name in names}, **more}


CHOSEN: dict[str, tuple[list[Any], str | None, str]] = {
    "asked by name": ([loadouts("A", "B")], "B", "B"),
    "asked by id": ([loadouts("A", "B")], "id:B", "B"),
    "a name before an id": ([{"loadouts": {"A": {"id": "B"}, "B": {}}}], "B", "B"),
    "asked for one of a lower file": ([loadouts("A"), loadouts("B")], "A", "A"),
    "the only one": ([loadouts("A")], None, "A"),
    "the only one of the topmost file": ([loadouts("A", "B", activeLoadout="A"), loadouts("C")], None, "C"),
    "said by name": ([loadouts("A", "B", activeLoadout="B")], None, "B"),
    "said by id": ([loadouts("A", "B", activeLoadout="id:B")], None, "B"),
    "said above": ([loadouts("A", "B"), {"activeLoadout": "A"}], None, "A"),
    "said below": ([loadouts("A", "B", activeLoadout="B"), {"budget": {}}, {"loadouts": {}}], None, "B"),
    "null says nothing": ([loadouts("A", activeLoadout=None)], None, "A"),
    "a lower file of the wrong shape": ([[1], loadouts("A")], None, "A"),
}


@pytest.mark.parametrize(("files", "asked", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_a_loadout_is_chosen(files: list[Any], asked: str | None, expected: str) -> None:
    assert choose(layered(*files), asked) == (expected, [])


NOT_CHOSEN: dict[str, tuple[list[Any], str | None, str, str | None, Pointer]] = {
    "asked and unknown": (
        [loadouts("Build", "Plan")],
        "Biuld",
        "there is no loadout 'Biuld'",
        "did you mean 'Build'?",
        (),
    ),
    "asked and far off": (
        [loadouts("Build", "Plan")],
        "x",
        "there is no loadout 'x'",
        "known loadouts: 'Build', 'Plan'",
        (),
    ),
    "said and unknown": (
        [{"activeLoadout": "x"}],
        None,
        "there is no loadout 'x'",
        "there is none",
        ("activeLoadout",),
    ),
    "several": (
        [loadouts("A", activeLoadout="A"), loadouts("B", "C")],
        None,
        "nothing says which of the loadouts 'B', 'C' runs",
        "name it in 'activeLoadout' or with '--loadout'",
        ("loadouts", KEY),
    ),
    "none": ([{}], None, "nothing says which loadout is meant", None, ()),
}


@pytest.mark.parametrize(("files", "asked", "message", "advice", "at"), NOT_CHOSEN.values(), ids=NOT_CHOSEN)
def test_what_cannot_be_chosen_is_reported(
    files: list[Any], asked: str | None, message: str, advice: str | None, at: Pointer
) -> None:
    name, [finding] = choose(layered(*files), asked)
    assert name is None
    assert (finding.rule, finding.message) == ("unknown-loadout", message)
    assert worded(finding.help, "json") == advice
    assert finding.at == at


SHIPPED: Any = {"loadouts": {"S": {}}}
TWO: Any = {"activeLoadout": "B", "loadouts": {"A": {"id": "x"}, "B": {}}}


@pytest.mark.parametrize(
    ("files", "was", "expected"),
    [
        pytest.param([TWO], Again("A"), "A", id="by-name"),
        pytest.param([TWO], Again("C", "x"), "A", id="by-id"),
        pytest.param([TWO], Again("B", "x"), "B", id="name-before-id"),
        pytest.param([TWO], Again("C", "y"), None, id="gone"),
        pytest.param([{"loadouts": {"A": {}}}], Again("C"), "A", id="the-only-one"),
        pytest.param([TWO, {"loadouts": {"C": {}}}], Again("A"), "A", id="of-a-layer-below"),
        pytest.param([TWO, {"loadouts": {"C": {}}}], Again("D"), "C", id="the-only-one-of-the-top"),
        pytest.param([TWO, {"budget": {}}], Again("D"), None, id="of-the-topmost-with-any"),
        pytest.param([{}], Again("S"), None, id="shipped"),
        pytest.param([{}], Again("S", shipped=True), "S", id="shipped-and-named"),
        pytest.param([{"loadouts": {"A": {}}}], Again("S", shipped=True), "S", id="before-the-only-one"),
    ],
)
def test_a_loadout_that_was_run_is_found_again(files: list[Any], was: Again, expected: str | None) -> None:
    documents = [Document(Source(f"{n}", ""), data, index=dict) for n, data in enumerate([SHIPPED, *files])]
    name, findings = choose(merge(documents, shipped=1), was)
    assert name == expected
    assert [part.message for part in findings] == (
        [] if expected else [f"loadout '{was.name}' is not there any more"]
    )


@pytest.mark.parametrize("data", [[], {"activeLoadout": 5}, {"loadouts": []}], ids=json.dumps)
def test_wrong_shapes_are_left_to_the_model(data: Any) -> None:
    assert choose(layered(data), None) == (None, [])


KEYS = ["materia", "loadouts", "sockets", "type", "command", "budget", "activeLoadout", "a", "id"]
ANYTHING = st.recursive(
    st.none() | st.integers(0, 1) | st.sampled_from(["a", "agent", "utility"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(files=st.lists(ANYTHING, min_size=1, max_size=3), asked=st.none() | st.just("a"))
def test_any_data_can_be_merged(files: list[Any], asked: str | None) -> None:
    before = copy.deepcopy(files)
    merged = merge([Document(Source("f", ""), data, index=dict) for data in files])
    for meant in (asked, Again("a"), Again("b", "a", shipped=True)):
        name, findings = choose(merged, meant)
        assert files == before
        assert name is None or not findings
    for pointer in pointers(merged.data):
        value = follow(merged.documents[merged.owner(pointer)].data, pointer)
        assert type(value) is type(follow(merged.data, pointer))


def pointers(data: Any, at: Pointer = ()) -> list[Pointer]:
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(pointer for key, value in members for pointer in pointers(value, (*at, key)))]


def follow(data: Any, pointer: Pointer) -> Any:
    for part in pointer:
        data = data[part]
    return data
