"""What is said of bounds at a budget that is just reached, and where a person talks with agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from materiac.cli import main

Json = dict[str, Any]

SHORT: Json = {
    "a": {"materia": "Plain", "edges": [{"to": "b"}]},
    "b": {"materia": "Plain", "edges": [{"to": "c"}]},
    "c": {"materia": "Tool"},
}
MATERIA: Json = {
    "Plain": {"prompt": "p", "cost": {"inputTokens": 6, "outputTokens": 4, "usd": 1}},
    "Talker": {"prompt": "p", "multiTurn": True, "cost": {"inputTokens": 6, "outputTokens": 4, "usd": 1}},
    "Tool": {"utility": "noop"},
}
TALK: Json = {"a": {"materia": "Talker"}}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "MATERIA_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def file(sockets: Json, **frame: Any) -> str:
    used = {socket["materia"] for socket in sockets.values()}
    materia = {name: it for name, it in MATERIA.items() if name in used}
    loadout = {"entry": "a", "sockets": sockets}
    Path("l.json").write_text(json.dumps({"loadouts": {"L": loadout}, "materia": materia, **frame}))
    return "l.json"


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(list(words))
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("tokens", "line"),
    [
        (20, "the budget of 20 tokens pays for no cast in the worst case"),
        (21, "the budget of 21 tokens pays for every cast"),
    ],
)
def test_a_budget_that_is_reached_is_spent(
    capsys: pytest.CaptureFixture[str], tokens: int, line: str
) -> None:
    name = file(SHORT, budget={"maxTokens": tokens})
    assert line in told(capsys, "bound", name)[1].splitlines()
    warns = "the budget of 20 tokens does not pay for every cast of 'L': one takes up to 20"
    assert (warns in told(capsys, "check", name)[1]) == (tokens == 20)


def test_talks_are_told_in_the_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = told(capsys, "bound", file(TALK, budget={"maxTokens": 1_000}))
    lines = out.splitlines()
    assert lines[0] == "L: at most 2 agent turns, and one for each reply of a person"
    assert "tokens 20 without the replies of a person" in [" ".join(line.split()) for line in lines]
    assert "pays for every cast" not in out
    assert lines[-1].endswith("pays for a cast, without the replies of a person, which have no limit")


def test_nothing_pays_for_any_number_of_replies(capsys: pytest.CaptureFixture[str]) -> None:
    name = file(TALK, budget={"maxTokens": 1_000})
    (found,) = json.loads(told(capsys, "bound", "--format", "json", name)[1])["loadouts"]
    assert (found["budgetPaysForItems"], found["perReplyOf"]) == ({}, ["a"])


@pytest.mark.parametrize("option", ["--max-turns", "--max-usd"])
def test_limits_do_not_hold_for_talks(capsys: pytest.CaptureFixture[str], option: str) -> None:
    words = "warning[small-budget]: what a person says to 'a' is not counted"
    name = file(TALK)
    code, out = told(capsys, "check", option, "10", name)
    assert (code, words in out) == (0, True)
    assert told(capsys, "check", option, "10", "--fail-on", "warning", name)[0] == 1
    assert words not in told(capsys, "check", option, "10", file(SHORT))[1]


@pytest.mark.parametrize("formula", ["-5", "5 - 10*N"])
def test_a_limit_below_nothing_is_refused(capsys: pytest.CaptureFixture[str], formula: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", f"--max-turns={formula}", file(SHORT)])
    assert ended.value.code == 2
    assert f"'{formula}' allows less than nothing" in capsys.readouterr().err
