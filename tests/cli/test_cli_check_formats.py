from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from samples import AGENT, FEATURES, loadout, socket

from materiac.cli import main
from materiac.cli.check import FORMATS

SOUND = FEATURES["hello"]
BROKEN = loadout({"a": socket(edges=[{"to": "nowhere"}])})
WARNED = {"loadouts": {"L": {"sockets": {"a": socket()}}}, "materia": {"Agent": AGENT}}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in ("XDG_CONFIG_HOME", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(variable, raising=False)


def write(name: str, content: Any) -> str:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return name


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_a_report_for_programs_comes_also_where_there_is_nothing_to_say(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", write("a.json", SOUND), "--format", form]) == 0
    sound = capsys.readouterr().out
    assert main(["check", "missing.json", "--format", form]) == 2
    missing = capsys.readouterr().out
    assert missing == sound.replace('"executionSuccessful": true', '"executionSuccessful": false')
    assert (sound == "") == (form == "github")


@pytest.mark.parametrize("form", FORMATS)
def test_a_working_folder_that_is_gone(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["check", "a.json", "--format", form]) == 2
    assert "the working folder" in capsys.readouterr().err


def test_all_formats_show_the_same_findings(capsys: pytest.CaptureFixture[str]) -> None:
    names = [write("b.json", BROKEN), write("a/ü.json", WARNED), write("c.json", "{")]
    shown = {}
    for form in FORMATS:
        assert main(["check", *names, "--format", form]) == 1
        shown[form] = capsys.readouterr().out
    told = [(part["file"], part["line"], part["rule"]) for part in json.loads(shown["json"])["findings"]]
    assert {file for file, _, _ in told} == set(names)
    assert told == in_sarif(shown["sarif"])
    for form, pattern in (
        ("github", r"^::\w+ file=(.*?),line=(\d+),.*title=(.*?)::"),
        ("text", r"^(.*?):(\d+):\d+: \w+\[(.*?)\]: "),
    ):
        found = re.findall(pattern, shown[form], re.MULTILINE)
        assert told == [(file, int(line), rule) for file, line, rule in found]


def in_sarif(text: str) -> list[tuple[str, int, str]]:
    results = json.loads(text)["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    return [
        (unquote(place["artifactLocation"]["uri"]), place["region"]["startLine"], result["ruleId"])
        for result, place in zip(results, places, strict=True)
    ]


@pytest.mark.parametrize(
    ("checkout", "shown"),
    [(".", "b/x.json"), ("b", "x.json"), ("c", "x.json")],
    ids=["above", "here", "else"],
)
def test_files_are_named_from_the_checkout_of_a_workflow(
    checkout: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("b/x.json", BROKEN)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / checkout))
    monkeypatch.chdir("b")
    main(["check", "x.json", "--format", "github"])
    assert f" file={shown}," in capsys.readouterr().out
    main(["check", "x.json", "--format", "sarif"])
    assert f'"uri": "{shown}"' in capsys.readouterr().out


def test_sarif_has_the_edits_that_mend_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    edges = [{"to": "end"}, {"to": "b"}]
    file = Path(write("x.json", loadout({"a": socket(edges=edges), "b": socket()})))
    main(["check", str(file), "--format", "sarif"])
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    [fix] = next(result["fixes"] for result in results if result["ruleId"] == "dead-edge")
    assert fix["properties"] == {"safe": True}
    [change] = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "x.json"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    for part in reversed(change["replacements"]):
        region = part["deletedRegion"]
        before = lines[region["startLine"] - 1][: region["startColumn"] - 1]
        after = lines[region["endLine"] - 1][region["endColumn"] - 1 :]
        text = before + part["insertedContent"]["text"] + after
        lines[region["startLine"] - 1 : region["endLine"]] = [text]
    mended = json.loads("".join(lines))
    assert mended == loadout({"a": socket(edges=edges[:1]), "b": socket()})
