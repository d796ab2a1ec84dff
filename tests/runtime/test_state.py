from __future__ import annotations

from typing import Any

import pytest

from materiac.path import MISSING
from materiac.program import Agent, Materia, Socket, Utility
from materiac.runtime.contract import Accepted
from materiac.runtime.items import Item
from materiac.runtime.state import MAX_DEPTH, Knowledge, compact
from materiac.runtime.visit import VisitFailed

SOCKET = Socket("build", "Build", "json")
AGENT = Materia("Build", "The builder", agent=Agent("p"))
GENERATOR = Materia("Plan", "Plan", agent=Agent("p"), generator=True)
UTILITY = Materia("Run", "Run", utility=Utility(command=("x",)))
ITEM = Item(("l", 1, 0), "WI-1", "One", "job", {"title": "One", "tags": ["x", "y"]})


def cursor(name: str) -> int | None:
    return {"at": 3}.get(name)


def accepted(output: dict[str, Any], **rest: Any) -> Accepted:
    names = ("workItems", "satisfied", "context", "text")
    known: dict[str, Any] = {key: output[key] for key in names if key in output}
    return Accepted(output, known, output, **rest)


def knowing(**state: Any) -> Knowledge:
    return Knowledge(state=state, last_output='{"a":1}', last_json={"a": 1, "b": [5]})


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("$", {"o": {"x": None}}),
        ("$.o", {"x": None}),
        ("$.o.x", None),
        ("$.o.y", MISSING),
        ("state", {"k": {"n": [1, 2]}, "job": "a state key"}),
        ("state.k.n.1", 2),
        ("k.n.0", 1),
        ("k.n.7", MISSING),
        ("state.job", "a state key"),
        ("job.title", "One"),
        ("workItem.tags.1", "y"),
        ("item.title", "One"),
        ("item", ITEM.value),
        ("item.nothing", MISSING),
        ("lastOutput", '{"a":1}'),
        ("lastJson", {"a": 1, "b": [5]}),
        ("lastJson.b.0", 5),
        ("cursor.at", 3),
        ("cursor.other", MISSING),
        ("nothing", MISSING),
    ],
)
def test_what_a_path_leads_to(source: str, value: Any) -> None:
    known = knowing(k={"n": [1, 2]}, job="a state key")
    assert known.read(source, ITEM, cursor, {"o": {"x": None}}) == value


@pytest.mark.parametrize(
    "source", ["item", "item.title", "workItem.title", "lastOutput", "lastJson.a", "cursor.no"]
)
def test_paths_without_a_value(source: str) -> None:
    assert Knowledge().read(source, None, cursor) is MISSING


def test_without_an_item_its_names_are_those_of_the_state() -> None:
    assert knowing(job={"title": "S"}).read("job.title", None, cursor) == "S"


def test_an_output_is_there_while_it_is_assigned_alone() -> None:
    assert knowing().read("$", None, cursor) is MISSING
    assert knowing().read("$.a", None, cursor) is MISSING


def assigned(known: Knowledge, *pairs: tuple[str, str], output: Any = None) -> dict[str, Any]:
    known.assign(Socket("s", "M", "json", assign=pairs), ITEM, cursor, output)
    return known.state


def test_assignments_are_carried_out_in_order() -> None:
    state = assigned(knowing(), ("a", "$.x"), ("b", "a"), ("a", "$.y"), output={"x": 1, "y": 2})
    assert state == {"a": 2, "b": 1}


def test_a_source_without_a_value_leaves_its_target() -> None:
    assert assigned(knowing(a=1), ("a", "state.nothing"), ("b", "state.nothing")) == {"a": 1}


def test_null_is_a_value() -> None:
    assert assigned(knowing(a=1), ("a", "$.x"), output={"x": None}) == {"a": None}


def test_values_are_copied() -> None:
    known = knowing(a={"n": [1]})
    assigned(known, ("b", "state.a"), ("c", "$"), output=(output := {"x": [1]}))
    known.state["a"]["n"].append(2)
    output["x"].append(2)
    assert known.state["b"] == {"n": [1]}
    assert known.state["c"] == {"x": [1]}


def test_a_state_may_be_copied_into_itself() -> None:
    assert assigned(knowing(a=1), ("b", "state")) == {"a": 1, "b": {"a": 1}}


def test_what_was_assigned_was_written() -> None:
    known = knowing()
    assigned(known, ("a.b", "$"), ("c", "nothing"), output=1)
    assert list(known.written) == ["a"]


@pytest.mark.parametrize(("levels", "deep"), [(MAX_DEPTH - 1, False), (MAX_DEPTH, True), (5_000, True)])
def test_a_state_may_not_be_too_deep(levels: int, deep: bool) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    if deep:
        with pytest.raises(VisitFailed, match="nests the state more than 300 levels deep") as failed:
            assigned(knowing(), ("a", "$"), output=value)
        assert failed.value.kind == "output"
    else:
        assigned(knowing(), ("a", "$"), output=value)


def test_a_text() -> None:
    known = knowing()
    known.take_text("hello")
    assert (known.last_output, known.shown, known.last_json) == ("hello", "hello", {"a": 1, "b": [5]})
    assert known.state == {}


def test_an_object() -> None:
    known = Knowledge()
    output = {"satisfied": True, "context": " Why. ", "text": "t", "odd": 1}
    known.take_object(SOCKET, AGENT, accepted(output))
    assert known.last_json == output
    assert known.last_output == compact(output) == '{"satisfied":true,"context":" Why. ","text":"t","odd":1}'
    assert known.state == {
        "envelope": {"satisfied": True, "context": " Why. "},
        "context": "[build The builder]  Why. ",
    }


def test_contexts_are_paragraphs() -> None:
    known = Knowledge()
    for words in ("one", " ", "", "two\n"):
        known.take_object(SOCKET, AGENT, accepted({"context": words}))
    assert known.state["context"] == "[build The builder] one\n\n[build The builder] two\n"


@pytest.mark.parametrize("before", [5, None, [], ""], ids=repr)
def test_what_is_no_text_makes_room_for_contexts(before: Any) -> None:
    known = knowing(context=before)
    known.take_object(SOCKET, AGENT, accepted({"context": "c"}))
    assert known.state["context"] == "[build The builder] c"


def test_the_last_generator_wins_and_others_only_where_there_is_no_list() -> None:
    known = Knowledge()
    for materia, items, expected in (
        (AGENT, [1], [1]),
        (AGENT, [2], [1]),
        (GENERATOR, [3], [3]),
        (UTILITY, [4], [3]),
        (GENERATOR, [], []),
    ):
        known.take_object(SOCKET, materia, accepted({"workItems": items}))
        assert known.state["workItems"] == expected
        assert known.state["envelope"]["workItems"] == items


def test_the_envelope_keeps_what_came_before() -> None:
    known = Knowledge()
    known.take_object(SOCKET, AGENT, accepted({"satisfied": True, "context": "c"}))
    known.take_object(SOCKET, AGENT, accepted({"satisfied": False}))
    assert known.state["envelope"] == {"satisfied": False, "context": "c"}
    broken = knowing(envelope=5)
    broken.take_object(SOCKET, AGENT, accepted({"satisfied": True}))
    assert broken.state["envelope"] == {"satisfied": True}


def test_a_patch_is_merged_key_by_key() -> None:
    known = knowing(a=1, b={"x": 1})
    patch = {"b": {"y": 2}, "c": [3]}
    known.take_object(SOCKET, UTILITY, accepted({}, state=patch))
    patch["c"].append(4)  # type: ignore[attr-defined]
    assert known.state == {"a": 1, "b": {"y": 2}, "c": [3], "envelope": {}}
    assert list(known.written) == ["b", "c"]


def test_what_was_accepted_is_not_shared_with_the_state() -> None:
    known, items = Knowledge(), [{"title": "T"}]
    known.take_object(SOCKET, GENERATOR, accepted({"workItems": items}))
    known.state["workItems"].append(1)
    known.state["envelope"]["workItems"].append(2)
    assert items == known.last_json["workItems"] == [{"title": "T"}]


def test_a_state_to_begin_with() -> None:
    given: dict[str, Any] = {"a": [1]}
    known = Knowledge.starting(given)
    known.state["a"].append(2)
    assert (given, list(known.written)) == ({"a": [1]}, ["a"])
