"""Which files count: those that are open only, and which JSON is one of loadouts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from talk import Talk, rules, talking


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """One talk for many tests: it takes long to begin one."""
    with talking(tmp_path_factory.mktemp("work")) as talk:
        yield talk


@pytest.fixture
def talk(shared: Talk) -> Iterator[Talk]:
    """The talk, with no file open, none in the folder, and no message left."""
    yield shared
    shared.clear()


def test_a_layer_that_is_open_only_counts(talk: Talk) -> None:
    for layer, text in (
        (".materia/loadout.materia", 'materia Low { prompt "x" }'),
        (".materia/loadout.json", '{"materia": {"Low": {"prompt": "x"}}}'),
    ):
        uri = talk.open("main.materia", "loadout L { entry a  a: Low -> end }")
        assert rules(talk.findings(uri, 1)) == ["unknown-materia"]
        low = talk.open(layer, text)
        assert talk.findings(uri) == []
        talk.close(low)
        assert rules(talk.findings(uri)) == ["unknown-materia"]
        talk.clear()


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("early.json", '{"pipeline": {"entry": "a", "sockets": {"a": {"prompt": ""}}}}', True),
        ("roles.json", '{"pipeline": {}, "roles": {"R": {"systemPrompt": "x"}}}', True),
        ("plays.json", '{"loadout": "L", "scenarios": [{"name": "x", "expekt": {}}]}', True),
        ("play.json", '{"name": "x", "loadout": "L", "agent": {"sockets": 1}}', True),
        ("open.json", '{"loadouts": {', True),
        ("ci.json", '{"pipeline": {"steps": []}}', False),
        ("deep.json", '{"x": {"materia": {"a": 1}}}', False),
        ("other.json", '{"name": "x", "scenario', False),
    ],
)
def test_which_json_is_told_of(talk: Talk, name: str, text: str, found: bool) -> None:
    uri = talk.open(name, text)
    assert bool(talk.findings(uri, 1)) == found
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": len(text)}}
    asked = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": []}}
    assert found or talk.ask("textDocument/codeAction", asked) == []
