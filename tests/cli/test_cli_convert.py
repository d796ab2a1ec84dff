from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import FEATURES

from materiac.cli import main

CONFIG = FEATURES["work"]
EARLY = {
    "pipeline": {"entry": "a", "sockets": {"a": {"role": "R", "prompt": "more"}}},
    "roles": {"R": {"systemPrompt": "Do it.\n"}},
    "compaction": {"on": True},
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("config", [CONFIG, EARLY], ids=["sound", "early forms"])
def test_there_and_back(config: object) -> None:
    Path("a.json").write_text(json.dumps(config), encoding="utf-8")
    assert main(["convert", "a.json", "-o", "a.materia"]) == 0
    assert main(["convert", "a.materia", "-o", "b.json"]) == 0
    assert json.loads(Path("b.json").read_bytes()) == config
    assert main(["fmt", "--check", "a.materia", "b.json"]) == 0


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        pytest.param([], "limits", id="the other language"),
        pytest.param(["--to", "json"], "{", id="json"),
        pytest.param(["--to", "dsl", "--language", "json"], "limits", id="as said"),
    ],
)
def test_what_is_written(options: list[str], begins: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.json").write_text('{"limits":{"maxNoAdvanceCycles":1}}', encoding="utf-8")
    assert main(["convert", "a.json", *options]) == 0
    assert capfd.readouterr().out.startswith(begins)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("[1]", "a.json:1:1: error[invalid-value]: a loadout file is an object", id="list"),
        pytest.param("{,}", "a.json:1:2: error[syntax]", id="syntax"),
        pytest.param('{"a":1,"a":2}', "a.json:1:8: error[duplicate-key]", id="repeated key"),
    ],
)
def test_what_cannot_be_written(content: str, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.json").write_text(content, encoding="utf-8")
    assert main(["convert", "a.json", "-o", "a.materia"]) == 2
    assert capfd.readouterr().err.startswith(said)
    assert not Path("a.materia").exists()


def test_no_such_file(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "a.json"]) == 2
    assert "cannot read 'a.json'" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("convert a.materia --to json -o ./a.materia", id="convert"),
        pytest.param("compile a.materia -o a.materia", id="compile"),
        pytest.param("render a.materia --format text -o a.materia", id="render"),
        pytest.param("export a.materia --to python -o a.materia", id="export"),
        pytest.param("test --generate a.materia -o a.materia", id="generate"),
    ],
)
def test_what_a_file_is_made_from_is_not_written_over(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'loadout A { entry a  a: Greeter }\nmateria Greeter { prompt "hi" }\n'
    (tmp_path / "a.materia").write_text(text, encoding="utf-8")
    assert main(words.split()) == 2
    assert "is what this was made from" in capsys.readouterr().err
    assert (tmp_path / "a.materia").read_text(encoding="utf-8") == text
