"""Who answers: `--agent`, the environment, the configuration; when a cast begins and when it goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from desk import Desk
from samples import compiled

from materiac.agents import choose
from materiac.agents.protocol import AgentError, Reply, Request
from materiac.cli.answering import fallback, unknown_models

SOCKETS = {
    "plan": {"materia": "Planner", "edges": [{"to": "build"}]},
    "build": {"materia": "Builder", "edges": [{"to": "tell"}]},
    "tell": {"materia": "Teller"},
}
MATERIA = {
    "Planner": {"prompt": "Plan.", "tools": "readOnly"},
    "Builder": {"prompt": "Build.", "tools": "coding"},
    "Teller": {"prompt": "Tell."},
}
GONE = "scripted:gone.json"


class Answering(Desk):
    """A desk where each of several scripted agents says who it is."""

    def configure(self, **agents: Any) -> None:
        for name in ("one", "two", "three"):
            self.write(f"{name}.json", {"default": f"I am {name}."})
        self.loadout(SOCKETS, MATERIA, **({"agents": agents} if agents else {}))

    def said(self) -> dict[str, str]:
        """The answer of each socket in the only cast."""
        [cast] = self.files.iterdir()
        return {
            file.parent.name: file.read_text().removeprefix("I am ").removesuffix(".")
            for file in cast.glob("sockets/*/1.md")
        }


@pytest.fixture
def desk(tmp_path: Path) -> Answering:
    return Answering(tmp_path)


EVERY = {"plan": "one", "build": "one", "tell": "one"}


@pytest.mark.parametrize(
    ("agents", "option", "env", "said"),
    [
        pytest.param({"default": "scripted:one.json"}, (), {}, EVERY, id="the default"),
        pytest.param(
            {
                "default": "scripted:one.json",
                "scopes": {"coding": "scripted:two.json", "custom": GONE},
                "materia": {"Teller": "scripted:three.json"},
            },
            (),
            {},
            {"plan": "one", "build": "two", "tell": "three"},
            id="by scope and by materia",
        ),
        pytest.param(
            {
                "default": GONE,
                "scopes": {"readOnly": "scripted:one.json", "none": "scripted:one.json"},
                "materia": {"Builder": "scripted:one.json"},
            },
            (),
            {},
            EVERY,
            id="a default that nobody needs is not made",
        ),
        pytest.param(
            {"default": GONE}, (), {"MATERIAC_AGENT": "scripted:one.json"}, EVERY, id="the environment first"
        ),
        pytest.param(
            {"default": GONE},
            ("--agent", "scripted:one.json"),
            {"MATERIAC_AGENT": GONE},
            EVERY,
            id="the option before it",
        ),
    ],
)
def test_who_answers(
    desk: Answering,
    capsys: pytest.CaptureFixture[str],
    agents: dict[str, Any],
    option: tuple[str, ...],
    env: dict[str, str],
    said: dict[str, str],
) -> None:
    desk.configure(**agents)
    ran = desk.run_here(capsys, *option, env=env)
    assert (ran.code, desk.said()) == (0, said)


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ({}, "materiac: say who answers, with --agent, MATERIAC_AGENT or 'agents' in the file: 'scripted:"),
        ({"scopes": {"coding": "ask"}}, "materiac: say who answers for 'Planner', 'Teller', with --agent"),
        ({"default": GONE}, "materiac: cannot read the script 'gone.json': No such file or directory"),
        ({"default": "nope:x"}, "materiac: there is no agent 'nope', expected one of 'scripted:FILE', "),
    ],
    ids=["nobody", "nobody for some", "a script that is gone", "no such agent"],
)
def test_who_cannot_answer(
    desk: Answering, capsys: pytest.CaptureFixture[str], agents: dict[str, Any], message: str
) -> None:
    desk.configure(**agents)
    ran = desk.run_here(capsys, env={"PATH": str(desk.folder)})
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not desk.files.exists()


def test_the_record_has_what_was_chosen(desk: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = {"default": "scripted:one.json", "materia": {"Teller": "scripted:two.json"}}
    desk.configure(**chosen)
    desk.run_here(capsys)
    [began] = [record for record in desk.records() if record["type"] == "cast_started"]
    name, _, text = began["agent"].partition(":")
    assert (name, json.loads(text)) == ("several", chosen)


# Going on


def broken(desk: Answering, capsys: pytest.CaptureFixture[str], *options: str, **agents: Any) -> str:
    """A cast whose first turn failed; gives its folder."""
    desk.configure(**agents)
    desk.write("one.json", {"default": {"error": "no luck"}})
    assert desk.run_here(capsys, *options).code == 1
    [cast] = desk.files.iterdir()
    return str(cast)


@pytest.mark.parametrize(
    ("option", "was", "env", "now", "said"),
    [
        pytest.param((), "one", {}, "two", "two", id="as the file says now"),
        pytest.param(
            (), "one", {"MATERIAC_AGENT": "scripted:two.json"}, "three", "two", id="the environment"
        ),
        pytest.param(
            ("--agent", "scripted:two.json"), "one", {"MATERIAC_AGENT": GONE}, "three", "two", id="the option"
        ),
    ],
)
def test_going_on_where_the_file_said_who_answers(
    desk: Answering,
    capsys: pytest.CaptureFixture[str],
    option: tuple[str, ...],
    was: str,
    env: dict[str, str],
    now: str,
    said: str,
) -> None:
    cast = broken(desk, capsys, default=f"scripted:{was}.json")
    desk.configure(default=f"scripted:{now}.json")
    assert desk.call_here(capsys, "resume", cast, "--retry", *option, env=env).code == 0
    assert set(desk.said().values()) == {said}


def test_going_on_with_who_was_asked_for(desk: Answering, capsys: pytest.CaptureFixture[str]) -> None:
    cast = broken(desk, capsys, "--agent", "scripted:one.json", default="scripted:two.json")
    desk.configure(default="scripted:two.json")
    env = {"MATERIAC_AGENT": "scripted:three.json"}
    assert desk.call_here(capsys, "resume", cast, "--retry", env=env).code == 0
    assert set(desk.said().values()) == {"one"}


def test_going_on_where_the_file_says_nothing_any_more(
    desk: Answering, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cast = broken(desk, capsys, default="scripted:one.json")
    desk.configure()
    other = tmp_path / "other"
    other.mkdir()
    assert desk.call_here(capsys, "resume", cast, "--retry", folder=other).code == 0
    assert set(desk.said().values()) == {"one"}


# Models


@dataclass
class Knowing:
    """A back end that knows its models, or cannot tell."""

    known: list[str] | None
    spec: str = "knowing"

    def models(self) -> list[str] | None:
        if self.known == []:
            raise AgentError("the list cannot be had")
        return self.known

    def turn(self, request: Request) -> Reply:
        raise AgentError(request.prompt)

    def close(self) -> None:
        """Nothing was started."""


@pytest.mark.parametrize(
    ("known", "warnings"),
    [
        (
            ["large-1", "small-1"],
            [
                "materia 'Builder' asks for the model 'large', which 'knowing' does not know: did you mean",
                "materia 'Teller' asks for the model 'huge', which 'knowing' does not know",
            ],
        ),
        (["large", "huge"], []),
        (None, []),
        ([], []),
    ],
    ids=["not these", "these", "it cannot tell", "the list cannot be had"],
)
def test_unknown_models(known: list[str] | None, warnings: list[str]) -> None:
    materia = {
        "Planner": MATERIA["Planner"],
        "Builder": {**MATERIA["Builder"], "model": "large"},
        "Teller": {**MATERIA["Teller"], "model": "huge"},
    }
    trial = {"loadouts": {"Trial": {"entry": "plan", "sockets": SOCKETS}}, "materia": materia}
    said = list(unknown_models(Knowing(known), compiled(trial).program))
    assert len(said) == len(warnings)
    assert all(one.startswith(f"warning: {words}") for one, words in zip(said, warnings, strict=True))


def test_a_back_end_without_a_list_is_not_asked(desk: Answering) -> None:
    desk.configure()
    agent = choose.make(f"scripted:{desk.folder / 'one.json'}")
    materia = {"Planner": {**MATERIA["Planner"], "model": "any"}}
    trial = {
        "loadouts": {"T": {"entry": "a", "sockets": {"a": {"materia": "Planner"}}}},
        "materia": materia,
    }
    assert list(unknown_models(agent, compiled(trial).program)) == []


def test_pi_answers_where_nothing_says_who(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MATERIAC_AGENT", raising=False)
    assert fallback() is None
    (tmp_path / "pi").write_text("#!/bin/sh\n")
    (tmp_path / "pi").chmod(0o755)
    assert fallback() == "pi"
