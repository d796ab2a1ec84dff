"""`materiac diff`: what is another in a file beside its loadouts; which of several is compared with which."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from materiac.cli import main

Json = dict[str, Any]


def spec(*sockets: str, **rest: Any) -> Json:
    ways = zip(sockets, (*sockets[1:], "end"), strict=True)
    parts = {id_: {"materia": "Agent", "edges": [{"to": to}]} for id_, to in ways}
    return {"entry": sockets[0], "sockets": parts, **rest}


A, B = spec("a"), spec("b")
AGENT, OTHER = {"prompt": "Do it."}, {"prompt": "Do it well."}
LINE = "the prompt differs at line 1, column 6: 'Do it.' → 'Do it well.'"


def file(active: str | None = None, **loadouts: Json) -> Json:
    chosen = {} if active is None else {"activeLoadout": active}
    return {**chosen, "loadouts": loadouts, "materia": {"Agent": AGENT}}


def alone(**materia: Json) -> Json:
    return {"materia": materia}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))


def diff(old: Json, new: Json, *options: str) -> int:
    for name, data in (("old.json", old), ("new.json", new)):
        Path(name).write_text(json.dumps(data), encoding="utf-8")
    return main(["diff", "old.json", "new.json", *options])


GONE = ["- loadout 'L' is gone", "! resume: the loadout is gone"]
LACKS = "! resume: the cast stands at 'a', which its new definition does not have"


@pytest.mark.parametrize(
    ("old", "new", "expected", "breaks"),
    [
        pytest.param(file("L", L=A, M=B), file("L", M=B, L=A), [], False, id="the-same"),
        pytest.param(
            file("L", L=A, M=B), file("M", L=A, M=B), ["~ active: loadout 'L' → 'M'"], False, id="another"
        ),
        pytest.param(
            file(L=A),
            file("M", L=A, M=B),
            ["~ active: loadout 'L' → 'M'", "", "+ loadout 'M' is new"],
            False,
            id="another-that-is-new",
        ),
        pytest.param(
            file(L=A),
            file(L=A, M=B),
            ["~ active: loadout 'L' → none", "", "+ loadout 'M' is new"],
            False,
            id="none-any-more",
        ),
        pytest.param(
            file(L=A, M=B),
            file("M", L=A, M=B),
            ["~ active: loadout none → 'M'"],
            False,
            id="none-before",
        ),
        pytest.param(file(L=A, M=B), file(M=B, L=A), [], False, id="none-in-both"),
        pytest.param(file(L=A), file("L", L=A), [], False, id="said-or-not"),
        pytest.param(
            file(L={**A, "id": "x"}), file("x", L={**A, "id": "x"}), [], False, id="by-its-name-or-its-id"
        ),
        pytest.param(file(L=A), file(M=A), ["loadout 'M'", "~ loadout: 'L' → 'M'"], False, id="renamed"),
        pytest.param(
            file("L", L={**A, "id": "x"}, M=B),
            file("Q", Q={**A, "id": "x"}, M=B),
            ["loadout 'Q'", "~ loadout: 'L' → 'Q'"],
            False,
            id="renamed-with-its-id",
        ),
        pytest.param(
            file(L=A),
            file("M", M=A, N=B),
            [
                "~ active: loadout 'L' → 'M'",
                "",
                *GONE,
                "",
                "+ loadout 'M' is new",
                "",
                "+ loadout 'N' is new",
            ],
            True,
            id="gone-from-several",
        ),
        pytest.param(
            file("L", L=A, M=B),
            file(M=B),
            ["~ active: loadout 'L' → 'M'", "", "- loadout 'L' is gone", LACKS],
            True,
            id="one-is-left",
        ),
        pytest.param(
            file("L", L=A, M=A),
            file(Q=A),
            [
                *("~ active: loadout 'L' → 'Q'", "", "- loadout 'L' is gone", ""),
                *("- loadout 'M' is gone", "", "+ loadout 'Q' is new"),
            ],
            False,
            id="another-alone-in-which-all-casts-can-go-on",
        ),
    ],
)
def test_what_runs(
    old: Json, new: Json, expected: list[str], breaks: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(old, new, "--exit-code") == bool(expected)
    out, err = capsys.readouterr()
    assert (out.splitlines(), err) == (expected, "")
    assert diff(old, new, "--breaking") == breaks


def test_what_runs_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(file("L", L=A, M=B), file("M", L=A, M=B), "--format", "json", "--breaking") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["breaking"], told["materia"]) == (False, False, [])
    assert told["active"]["message"] == "active: loadout 'L' → 'M'"
    assert diff(file("L", L=A), file("L", L=A), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["active"] is None


@pytest.mark.parametrize("options", [["--loadout", "L"], ["--loadout", "M"]], ids=" ".join)
def test_what_runs_is_not_said_where_one_is_asked_for(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(file("L", L=A, M=B), file("M", L=A, M=B), "--exit-code", *options) == 0
    assert capsys.readouterr().out == ""


def test_a_loadout_that_is_imported_now(capsys: pytest.CaptureFixture[str]) -> None:
    """Casts of it go on with it, wherever it is written."""
    Path("others.json").write_text(json.dumps(file(L=A)), encoding="utf-8")
    new = {"import": ["others.json"], **file("L", M=B)}
    assert diff(file(L=A), new, "--breaking") == 0
    assert capsys.readouterr().out.splitlines() == ["+ loadout 'M' is new"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(alone(X=AGENT), alone(X=AGENT), [], id="the-same"),
        pytest.param(alone(X=AGENT), alone(X=OTHER), [f"~ materia 'X': {LINE}"], id="another"),
        pytest.param(
            alone(X=AGENT, Y=AGENT),
            alone(Y=AGENT, Z={"command": ["make"]}),
            ["- materia: 'X' is gone", "+ materia: 'Z' is new"],
            id="gone-and-new",
        ),
        pytest.param(
            alone(Agent=OTHER, X=AGENT),
            {"loadouts": {"L": A}, "materia": {"Agent": OTHER, "X": OTHER}},
            [f"~ materia 'X': {LINE}", "", "+ loadout 'L' is new"],
            id="against-a-file-with-loadouts",
        ),
        pytest.param(
            {"loadouts": {"L": A}, "materia": {"Agent": AGENT, "X": AGENT}},
            alone(Agent=AGENT),
            ["- materia: 'X' is gone", "", *GONE],
            id="loadouts-are-gone",
        ),
        pytest.param(
            alone(Agent=AGENT),
            {
                "loadouts": {"L": {"entry": "a", "sockets": {"a": {"prompt": "Here."}}}},
                "materia": {"Agent": AGENT},
            },
            ["+ loadout 'L' is new"],
            id="what-a-socket-carries-is-no-materia",
        ),
    ],
)
def test_materia_alone(old: Json, new: Json, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(old, new, "--exit-code") == bool(expected)
    out, err = capsys.readouterr()
    assert (out.splitlines(), err) == (expected, "")


def test_materia_alone_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(alone(X=AGENT), alone(X=OTHER), "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["breaking"], told["active"], told["loadouts"]) == (False, False, None, [])
    assert [(part["section"], part["id"]) for part in told["materia"]] == [("materia", "X")]
    assert told["materia"][0]["message"] == f"materia 'X': {LINE}"


def test_materia_in_the_language_of_our_own_and_against_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.json").write_text(json.dumps(alone(X=AGENT)), encoding="utf-8")
    Path("new.materia").write_text('materia X { prompt "Do it well." }\n', encoding="utf-8")
    assert main(["diff", "old.json", "new.materia"]) == 0
    assert capsys.readouterr().out == f"~ materia 'X': {LINE}\n"
    assert main(["diff", "/dev/null", "new.materia", "--exit-code"]) == 1
    assert main(["diff", "new.materia", "/dev/null", "--breaking"]) == 0
    assert capsys.readouterr().out == "+ materia: 'X' is new\n- materia: 'X' is gone\n"


def test_materia_that_are_imported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("materia.json").write_text(json.dumps(alone(Agent=AGENT, X=OTHER)), encoding="utf-8")
    new = {"import": ["materia.json"], "loadouts": {"L": A}}
    assert diff(alone(Agent=AGENT, X=AGENT), new) == 0
    assert capsys.readouterr().out.splitlines() == [f"~ materia 'X': {LINE}", "", "+ loadout 'L' is new"]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(alone(X={"prompt": 5}), id="materia"),
        pytest.param({"materia": []}, id="no-object"),
        pytest.param({"materia": None}, id="null"),
        pytest.param({}, id="nothing"),
        pytest.param({**alone(X=AGENT), "activeLoadout": "L"}, id="a-loadout-that-is-not-there"),
    ],
)
def test_what_is_wrong_is_said(wrong: Json, capsys: pytest.CaptureFixture[str]) -> None:
    for old, new in ((alone(X=AGENT), wrong), (wrong, alone(X=AGENT))):
        assert diff(old, new) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "error[" in err


def test_there_is_no_picture_and_no_bound_of_materia_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("alone.json").write_text(json.dumps(alone(X=AGENT)), encoding="utf-8")
    Path("loadout.json").write_text(json.dumps(file(L=A)), encoding="utf-8")
    assert main(["bound", "alone.json"]) == 2
    assert main(["render", "loadout.json", "--against", "alone.json"]) == 2
    assert "nothing says which loadout is meant" in capsys.readouterr().err


def test_git_shows_materia(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        named = ["-c", "user.name=Me", "-c", "user.email=me@example.org"]
        return subprocess.run(["git", *named, *words], capture_output=True, text=True, check=True).stdout

    git("init", "-q", ".")
    (tmp_path / ".gitattributes").write_text("*.json diff=materiac\n")
    driver = f'f() {{ \'{sys.executable}\' -m materiac diff "$2" "$5" || true; }}; f'
    git("config", "diff.materiac.command", driver)
    (tmp_path / "agents.json").write_text(json.dumps(alone(X=AGENT)))
    git("add", "agents.json")
    assert git("diff", "--cached") == "+ materia: 'X' is new\n"
    (tmp_path / "agents.json").write_text(json.dumps(alone(X=OTHER)))
    assert git("diff") == f"~ materia 'X': {LINE}\n"
