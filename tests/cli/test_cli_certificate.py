"""Certificates: written of what was checked, asked for before a cast begins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import Json, loadout, socket, working

from materiac.cli import main

NEVER: Json = {"never": "ship", "before": "look"}
OUT = "cert.json"
RUN = ("--agent", "scripted:answers.json", "--request", "hello", "--json", "--require-certificate", OUT)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "MATERIA_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def sockets(**more: Any) -> Json:
    return {
        "make": socket(edges=[{"to": "look"}], **more),
        "look": socket(edges=[{"to": "ship"}]),
        "ship": socket(),
    }


def write(name: str, data: Any) -> str:
    Path(name).write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return name


def certified(config: Json, *options: str) -> Json:
    assert main(["check", write("loadout.json", config), "--certificate", OUT, *options]) == 0
    data: Json = json.loads(Path(OUT).read_bytes())
    return data


def test_certificate_says_what_was_proved_and_of_what() -> None:
    (part,) = certified(loadout(sockets(), properties=[NEVER]))["loadouts"]
    assert main(["compile", "loadout.json", "-o", "machine.json"]) == 0
    assert part["loadout"] == "L"
    assert part["program"] == json.loads(Path("machine.json").read_bytes())["hash"]
    assert part["bound"]["agentTurns"]["text"] == "3"
    assert part["properties"] == [{"property": "never 'ship' before 'look'", "verdict": "proved"}]
    assert part["verdicts"]["never-ends"] == "holds"
    assert any("stall guard" in words for words in part["assumptions"])


def test_verdicts_are_those_of_each_loadout() -> None:
    reason = {"rule": "broken-property", "reason": "a person looks"}
    config = loadout(
        {"make": socket(edges=[{"to": "ship"}]), "look": socket(), "ship": socket()},
        properties=[NEVER | {"x-materiac": {"ignore": [reason]}}],
    )
    config["loadouts"]["M"] = {"entry": "make", "sockets": sockets()}
    of_l, of_m = certified(config)["loadouts"]
    assert [part["verdicts"]["unreachable-socket"] for part in (of_l, of_m)] == ["found", "holds"]
    assert [part["verdicts"]["broken-property"] for part in (of_l, of_m)] == ["suppressed", "holds"]
    assert of_l["properties"] == [{"property": "never 'ship' before 'look'", "verdict": "watched"}]
    (alone,) = certified(config, "--loadout", "M")["loadouts"]
    assert alone["loadout"] == "M"


def test_cycle_without_a_way_out_is_not_called_bounded() -> None:
    known = {"ignore": [{"rule": "never-ends", "reason": "a person stops it"}]}
    round_ = socket(edges=[{"to": "make"}])
    config = loadout({"make": socket(edges=[{"to": "look"}]), "look": round_})
    config["loadouts"]["L"]["x-materiac"] = known
    config["loadouts"]["M"] = {"entry": "make", "sockets": sockets()}
    of_l, of_m = certified(config)["loadouts"]
    rules = ("never-ends", "unbounded-loop", "stall-guard")
    assert {of_l["verdicts"][rule] for rule in rules} == {"suppressed"}
    assert {of_m["verdicts"][rule] for rule in rules} == {"holds"}


@pytest.mark.parametrize(
    ("back", "verdict"),
    [({}, "noted"), ({"maxTraversals": 2}, "holds")],
    ids=["info", "none"],
)
def test_infos_are_told_from_worse(back: Json, verdict: str) -> None:
    edges = [{"when": "satisfied", "to": "build"}, {"when": "not_satisfied", "to": "build"} | back]
    (part,) = certified(working(check={"edges": edges}))["loadouts"]
    assert part["verdicts"]["stall-guard"] == verdict


@pytest.mark.parametrize(
    ("config", "options", "code"),
    [
        (loadout({"make": socket(edges=[{"to": "nowhere"}])}), (), 1),
        (loadout({"make": socket(), "stray": socket()}), ("--strict",), 1),
        ({"materia": {}}, (), 1),
        (loadout(sockets()), ("--fix", "--dry-run"), 2),
    ],
    ids=["error", "below-the-level", "no-loadout", "dry-run"],
)
def test_what_fails_the_check_gets_no_certificate(config: Json, options: tuple[str, ...], code: int) -> None:
    assert main(["check", write("loadout.json", config), "--certificate", OUT, *options]) == code
    assert not Path(OUT).exists()


def test_certificate_is_never_written_over_the_loadout() -> None:
    name = write("loadout.json", loadout(sockets()))
    before = Path(name).read_bytes()
    assert main(["check", name, "--certificate", f"./{name}"]) == 2
    assert Path(name).read_bytes() == before


def test_certificate_goes_to_standard_output_alone(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("loadout.json", loadout(sockets())), "--certificate", "-"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["certificate"] == 1
    assert "no findings" in err


def run(file: str = "loadout.json") -> int:
    write("answers.json", {"sockets": {id_: {"text": "done"} for id_ in ("make", "look", "ship")}})
    return main(["run", file, *RUN])


def test_certified_program_runs_however_it_is_written() -> None:
    certified(loadout(sockets()))
    assert run() == 0
    assert main(["convert", "loadout.json", "-o", "loadout.materia"]) == 0
    assert run("loadout.materia") == 0
    assert main(["compile", "loadout.json", "-o", "machine.json"]) == 0
    assert run("machine.json") == 0


@pytest.mark.parametrize(
    "setting",
    [{"artifactDir": "made"}, {"eventing": {"sinks": {}}}, {"agents": {"default": "command:agent"}}],
    ids=lambda setting: next(iter(setting)),
)
def test_settings_need_no_new_certificate(setting: Json) -> None:
    certified(loadout(sockets()))
    write("loadout.json", loadout(sockets()) | setting)
    assert run() == 0


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (loadout(sockets(limits={"maxVisits": 2})), "is not what"),
        (loadout(sockets()) | {"budget": {"maxTokens": 5}}, "is not what"),
    ],
    ids=["limit", "budget"],
)
def test_another_program_is_refused(config: Json, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    certified(loadout(sockets()))
    write("loadout.json", config)
    assert run() == 2
    assert words in capsys.readouterr().err
    assert not Path(".materia").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no JSON"),
        ("[]", "no certificate"),
        ('{"certificate": 1}', "no certificate"),
        ('{"certificate": 2, "loadouts": []}', "format 2"),
        ('{"certificate": true, "loadouts": []}', "format true"),
        ('{"certificate": 1.0, "loadouts": []}', "format 1.0"),
        ('{"certificate": 1, "loadouts": [{"program": true, "loadout": "L"}]}', "no certificate"),
        ('{"certificate": 1, "loadouts": [{"program": "x", "loadout": "M"}]}', "other loadouts"),
        ("[" * 100_000, "no JSON"),
    ],
    ids=["text", "list", "empty", "format", "true", "fraction", "no-hash", "other", "deep"],
)
def test_what_is_no_certificate_is_refused(text: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("loadout.json", loadout(sockets()))
    write(OUT, text)
    assert run() == 2
    assert words in capsys.readouterr().err


def test_certificate_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    write("loadout.json", loadout(sockets()))
    assert run() == 2
    assert OUT in capsys.readouterr().err
