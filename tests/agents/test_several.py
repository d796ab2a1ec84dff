"""Several back ends as one."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest

from materiac.agents import several
from materiac.agents.protocol import AgentError, Request
from materiac.agents.scripted import Scripted
from materiac.agents.several import Several, agent_for, specs_in

GONE = "scripted:/nowhere.json"


def script(folder: Path, name: str, answer: str) -> str:
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"default": answer}))
    return f"scripted:{file}"


def request(materia: str, scope: str) -> Request:
    return Request("p", "s", materia, 1, 1, Path(), scope=scope)


@pytest.fixture
def three(tmp_path: Path) -> Several:
    return Several(
        script(tmp_path, "any", "of all"),
        {"Build": script(tmp_path, "build", "of Build")},
        {"coding": script(tmp_path, "coding", "of coding"), "custom": GONE},
    )


@pytest.mark.parametrize(
    ("materia", "scope", "answer"),
    [
        ("Build", "coding", "of Build"),
        ("Other", "coding", "of coding"),
        ("Other", "readOnly", "of all"),
    ],
    ids=["by materia", "by scope", "by default"],
)
def test_who_answers(three: Several, materia: str, scope: str, answer: str) -> None:
    assert three.turn(request(materia, scope)).text == answer
    assert agent_for(three, materia, scope) is three.of(materia, scope)


def test_one_text_is_one_back_end_whoever_asks(three: Several) -> None:
    made: list[object] = []
    threads = [Thread(target=lambda: made.append(three.of("Other", "coding"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, made))) == 1
    assert three.of("Build", "coding") is not made[0]


def test_what_nobody_needs_is_not_made(three: Several) -> None:
    three.make_all([("Build", "none"), ("Other", "coding")])
    with pytest.raises(AgentError, match="cannot read the script '/nowhere"):
        three.make_all([("Build", "none"), ("Other", "custom")])


def test_nobody_said_who(tmp_path: Path) -> None:
    agent = Several(None, {}, {"none": script(tmp_path, "a", "x")})
    with pytest.raises(AgentError, match=r"nothing says who answers for the materia 'B' \(tools 'coding'\)"):
        agent.of("B", "coding")


def test_closing_closes_all_that_was_made(three: Several) -> None:
    first = three.of("Build", "none")
    assert isinstance(first, Scripted)
    three.close()
    three.close()
    assert first._closed.is_set()
    with pytest.raises(AgentError, match="was closed before it was asked for 'Other'"):
        three.turn(request("Other", "none"))


def test_the_spec_leads_back(three: Several) -> None:
    again = several.make(three.spec)
    assert again.spec == three.spec
    assert (again.default, again.by_materia, again.by_scope) == (
        three.default,
        three.by_materia,
        three.by_scope,
    )
    assert next(iter(specs_in(three.spec))) == three.default
    assert set(specs_in(three.spec)) == {
        three.default,
        GONE,
        *three.by_scope.values(),
        *three.by_materia.values(),
    }


def test_one_back_end_is_itself() -> None:
    agent = several.make('several:{"default": "ask"}')
    assert agent_for(agent.of("A", "none"), "B", "coding") is agent.of("A", "none")
    assert list(specs_in("command:a:b")) == ["command:a:b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read: Expecting value"),
        ("[", "cannot be read"),
        pytest.param("[" * 100_000, "cannot be read", id="too deep"),
        ("[]", "is no object of agents"),
        ('{"agents": {}}', "'agents' means nothing in 'several:…', expected default, scopes, materia"),
        ('{"default": 1}', "the 'default' of 'several:…' is no agent: 1"),
        ('{"default": ""}', "the 'default' of 'several:…' is no agent: ''"),
        ('{"scopes": "ask"}', "'scopes' of 'several:…' is no object of agents by name: 'ask'"),
        ('{"materia": {"A": null}}', "'materia' of 'several:…' is no object of agents by name"),
    ],
)
def test_what_is_no_choice(text: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        several.make(f"several:{text}")
    assert message in str(caught.value)


def test_a_scope_that_there_is_not() -> None:
    with pytest.raises(AgentError, match="'codign' in 'several:…' is no tool scope: did you mean 'coding'"):
        several.make('several:{"scopes": {"codign": "ask"}}')
