"""`agents`: what there is, who would answer, and whether it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from desk import Desk

from materiac.agents.choose import FORMS
from materiac.shipped import BACK_ENDS

READY = "command:sh -c 'cat > prompt; echo ready'"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def told(desk: Desk, capsys: pytest.CaptureFixture[str], *words: str, **env: str) -> dict[str, Any]:
    """What `agents --json` prints."""
    data: dict[str, Any] = json.loads(desk.call_here(capsys, "agents", "--json", *words, env=env).out)
    return data


def project(desk: Desk, **agents: Any) -> None:
    (desk.folder / ".materia").mkdir()
    desk.write(".materia/loadout.json", {"agents": agents})


def test_every_back_end_is_listed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    listed = told(desk, capsys)
    assert listed["version"] == 1
    assert [one["name"] for one in listed["agents"]] == list(BACK_ENDS)
    assert [one["form"] for one in listed["agents"]] == list(FORMS.values())
    for one in listed["agents"]:
        assert one["usable"] is (one["installed"] and one["whyNot"] is None)
        assert one["installed"] or one["whyNot"]
        scopes = BACK_ENDS[one["name"]].scopes
        assert one["scopes"] is None if scopes is None else set(one["scopes"]) == scopes


def test_the_list_for_a_person(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    ran = desk.call_here(capsys, "agents", env={"PATH": str(desk.folder)})
    assert (ran.code, ran.err) == (0, "")
    parts = ran.out.split("\n\n")
    assert [part.split()[0] for part in parts] == [*BACK_ENDS, "chosen"]
    assert parts[list(BACK_ENDS).index("command")] == (
        "command       can run\n"
        "  written     command:PROGRAM ARGUMENT…\n"
        "  held to     nothing: it may do more than its materia says\n"
        "  hands over  text"
    )
    assert parts[-1] == "chosen        nobody, where nothing else is said\n"


def test_of_keys_only_the_names_are_told(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    keys = [key for one in told(desk, capsys)["agents"] for key in one["keys"]]
    assert keys, "a back end looks for a key"
    env = dict.fromkeys(keys, "hunter2-hunter2")
    for words in (["agents"], ["agents", "--json"]):
        out = desk.call_here(capsys, *words, env=env).out
        assert keys[0] in out
        assert "hunter2" not in out
    assert all(all(one["keys"].values()) for one in told(desk, capsys, **env)["agents"])


@pytest.mark.parametrize(
    ("agents", "env", "chosen"),
    [
        (None, None, None),
        (None, "ask", "ask"),
        ({"default": "ask"}, None, "ask"),
        ({"default": "ask"}, READY, READY),
        ({"materia": {"A": "ask"}}, None, 'several:{"materia": {"A": "ask"}}'),
        (
            {"default": READY, "scopes": {"none": "ask"}},
            None,
            f"several:{json.dumps({'default': READY, 'scopes': {'none': 'ask'}})}",
        ),
        ({"default": 1}, None, None),
    ],
    ids=["nobody", "environment", "file", "environment first", "by materia", "by scope", "no sound file"],
)
def test_who_would_answer_here(
    desk: Desk, capsys: pytest.CaptureFixture[str], agents: Any, env: str | None, chosen: str | None
) -> None:
    if agents is not None:
        project(desk, **agents)
    variables = {"PATH": str(desk.folder), **({"MATERIAC_AGENT": env} if env else {})}
    assert told(desk, capsys, **variables)["chosen"] == chosen


# Probes


def script(desk: Desk, **answer: Any) -> str:
    desk.write("answers.json", {"default": answer})
    return "scripted:answers.json"


def test_an_agent_that_answers(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    spec = script(desk, text="ready,\nwhen you are", usage={"input": 1200, "output": 5, "cost": 0.01})
    ran = desk.call_here(capsys, "agents", "--probe", spec)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:4] == [
        "agent         scripted:answers.json",
        "answered      ready, when you are",
        "model         scripted",
        "usage         1,205 tokens (1,200 in, 5 out), $0.0100",
    ]
    [probe] = told(desk, capsys, "--probe", spec)["probes"]
    assert probe.pop("seconds") < 60
    assert probe == {
        "agent": spec,
        "answered": True,
        "text": "ready,\nwhen you are",
        "model": None,
        "provider": "scripted",
        "usage": {"input": 1200, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": 0.01},
        "fault": None,
        "error": None,
    }


def test_it_is_asked_in_a_folder_of_its_own(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk.call_here(capsys, "agents", "--probe", READY).code == 0
    assert list(desk.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "code", "words"),
    [
        ("command:false", 1, "failed        'false' ended with exit code 1\n"),
        ("scripted:gone.json", 2, "failed        cannot read the script 'gone.json': No such file"),
        ("nope", 2, "failed        there is no agent 'nope', expected one of "),
        ("several:[]", 2, "'several:…' is no object of agents"),
    ],
    ids=["no answer", "cannot be made", "unknown", "no sound choice"],
)
def test_an_agent_that_does_not_answer(
    desk: Desk, capsys: pytest.CaptureFixture[str], spec: str, code: int, words: str
) -> None:
    ran = desk.call_here(capsys, "agents", "--probe", spec)
    assert ran.code == code
    assert words in ran.out + ran.err


def test_a_provider_that_fails(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    ran = desk.call_here(capsys, "agents", "--probe", script(desk, error="no credit"))
    assert ran.code == 1
    assert "failed        no credit\n" in ran.out


def test_secrets_do_not_come_back(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    env = {"WASH_TOKEN": "soap-and-water"}
    for spec in ("command?env=WASH_TOKEN:sh -c 'echo $WASH_TOKEN'", "command:sh -c 'exit 3' soap-and-water"):
        for words in ((), ("--json",)):
            ran = desk.call_here(capsys, "agents", "--probe", spec, *words, env=env)
            assert "soap" not in ran.out + ran.err
            assert "***" in ran.out


def test_who_would_answer_is_probed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    spec = script(desk, text="ready")
    project(desk, default=spec, materia={"A": "command:false", "B": spec})
    probes = told(desk, capsys, "--probe")["probes"]
    assert [(one["agent"], one["answered"]) for one in probes] == [(spec, True), ("command:false", False)]


def test_nobody_is_there_to_be_probed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    ran = desk.call_here(capsys, "agents", "--probe", env={"PATH": str(desk.folder)})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("materiac: say who answers, with --agent, MATERIAC_AGENT or 'agents'")
