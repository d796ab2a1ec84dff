"""Requests that do not fit have an answer, and at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from talk import Talk, talking

TEXT = "loadout L { entry a  a: A -> end }"
HERE = {"line": 0, "character": 1}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    with talking(tmp_path_factory.mktemp("work")) as talk:
        yield talk


def places() -> Iterator[Any]:
    yield from (None, [], "x", 1, {}, {"line": 0}, {"character": 0})
    odd: list[Any] = [None, -1, 2**40, 2**31, "0", "x", 1.5, True, [], {}]
    for wrong in odd:
        yield {"line": wrong, "character": 0}
        yield {"line": 0, "character": wrong}


@pytest.mark.parametrize(
    "method", ["hover", "completion", "definition", "references", "prepareRename", "rename"]
)
def test_places_that_are_none(talk: Talk, method: str) -> None:
    uri = talk.open("a.materia", TEXT)
    rest = {"context": {"includeDeclaration": True}, "newName": "b"}
    for place in places():
        asked = {"textDocument": {"uri": uri}, "position": place, **rest}
        told = talk.ask(f"textDocument/{method}", asked)
        assert told["code"] == -32602, (place, told)
    assert talk.at("hover", uri, 0, 2**31 - 1) is None
    odd: list[Any] = [None, {}, [], "x", {"textDocument": {}, "position": HERE}, {"position": HERE}]
    for params in odd:
        assert talk.ask(f"textDocument/{method}", params)["code"] == -32602, params
    odd = [{"uri": 5}, {"uri": None}, "x", None, []]
    for document in odd:
        asked = {"textDocument": document, "position": HERE, **rest}
        assert talk.ask(f"textDocument/{method}", asked)["code"] == -32602, document


@pytest.mark.parametrize("name", [None, 5, [], {}, True], ids=str)
def test_new_names_that_are_none(talk: Talk, name: Any) -> None:
    uri = talk.open("a.materia", TEXT)
    asked = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 19}}
    assert talk.ask("textDocument/rename", {**asked, "newName": name})["code"] == -32602
    assert talk.ask("textDocument/rename", asked)["code"] == -32602


@pytest.mark.parametrize("range_", [None, {}, {"start": HERE}, {"start": HERE, "end": -1}, 1], ids=str)
def test_ranges_that_are_none(talk: Talk, range_: Any) -> None:
    asked = {"textDocument": {"uri": talk.uri("a.materia")}, "range": range_, "context": {"diagnostics": []}}
    assert talk.ask("textDocument/codeAction", asked)["code"] == -32602


def test_what_is_no_request(talk: Talk) -> None:
    for message in ({"method": 5}, {"method": "what"}, {"method": "initialize", "params": {}}):
        talk.send({"id": "odd", **message})
        told = talk.until(lambda message: message.get("id") == "odd")
        assert told["error"]["code"] in (-32600, -32601), told


def test_it_goes_on(talk: Talk) -> None:
    uri = talk.open("b.materia", "loadout {")
    assert [part["code"] for part in talk.findings(uri, 1)] == ["syntax"]
