"""`materiac new`: templates check clean, run as their scenarios say, and never take another file's place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import order

from materiac.agents.scripted import Script, Scripted
from materiac.cli import main
from materiac.cli.loading import bundled
from materiac.cli.new import TEMPLATES
from materiac.pipeline import Text, compile_loadout
from materiac.resources import folder
from materiac.runtime.run import Result, run

FOLDER = folder("loadouts") / "templates"


@pytest.fixture(name="here", autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return tmp_path


def scenarios(file: Path) -> list[dict[str, Any]]:
    data = json.loads(file.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = data.get("scenarios", [data])
    return found


def played(scenario: dict[str, Any], here: Path) -> Result:
    file = here / scenario["loadout"]
    image = compile_loadout([*bundled(), Text(file.name, file.read_bytes())]).image
    assert image is not None
    agent = Scripted("scripted:here", Script.model_validate(scenario["agent"]))
    return run(order(image, here, agent, request=scenario.get("request", "a request"), durable=False))


def test_there_are_no_other_templates() -> None:
    assert sorted(TEMPLATES) == sorted(f.stem for f in FOLDER.glob("*.json") if "scenario" not in f.name)


def test_templates_are_listed_with_what_they_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(TEMPLATES)
    assert all(line.endswith(".") for line in lines)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("name", [None, "Mein Grüß-Plan"])
@pytest.mark.parametrize("language", ["json", "dsl"])
def test_a_template_checks_clean_and_goes_as_its_scenario_says(
    template: str, name: str | None, language: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--language", language, *([] if name is None else ["--name", name])]
    assert main(["new", template, *words]) == 0
    loadout, scenario = map(Path, capfd.readouterr().out.splitlines())
    assert main(["check", "--strict", str(loadout)]) == 0
    ending = "json" if language == "json" else "materia"
    assert loadout.name == f"{'Mein-Grüß-Plan' if name else template}.{ending}"
    for told in scenarios(scenario):
        assert told["loadout"] == loadout.name
        result = played(told, here)
        assert result.cast.program.name == (name or template.title())
        got = result.as_data()
        expect = told["expect"]
        assert got["status"] == expect["status"]
        assert (got["failure"] or {}).get("kind") == expect.get("failure")
        for key in ("path", "items", "visits"):
            assert got[key] == expect.get(key, got[key])


def test_a_folder_is_made_and_nothing_is_overwritten(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "hello", "-o", "deep/er"]) == 0
    assert capfd.readouterr().out.splitlines() == ["deep/er/hello.json", "deep/er/hello.scenario.json"]
    Path("deep/er/hello.json").unlink()
    Path("deep/er/hello.scenario.json").write_text("mine", encoding="utf-8")
    assert main(["new", "hello", "-o", "deep/er"]) == 2
    assert "'deep/er/hello.scenario.json' is there already" in capfd.readouterr().err
    assert not Path("deep/er/hello.json").exists()
    assert Path("deep/er/hello.scenario.json").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["helo"], "there is no template 'helo': did you mean 'hello'?"),
        (["zzz"], "there is no template 'zzz': there are 'hello', "),
        (["hello", "--name", "a/b"], "the name has '/' in it"),
        (["hello", "--name", "end"], "the name is taken"),
        (["hello", "-o", "file/below"], "cannot write 'file"),
    ],
)
def test_what_cannot_be_is_said(words: list[str], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("file").touch()
    assert main(["new", *words]) == 2
    assert said in capfd.readouterr().err
