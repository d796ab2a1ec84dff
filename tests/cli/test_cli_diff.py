"""`materiac diff`: what it is given, what it prints where, and how it exits."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from materiac.cli import main

Json = dict[str, Any]


def config(*loadouts: str, prompt: str = "Do it.", sockets: tuple[str, ...] = ("a", "b")) -> Json:
    """A file whose loadouts go through the same sockets."""
    ways = {
        id_: {"materia": "Agent", "edges": [{"to": to}]}
        for id_, to in zip(sockets, (*sockets[1:], "end"), strict=True)
    }
    specs = {name: {"entry": sockets[0], "sockets": ways} for name in loadouts or ("L",)}
    return {"loadouts": specs, "materia": {"Agent": {"prompt": prompt}}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    files = {
        "a.json": config(),
        "same.json": json.loads(json.dumps(config())),
        "other.json": config(prompt="Do it well."),
        "shorter.json": config(sockets=("a",)),
        "renamed.json": config("M"),
        "several.json": config("L", "M", "N"),
        "others.json": config("M", "L", "O", prompt="Do it well."),
        "broken.json": config() | {"materia": {}},
    }
    for name, data in files.items():
        (tmp_path / name).write_text(json.dumps(data, indent=len(name) % 4), encoding="utf-8")
    return tmp_path


PROMPT = "~ materia 'Agent': the prompt differs at line 1, column 6: 'Do it.' → 'Do it well.'"
GONE = [
    "loadout 'L'",
    "~ socket 'a': edge 1 'always' to 'b' → 'always' to 'end'",
    "- sockets: 'b' is gone",
    "~ bound: at most 2 → 1 agent turns",
    "! resume: the cast stands at 'b', which its new definition does not have",
]


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        pytest.param("a.json same.json --exit-code --breaking", 0, [], id="same"),
        pytest.param("a.json other.json", 0, ["loadout 'L'", PROMPT], id="other"),
        pytest.param("a.json other.json --exit-code", 1, ["loadout 'L'", PROMPT], id="exit-code"),
        pytest.param("a.json other.json --breaking", 0, ["loadout 'L'", PROMPT], id="not-breaking"),
        pytest.param("a.json shorter.json", 0, GONE, id="gone"),
        pytest.param("a.json shorter.json --breaking", 1, GONE, id="breaking"),
        pytest.param("a.json renamed.json", 0, ["loadout 'M'", "~ loadout: 'L' → 'M'"], id="alone"),
        pytest.param(
            "several.json others.json",
            0,
            [
                *("loadout 'L'", PROMPT, "", "loadout 'M'", PROMPT, ""),
                *("- loadout 'N' is gone", "! resume: the loadout is gone", "", "+ loadout 'O' is new"),
            ],
            id="several",
        ),
        pytest.param("several.json others.json --loadout M", 0, ["loadout 'M'", PROMPT], id="one-of-several"),
        pytest.param("a.json several.json --loadout L --exit-code", 0, [], id="one-of-both"),
        pytest.param("/dev/null a.json --breaking", 0, ["+ loadout 'L' is new"], id="from-nothing"),
        pytest.param(
            "a.json /dev/null --breaking",
            1,
            ["- loadout 'L' is gone", "! resume: the loadout is gone"],
            id="to-nothing",
        ),
        pytest.param("/dev/null /dev/null --exit-code", 0, [], id="nothing"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_files(words: str, code: int, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *words.split()]) == code
    out, err = capsys.readouterr()
    assert (out.splitlines(), err) == (expected, "")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param("a.json broken.json", "broken.json:", id="new-is-broken"),
        pytest.param("broken.json a.json", "error[unknown-materia]", id="old-is-broken"),
        pytest.param("a.json nowhere.json", "cannot read 'nowhere.json'", id="not-there"),
        pytest.param("- -", "not both", id="both-from-standard-input"),
        pytest.param("several.json a.json --loadout N", "there is no loadout 'N'", id="not-in-both"),
    ],
)
def test_what_cannot_be_compared(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


@pytest.mark.usefixtures("folder")
def test_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "several.json", "--loadout", "M", "-o", "machine.json"]) == 0
    assert main(["diff", "machine.json", "several.json", "--exit-code", "--breaking"]) == 0
    assert main(["diff", "others.json", "machine.json", "--exit-code"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "loadout 'M'"
    assert main(["diff", "a.json", "machine.json"]) == 0
    assert capsys.readouterr().out.splitlines() == ["loadout 'M'", "~ loadout: 'L' → 'M'"]


@pytest.mark.usefixtures("folder")
def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raw = json.dumps(config(prompt="Do it well.")).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    assert main(["diff", "a.json", "-"]) == 0
    assert capsys.readouterr().out.splitlines() == ["loadout 'L'", PROMPT]


@pytest.mark.usefixtures("folder")
def test_warnings_are_not_said(capsys: pytest.CaptureFixture[str]) -> None:
    lonely = config()
    lonely["loadouts"]["L"]["sockets"]["c"] = {"materia": "Agent"}
    Path("lonely.json").write_text(json.dumps(lonely), encoding="utf-8")
    assert main(["diff", "a.json", "lonely.json"]) == 0
    out, err = capsys.readouterr()
    assert (out.splitlines(), err) == (["loadout 'L'", "+ sockets: 'c' is new"], "")


@pytest.mark.usefixtures("folder")
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "several.json", "others.json", "--format", "json", "--exit-code"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [told["version"], told["same"], told["breaking"]] == [1, False, True]
    assert [(part["name"], len(part["changes"])) for part in told["loadouts"]] == [
        ("L", 1),
        ("M", 1),
        ("N", 0),
        ("O", 0),
    ]
    assert main(["diff", "a.json", "same.json", "--format", "json", "--exit-code"]) == 0
    assert json.loads(capsys.readouterr().out)["same"] is True


def test_secrets_are_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHED_TOKEN", "open-sesame-4711")
    secret = config(prompt="Say open-sesame-4711.")
    (folder / "secret.json").write_text(json.dumps(secret), encoding="utf-8")
    for form in ("text", "json"):
        assert main(["diff", "a.json", "secret.json", "--format", form]) == 0
        out = capsys.readouterr().out
        assert "prompt differs" in out
        assert "sesame" not in out


def test_git_shows_it(folder: Path) -> None:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=Me", "-c", "user.email=me@example.org", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    git("init", "-q", ".")
    (folder / ".gitattributes").write_text("shed.json diff=materiac\n")
    driver = f'f() {{ \'{sys.executable}\' -m materiac diff "$2" "$5" || true; }}; f'
    git("config", "diff.materiac.command", driver)
    shed = folder / "shed.json"
    shed.write_text(json.dumps(config()))
    git("add", "shed.json")
    assert git("diff", "--cached").splitlines() == ["+ loadout 'L' is new"]
    git("commit", "-q", "-m", "Begin")
    shed.write_text(json.dumps(config(), indent=3))
    assert git("diff") == ""
    shed.write_text(json.dumps(config(prompt="Do it well.")))
    assert git("diff").splitlines() == ["loadout 'L'", PROMPT]
    shed.write_text("{")
    assert git("diff") == ""
    git("commit", "-q", "-am", "Break")
    assert "+{" in git("show", "--no-ext-diff")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "code", "shown", "said"),
    [
        pytest.param("a.json --against a.json", 0, "marks", "", id="same"),
        pytest.param("a.json --against shorter.json", 0, "+ b", "", id="new"),
        pytest.param("shorter.json --against a.json", 0, "- b", "", id="gone"),
        pytest.param("other.json --against several.json", 0, "~ a", "", id="by-name"),
        pytest.param("renamed.json --against a.json", 0, "L → M", "", id="alone"),
        pytest.param("a.json --against /dev/null", 2, "", "there is no loadout 'L'", id="nothing"),
        pytest.param(
            "renamed2.json --against several.json", 2, "", "there is no loadout 'Z'", id="not-there"
        ),
        pytest.param("a.json --against broken.json", 2, "", "broken.json:", id="broken"),
        pytest.param("a.json --against a.json --coverage x", 2, "", "not allowed with", id="two-marks"),
        pytest.param("- --against -", 2, "", "not both", id="both-from-standard-input"),
    ],
)
def test_pictures(words: str, code: int, shown: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("renamed2.json").write_text(json.dumps(config("Z")), encoding="utf-8")
    try:
        assert main(["render", *words.split()]) == code
    except SystemExit as exit_:
        assert exit_.code == code  # noqa: PT017 - argparse exits
    out, err = capsys.readouterr()
    assert shown in out
    assert said in err
