"""`materiac test`: what it prints, where it writes, how it ends."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from samples import answers, compiled, loadout, order, socket, working

from materiac.cli import main
from materiac.runtime.run import run

ITEM = {"workItems": [{"title": "t", "context": "c"}]}
AGENT = {"sockets": {"plan": {"json": ITEM}, "check": {"json": {"satisfied": True}}}}
GOOD = {"name": "good", "agent": AGENT, "expect": {"path": ["plan", "build", "check", "tell"]}}
BAD = {"name": "bad", "agent": AGENT, "expect": {"visits": {"tell": 2}}}
NOTHING = {"name": "nothing to do", "agent": {"sockets": {"plan": {"json": {"workItems": []}}}}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a loadout in it, in which the commands are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "loadout.json").write_text(json.dumps(working(), indent=1))
    return tmp_path


def write(*scenarios: Any, name: str = "x.scenario.json") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    to_loadout = "../" * name.count("/") + "./loadout.json"
    Path(name).write_text(json.dumps({"loadout": to_loadout, "scenarios": scenarios}, indent=1))


def test_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, NOTHING)
    assert main(["test"]) == 0
    assert capsys.readouterr().out == "2 passed\n"


def test_names_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD)
    assert main(["test", "-v"]) == 0
    assert capsys.readouterr().out == "ok     good  (x.scenario.json:4:3)\n1 passed\n"


def test_one_fails(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, BAD)
    assert main(["test", "x.scenario.json"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("FAIL   bad  (x.scenario.json:")
    assert told[1].endswith(": 'tell' was visited once, expected twice")
    assert told[2:] == ["1 passed, 1 failed"]


def test_files_are_found_in_folders(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, name="a/b/x.scenario.json")
    write(GOOD, name="a/y.scenario.json")
    write(BAD, name="a/.hidden/z.scenario.json")
    write(BAD, name="a/node_modules/z.scenario.json")
    Path("a/other.json").write_text("{")
    assert main(["test", "a", "a/y.scenario.json", "-v"]) == 0
    assert [line.split("(")[-1] for line in capsys.readouterr().out.splitlines()[:-1]] == [
        "a/b/x.scenario.json:4:3)",
        "a/y.scenario.json:4:3)",
    ]


DSL = """\
loadout Solo {
  entry a
  a: A -> end
}
materia A { prompt "Do it: {{request}}" }

scenario "quiet" { expect complete { path a } }
scenario "loud" { request "HELP" expect complete { prompt a 1 has "HELP" lacks "DO IT" } }
"""


def test_loadouts_and_scenarios_in_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("solo.materia").write_text(DSL)
    assert main(["test", "-v", "--min", "100"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "ok     quiet  (solo.materia:7:1)"
    assert main(["check", "solo.materia"]) == 0
    assert main(["fmt", "--check", "solo.materia"]) == 1
    Path("solo.materia").write_text(DSL.replace("complete { prompt a 1", "complete { prompt a 1.5"))
    assert main(["check", "solo.materia"]) == 1
    assert "expected the number of a visit" in capsys.readouterr().out


def test_what_check_finds_in_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    Path("solo.materia").write_text(DSL.replace("request", "@reqest"))
    assert main(["check", "solo.materia"]) == 1
    assert "solo.materia:8:20: error[unknown-key]: unknown key 'reqest'" in capsys.readouterr().out
    assert main(["compile", "solo.materia", "-o", "solo.machine.json"]) == 0
    assert main(["test", "solo.materia"]) == 2


def test_scenarios_are_converted(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, NOTHING)
    assert main(["convert", "x.scenario.json", "-o", "y.materia"]) == 0
    assert main(["fmt", "--check", "y.materia"]) == 0
    assert main(["test", "-v"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok     good  (x.scenario.json:4:3)",
        "ok     nothing to do  (x.scenario.json:34:3)",
        "ok     good  (y.materia:3:1)",
        "ok     nothing to do  (y.materia:11:1)",
        "4 passed",
    ]
    assert main(["convert", "y.materia", "-o", "z.scenario.json"]) == 0
    assert json.loads(Path("z.scenario.json").read_text()) == json.loads(Path("x.scenario.json").read_text())


def test_scenarios_are_made_in_the_language_of_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "--generate", "loadout.json", "-o", "made.materia"]) == 0
    assert Path("made.materia").read_text().startswith("about ")
    assert main(["fmt", "--check", "made.materia"]) == 0
    assert main(["test", "made.materia", "--min", "100"]) == 0
    outcome = run(order(compiled(working()), Path("c"), answers(plan=ITEM, check={"satisfied": True})))
    assert main(["test", "--record", str(outcome.folder), "loadout.json", "-o", "as.materia"]) == 0
    assert 'in "./loadout.json"' in Path("as.materia").read_text()
    capsys.readouterr()
    assert main(["test", "as.materia"]) == 0
    assert capsys.readouterr().out == "1 passed\n"


def test_some_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, BAD)
    assert main(["test", "--only", "goo"]) == 0
    assert capsys.readouterr().out == "1 passed\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere"], "cannot read 'nowhere': No such file or directory"),
        ([], "there is no scenario in '.'"),
        (["--casts", "nowhere"], "'nowhere' is no folder"),
        (["--generate", "nowhere.json"], "cannot read 'nowhere.json': No such file or directory"),
        (["--record", "nowhere"], "'nowhere' has no machine that can be read"),
    ],
)
def test_what_cannot_be_done(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", *words]) == 2
    said = capsys.readouterr()
    assert (said.out, f"materiac: {complaint}" in said.err) == ("", True)


def test_nothing_of_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD)
    assert main(["test", "--only", "x"]) == 2
    assert "there is no scenario in '.' that has 'x' in its name" in capsys.readouterr().err


def test_a_file_that_is_not_sound(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, {"nam": "x"})
    assert main(["test"]) == 2
    assert "unknown key 'nam'" in capsys.readouterr().out


def test_a_loadout_with_errors(capsys: pytest.CaptureFixture[str]) -> None:
    Path("loadout.json").write_text(json.dumps(loadout({"a": socket(edges=[{"to": "b"}])})))
    write({"name": "n"})
    assert main(["test"]) == 2
    told = capsys.readouterr().out
    assert told.startswith("BROKEN n")
    assert "  loadout.json:1:" in told
    assert "error[unknown-target]" in told


def test_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, BAD)
    assert main(["test", "--json", "--coverage"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [part["outcome"] for part in data["scenarios"]] == ["passed", "failed"]
    assert data["scenarios"][1]["misfits"][0]["message"] == "'tell' was visited once, expected twice"
    assert data["coverage"]["loadouts"][0]["loadout"] == "L"


def test_coverage_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, NOTHING)
    assert main(["test", "--coverage"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == ["2 passed", "L (loadout.json): 9 of 14 covered, 64.3 %"]
    assert told[2].startswith("  loadout.json:")


@pytest.mark.parametrize(("least", "code"), [("64", 0), ("64.5", 1)])
def test_the_least(least: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD, NOTHING)
    assert main(["test", "--min", least]) == code
    assert ("'L' is covered to 64.3 %, expected 64.5 %" in capsys.readouterr().err) == bool(code)


def test_coverage_as_data_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    write(BAD)
    assert main(["test", "--coverage", "--format", "json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["format"] == 1
    assert "1 failed" in said.err


def test_casts_count_without_scenarios(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".materia").mkdir()
    (folder / "loadout.json").rename(folder / ".materia" / "loadout.json")
    run(order(compiled(working()), folder, answers(plan=ITEM, check={"satisfied": True})))
    assert main(["test", "--casts", "casts"]) == 0
    assert "L (.materia/loadout.json): 8 of 14 covered" in capsys.readouterr().out


def test_the_picture_shows_what_is_not_covered(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD)
    assert main(["test", "--coverage", "--format", "json", "-o", "coverage.json"]) == 0
    assert main(["render", "loadout.json", "--coverage", "coverage.json"]) == 0
    shown = capsys.readouterr().out
    assert "list empty → tell  NOT COVERED" in shown
    assert "not_satisfied → build (≤2 not used up)  NOT COVERED" in shown


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is no JSON"),
        ("{}", "it is no coverage in JSON"),
        ('{"loadouts": []}', "it has nothing on 'L' as it is now"),
    ],
)
def test_no_coverage_of_this(content: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("coverage.json").write_text(content)
    assert main(["render", "loadout.json", "--coverage", "coverage.json"]) == 2
    assert complaint in capsys.readouterr().err


def test_making_scenarios_and_playing_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("made").mkdir()
    assert main(["test", "--generate", "loadout.json", "-o", "made/all.scenario.json"]) == 0
    assert json.loads(Path("made/all.scenario.json").read_text())["loadout"] == "../loadout.json"
    assert main(["test", "made", "--min", "100"]) == 0
    assert "14 of 14 covered, 100.0 %" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "loadout"),
    [
        (["Hello"], "Hello"),
        (["./loadout.json", "--loadout", "L"], {"file": "./loadout.json", "name": "L"}),
        (["loadout.json"], "./loadout.json"),
    ],
)
def test_naming_a_loadout(words: list[str], loadout: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "--generate", *words]) == 0
    assert json.loads(capsys.readouterr().out)["loadout"] == loadout


def test_what_no_made_scenario_comes_to(capsys: pytest.CaptureFixture[str]) -> None:
    Path("loadout.json").write_text(json.dumps(loadout({"a": socket(), "b": socket()})))
    assert main(["test", "--generate", "loadout.json"]) == 0
    said = capsys.readouterr()
    assert "no scenario was found for: socket 'b'" in said.err
    assert json.loads(said.out)["scenarios"][0]["expect"]["path"] == ["a"]


def test_imports_are_followed(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(Path("loadout.json").read_text())
    Path("materia.json").write_text(json.dumps({"materia": data.pop("materia")}))
    Path("loadout.json").write_text(json.dumps({"import": ["./materia.json"], **data}))
    write(GOOD)
    assert main(["test"]) == 0
    assert capsys.readouterr().out == "1 passed\n"


def test_the_users_own_file_does_not_count(folder: Path) -> None:
    own = folder / ".config" / "materiac"
    own.mkdir(parents=True)
    (own / "materia.json").write_text(json.dumps({"materia": {"Greet": {"prompt": "Shout."}}}))
    greeting = {"name": "n", "loadout": "Hello", "expect": {"prompts": {"greet#1": {"lacks": "Shout"}}}}
    write(greeting)
    assert main(["test"]) == 0


def test_recording_a_cast(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(order(compiled(working()), folder, answers(plan=ITEM, check={"satisfied": True})))
    cast = os.path.relpath(result.folder)
    assert main(["test", "--record", cast, "loadout.json", "-o", "as-it-was.scenario.json"]) == 0
    data = json.loads(Path("as-it-was.scenario.json").read_text())
    assert data["loadout"] == {"file": "./loadout.json", "name": "L"}
    assert main(["test", "-v"]) == 0
    assert "as in" in capsys.readouterr().out


def test_a_file_without_scenarios_is_passed_over_unless_it_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(NOTHING)
    Path("y.materia").write_text('materia A { prompt "a scenario" }')
    Path("x.materia").write_text('\ufeffabout "x" scenario # which\ngrößer { @loadout "./loadout.json" }')
    assert main(["test", "-v", "--only", "r"]) == 1
    told = capsys.readouterr()
    assert ("größer" in told.out, told.err) == (True, "")
    assert main(["test", "x.scenario.json", "y.materia"]) == 2
    told = capsys.readouterr()
    assert (told.out, "there is no scenario in 'y.materia'" in told.err) == ("1 passed\n", True)
