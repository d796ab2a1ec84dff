from __future__ import annotations

from typing import Any

import pytest

from materiac.path import MISSING, Path, PathError, parse_source, parse_target, read, write


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$", Path("$", ())),
        ("$.a.0.b", Path("$", ("a", "0", "b"))),
        ("state.x", Path("state", ("x",))),
        ("state", Path("state", ())),
        ("item.x", Path("item", ("x",))),
        ("lastOutput", Path("lastOutput", ())),
        ("lastJson.x", Path("lastJson", ("x",))),
        ("cursor.workItemIndex", Path("cursor", ("workItemIndex",))),
        ("cursor.-aIndex", Path("cursor", ("-aIndex",))),
        ("name", Path("state", ("name",), bare=True)),
        ("a.b", Path("state", ("a", "b"), bare=True)),
        ("日本.e\u0301", Path("state", ("日本", "e\u0301"), bare=True)),
    ],
    ids=str,
)
def test_sources(text: str, path: Path) -> None:
    assert parse_source(text) == path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("a..b", "empty part"),
        ("$.", "empty part"),
        (".a", "empty part"),
        ("$a", "'$a' is neither a name nor an index"),
        ("$.a[0]", "'a[0]' is neither"),
        (" state.x", "' state' is neither"),
        ("state. x", "' x' is neither"),
        ("$.a.length", "there is no 'length'"),
        ("$.a.-1", "'-1' is a negative index: indexes count from 0"),
        ("lastOutput.x", "has nothing below it"),
        ("cursor", "'cursor.<name>'"),
        ("cursor.a.b", "'cursor.<name>'"),
    ],
    ids=repr,
)
def test_texts_that_are_no_source(text: str, words: str) -> None:
    with pytest.raises(PathError) as error:
        parse_source(text)
    assert words in str(error.value)


def test_targets() -> None:
    assert parse_target("a.b.0") == ("a", "b", "0")


@pytest.mark.parametrize("text", ["", " ", "a.", "$", "$.a", "a.length", "a.-2", "a b"], ids=repr)
def test_texts_that_are_no_target(text: str) -> None:
    with pytest.raises(PathError):
        parse_target(text)


DATA: Any = {"a": [{"b": None}, "text"], "0": "zero", "٣": "three"}


@pytest.mark.parametrize(
    ("segments", "value"),
    [
        pytest.param((), DATA, id="whole"),
        pytest.param(("a", "1"), "text", id="index"),
        pytest.param(("a", "0", "b"), None, id="null-is-a-value"),
        pytest.param(("0",), "zero", id="digits-are-a-key-of-an-object"),
        pytest.param(("a", "2"), MISSING, id="index-too-high"),
        pytest.param(("a", "x"), MISSING, id="name-below-a-list"),
        pytest.param(("a", "1", "0"), MISSING, id="below-a-string"),
        pytest.param(("a", "0", "b", "c"), MISSING, id="below-null"),
        pytest.param(("x", "y"), MISSING, id="below-nothing"),
        pytest.param(("a", "٠"), MISSING, id="digits-of-another-script"),
        pytest.param(("a", "9" * 5000), MISSING, id="very-long-index"),
    ],
)
def test_read(segments: tuple[str, ...], value: Any) -> None:
    assert read(DATA, segments) is value


@pytest.mark.parametrize(
    ("state", "segments", "after"),
    [
        pytest.param({}, ("a",), {"a": 1}, id="new"),
        pytest.param({"a": {"x": 0}}, ("a", "b"), {"a": {"x": 0, "b": 1}}, id="beside"),
        pytest.param({}, ("a", "b", "c"), {"a": {"b": {"c": 1}}}, id="missing-parents"),
        pytest.param({"a": "text"}, ("a", "b"), {"a": {"b": 1}}, id="scalar-parent"),
        pytest.param({"a": [7]}, ("a", "0"), {"a": {"0": 1}}, id="list-parent"),
        pytest.param({"a": None}, ("a", "b"), {"a": {"b": 1}}, id="null-parent"),
    ],
)
def test_write(state: dict[str, Any], segments: tuple[str, ...], after: Any) -> None:
    write(state, segments, 1)
    assert state == after


def test_what_is_written_is_a_copy() -> None:
    value: dict[str, Any] = {"list": [{"x": 1}], "empty": {}}
    state: dict[str, Any] = {}
    write(state, ("a",), value)
    assert state == {"a": value}
    value["list"][0]["x"] = 2
    value["empty"]["y"] = 3
    assert state == {"a": {"list": [{"x": 1}], "empty": {}}}


def test_state_can_be_written_into_itself() -> None:
    state: dict[str, Any] = {"x": 1}
    write(state, ("a", "b"), state)
    assert state == {"x": 1, "a": {"b": {"x": 1}}}


def test_very_deep_values_are_copied() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    state: dict[str, Any] = {}
    write(state, ("a",), value)
    assert state["a"] is not value
    assert read(state["a"], ("0",) * 100_000) == []
