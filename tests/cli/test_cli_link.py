"""`materiac link`: which parts a call names, what is written, and what runs at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, Json, loadout, socket, working

from materiac.cli import main

TWO: Json = loadout({"hello": socket()}, materia={"Say it": {"prompt": "Say {{state.previousCast.status}}."}})
TWO["loadouts"]["Bye"] = {"entry": "bye", "sockets": {"bye": {"materia": "Say it"}}}
TWO["activeLoadout"] = "L"


@pytest.fixture(name="here", autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("MATERIAC_AGENT", "scripted:agent.json")
    write("two.json", TWO)
    write("work.json", working())
    write("agent.json", {"sockets": {"bye": "bye", "plan": {"json": {"workItems": []}}}})
    return tmp_path


def write(name: str, data: Any) -> None:
    Path(name).write_text(json.dumps(data), encoding="utf-8")


def linked(*words: str) -> Json:
    assert main(["link", *words, "-o", "out.json"]) == 0
    assert main(["check", "out.json"]) == 0
    data: Json = json.loads(Path("out.json").read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize(
    ("parts", "sockets"),
    [
        (["two.json", "work.json"], ["hello", "plan", "build", "check", "tell"]),
        (["two.json#Bye", "two.json", "two.json#L"], ["bye", "hello", "hello-2"]),
        (["two.json@Say it", "two.json@Agent"], ["Say-it", "Agent"]),
        (["two.json@Build"], ["Build"]),
    ],
    ids=" ".join,
)
def test_parts_are_files_loadouts_and_materia(parts: list[str], sockets: list[str]) -> None:
    [loadout_] = linked(*parts)["loadouts"].values()
    assert list(loadout_["sockets"]) == sockets


def test_the_loadout_is_called_after_its_parts_or_as_one_says() -> None:
    assert list(linked("two.json#Bye", "two.json@Agent")["loadouts"]) == ["Bye-Agent"]
    assert list(linked("two.json", "--name", "Mine")["loadouts"]) == ["Mine"]


def test_a_part_may_read_what_one_before_it_writes(capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"Tell": {"prompt": "Tell of {{state.found}}."}}
    write("tell.json", loadout({"tell": {"materia": "Tell"}}, materia=asked))
    write("look.json", loadout({"look": socket(parse="json", assign={"found": "$.context"})}))
    assert list(linked("look.json", "tell.json")["loadouts"]["L-L"]["sockets"]) == ["look", "tell"]
    assert linked("look.json", "tell.json@Tell")
    capsys.readouterr()
    assert main(["link", "tell.json", "look.json", "-o", "out.json"]) == 0
    assert "warning[maybe-unassigned]" in capsys.readouterr().err
    assert main(["link", "tell.json", "tell.json", "-o", "out.json"]) == 2
    assert "error[undefined-state]" in capsys.readouterr().err


def test_a_file_may_have_the_marks_in_its_name() -> None:
    write("a#b@c.json", loadout({"odd": socket()}))
    assert list(linked("a#b@c.json", "a#b@c.json@Agent")["loadouts"]["L-Agent"]["sockets"]) == [
        "odd",
        "Agent",
    ]


def test_early_forms_are_written_as_today() -> None:
    write("old.json", {"pipeline": {"sockets": {"a": {"prompt": AGENT["prompt"]}}}})
    data = linked("old.json", "two.json")
    assert data["materia"]["pipeline-a"] == {"prompt": AGENT["prompt"], "label": "a"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.json"], "cannot read 'none.json'"),
        (["two.json#None"], "there is no loadout 'None'"),
        (["two.json@Agnet"], "'two.json@Agnet' names no materia: did you mean 'Agent'?"),
        (["two.json", "--name", "a/b"], "the name 'a/b' has '/' in it"),
        (["verdict.json", "two.json"], "'verdict.json' has 2 ends, expected one to go on from to 'two.json'"),
        (["two.json", "--from", "x"], "'--from' needs a request"),
        (["two.json", "--from", "x", "--", "go"], "'x' holds no cast"),
        (["early.json"], "'early.json' cannot be written in the forms of today: an empty list led loop 'l'"),
        (["machine.json"], "'machine.json' is a compiled machine"),
    ],
)
def test_what_cannot_be_linked_is_said(
    words: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    ways = [{"when": "satisfied", "to": "b"}]
    write("verdict.json", loadout({"a": socket(parse="json", edges=ways), "b": socket()}))
    step = {"cursor": "workItemIndex", "items": "state.workItems"}
    each = {"each": socket(advance=step, edges=[{"to": "each"}]), "tell": socket()}
    way = {"sockets": ["each"], "iterator": {"items": "state.workItems", "done": "tell"}}
    write("early.json", loadout(each, loops={"l": {**way, "exit": {"from": "each", "to": "end"}}}))
    assert main(["compile", "two.json", "-o", "machine.json"]) == 0
    assert main(["link", *words, "-o", "out.json"]) == 2
    assert said in capfd.readouterr().err
    assert not Path("out.json").exists()


def test_a_request_runs_it_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["link", "two.json", "work.json", "two.json#Bye", "--json", "--", "tidy", "the shed"]) == 0
    result = json.loads(capfd.readouterr().out)
    assert result["path"] == ["hello", "plan", "tell", "bye"]
    first = (Path(result["artifacts"]) / "events.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first)["request"] == "tidy the shed"


def test_an_earlier_cast_is_told_to_the_next(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["link", "two.json", "--json", "--", "first"]) == 0
    before = json.loads(capfd.readouterr().out)
    words = [
        "two.json@Say it",
        "--from",
        before["artifacts"],
        "--json",
        "-o",
        "out.json",
        "--request",
        "then",
    ]
    assert main(["link", *words]) == 0
    after = json.loads(capfd.readouterr().out)
    told = after["data"]["previousCast"]
    assert (told["castId"], told["status"], told["lastOutput"]) == (before["castId"], "complete", "ok")
    prompt = (Path(after["artifacts"]) / "contexts" / "Say-it" / "1.md").read_text(encoding="utf-8")
    assert "Say complete." in prompt
    assert Path("out.json").exists()


def test_findings_of_a_part_keep_it_from_being_linked(capfd: pytest.CaptureFixture[str]) -> None:
    write("bad.json", loadout({"a": socket(edges=[{"to": "nowhere"}])}))
    assert main(["link", "bad.json", "two.json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "error[unknown-target]" in err
