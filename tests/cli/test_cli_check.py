from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, FEATURES, Json, loadout, socket

from materiac.cli import main

SOUND = FEATURES["hello"]
BROKEN = loadout({"a": socket(edges=[{"to": "nowhere"}])})
WARNED = {"loadouts": {"L": {"sockets": {"a": socket()}}}, "materia": {"Agent": AGENT}}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("MATERIA_CONFIG", raising=False)


def write(name: str, content: Any) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
    path.write_bytes(raw)
    return name


def stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


@pytest.mark.parametrize(
    ("content", "options", "code"),
    [
        pytest.param(SOUND, [], 0, id="sound"),
        pytest.param(BROKEN, [], 1, id="error"),
        pytest.param(b"{", [], 1, id="syntax"),
        pytest.param(b"", [], 1, id="empty"),
        pytest.param(b"\xff\xfe{\x00}\x00", [], 2, id="utf-16"),
        pytest.param(WARNED, [], 0, id="warning"),
        pytest.param(WARNED, ["--strict"], 1, id="strict"),
        pytest.param(WARNED, ["--fail-on", "warning"], 1, id="fail on warnings"),
        pytest.param(WARNED, ["--fail-on", "info"], 1, id="fail on anything"),
        pytest.param(WARNED, ["--fail-on", "error"], 0, id="fail on errors"),
        pytest.param(BROKEN, ["--strict"], 1, id="strict with an error"),
        pytest.param(SOUND, ["--strict", "--fail-on", "info"], 0, id="strict and sound"),
        pytest.param(SOUND, ["--loadout", "L"], 0, id="by name"),
        pytest.param(SOUND, ["--loadout", "M"], 1, id="no such loadout"),
        pytest.param(SOUND, ["--fail-on", "nothing"], 2, id="no such level"),
        pytest.param(SOUND, ["--format", "xml"], 2, id="no such format"),
        pytest.param(SOUND, ["--stric"], 0, id="shortened option"),
        pytest.param(SOUND, ["--no-such-option"], 2, id="no such option"),
    ],
)
def test_exit_codes(content: Any, options: list[str], code: int) -> None:
    assert exit_code("check", write("x.json", content), *options) == code


def exit_code(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as usage:
        return int(usage.code or 0)


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("x.json", BROKEN)]) == 1
    out, err = capsys.readouterr()
    first, *_, last = out.splitlines()
    assert first.startswith("x.json:")
    assert "error[unknown-target]:" in first
    assert (last, err) == ("1 error", "")


def test_nothing_found(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", write("x.json", SOUND)])
    assert capsys.readouterr() == ("no findings\n", "")


def test_several_files(capsys: pytest.CaptureFixture[str]) -> None:
    names = [write("b.json", BROKEN), write("a.json", SOUND), write("c.json", WARNED)]
    assert main(["check", *names, *names]) == 1
    out = capsys.readouterr().out
    assert [line.split(":")[0] for line in out.splitlines() if ".json:" in line] == ["b.json", "c.json"]
    assert out.splitlines()[-1] == "1 error, 1 warning"


@pytest.mark.parametrize("broken", ["missing.json", "folder", "no/such/folder/x.json", "nul\0byte"])
def test_a_file_that_cannot_be_read(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    assert main(["check", broken]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"materiac: cannot read '{broken}': ")
    assert len(err.splitlines()) == 1
    assert main(["check", write("x.json", BROKEN), broken]) == 2
    assert "unknown-target" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    names = [write("a.json", SOUND), write("b.json", BROKEN)]
    assert main(["check", *names, "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(part["rule"], part["file"]) for part in report["findings"]] == [("unknown-target", "b.json")]
    assert report["summary"] == {"errors": 1, "warnings": 0, "infos": 0, "suppressed": 0}
    assert main(["check", "missing.json", "--format", "json"]) == 2
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stdin(monkeypatch, json.dumps(BROKEN).encode())
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:1:")


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_places_do_not_depend_on_how_a_file_is_saved(
    mark: bytes, ending: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps({**BROKEN, "ä": 1}, indent=1, ensure_ascii=False)
    main(["check", write("x.json", mark + text.encode().replace(b"\n", ending)), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    places = {(part["rule"], part["line"], part["column"], part["endColumn"]) for part in found}
    lines = text.split("\n")
    target = next(i for i, line in enumerate(lines, 1) if "nowhere" in line)
    column = lines[target - 1].index('"nowhere"') + 1
    last = next(i for i, line in enumerate(lines, 1) if "ä" in line)
    assert places == {("unknown-target", target, column, column + 9), ("unknown-key", last, 2, 5)}


LAYERS = {
    "user": ("home/.config/materiac/materia.json", None),
    "project": (".materia/loadout.json", None),
    "early project": (".pi/pi-materia.json", None),
    "user of XDG": ("xdg/materiac/materia.json", "XDG_CONFIG_HOME"),
}
USING: Json = {"loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "Lower"}}}}}


@pytest.mark.parametrize("name", LAYERS)
def test_files_below(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file, variable = LAYERS[name]
    mine = write("x.json", USING)
    assert main(["check", mine]) == 1
    if variable is not None:
        monkeypatch.setenv(variable, str(Path("xdg").resolve()))
    below = {"materia": {"Lower": AGENT}, "loadouts": {"Other": BROKEN["loadouts"]["L"]}, "wrong": 1}
    write(file, below)
    capsys.readouterr()
    assert main(["check", mine, "--strict"]) == 0
    assert capsys.readouterr() == ("no findings\n", "")


def test_the_project_s_own_file_wins_over_the_early_one() -> None:
    write(".materia/loadout.json", {"materia": {}})
    write(".pi/pi-materia.json", {"materia": {"Lower": AGENT}})
    assert main(["check", write("x.json", USING)]) == 1


def test_a_relative_xdg_folder_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "xdg")
    write("xdg/materiac/materia.json", {"materia": {"Lower": AGENT}})
    assert main(["check", write("x.json", USING)]) == 1


@pytest.mark.parametrize("file", [file for file, variable in LAYERS.values() if variable is None])
def test_a_layer_that_is_checked_itself_is_reported_on(file: str) -> None:
    assert main(["check", write(file, BROKEN)]) == 1
    assert main(["check", str(Path(file).resolve())]) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_layer_that_may_not_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path(write(".materia/loadout.json", SOUND)).chmod(0)
    assert main(["check", write("x.json", SOUND)]) == 2
    assert "cannot read '.materia/loadout.json'" in capsys.readouterr().err


def test_a_layer_that_is_no_file_is_none() -> None:
    Path(".materia/loadout.json").mkdir(parents=True)
    assert main(["check", write("x.json", SOUND)]) == 0


def test_the_bundled_loadouts_are_below() -> None:
    using = {"loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "Narrate"}}}}}
    assert main(["check", write("x.json", using)]) == 0


def test_shipped_loadouts_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted((Path(__file__).parents[2] / "loadouts").glob("*.json"))
    assert main(["check", "--fail-on", "info", *map(str, files)]) == 0
    assert capsys.readouterr() == ("no findings\n", "")


def command(*words: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "materiac", *words],
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
    )


def test_an_encoding_without_the_characters_is_no_trouble() -> None:
    wrong = loadout({"größe": socket(edges=[{"to": "größ"}])})
    done = command("check", write("x.json", wrong), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert rb"gr\xf6\xdf" in done.stdout
    assert done.stderr == b""


def test_a_reader_that_goes_away_is_no_trouble() -> None:
    wrong = loadout({f"s{i}": socket(edges=[{"to": f"gone{i}"}]) for i in range(2000)})
    words = [sys.executable, "-m", "materiac", "check", write("x.json", wrong)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize("name", ["x.scenario.json", "x.json", "-"])
@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a list"])
def test_scenarios_of_json(
    name: str, around: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for state, code, said in (({}, 0, "no findings"), (5, 1, "found 5 for 'state'")):
        scenario = {"name": "n", "loadout": "L", "state": state, "expect": {"turns": 1}}
        data = {"scenarios": [scenario]} if around else scenario
        if name == "-":
            stdin(monkeypatch, json.dumps(data).encode())
        else:
            write(name, data)
        assert main(["check", "--strict", name]) == code
        assert said in capsys.readouterr().out


def test_a_lone_scenario_with_an_unknown_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", write("x.scenario.json", {"name": "n", "expct": {}})]) == 1
    out = capsys.readouterr().out
    assert "unknown key 'expct'" in out
    assert "1 error" in out


def test_what_is_suppressed_is_counted_and_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    known = {"ignore": [{"rule": "missing-entry", "reason": "there is one socket"}]}
    suppressed = {
        "loadouts": {"L": {**WARNED["loadouts"]["L"], "x-materiac": known}},
        "materia": {"Agent": AGENT},
    }
    file = write("x.json", suppressed)
    assert main(["check", "--strict", file]) == 0
    assert capsys.readouterr().out == "no findings, 1 suppressed\n"
    assert main(["check", "--strict", file, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["suppressed"] == 1


@pytest.mark.parametrize("what", ["a compiled machine", "a certificate"])
def test_what_materiac_has_made_is_no_loadout(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("loadout.json", SOUND)
    made = {"a compiled machine": ["compile", "-o"], "a certificate": ["check", "--certificate"]}
    command, option = made[what]
    assert main([command, "loadout.json", option, "made.json"]) == 0
    capsys.readouterr()
    assert main(["check", "made.json"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith(f"materiac: 'made.json' is {what}: name the loadout")) == ("", True)


def test_items_have_an_upper_limit_that_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "loadout.json", "--max-turns", "5", "--items", "1000000001"])
    assert "whole numbers from 0 to 1000000000" in capsys.readouterr().err
