"""`materiac bound`, and `check --max-turns` and `--max-usd`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from materiac.cli import main

Json = dict[str, Any]

ADVANCE = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
SOCKETS: Json = {
    "plan": {"materia": "Planner", "edges": [{"to": "make"}]},
    "make": {"materia": "Maker", "edges": [{"to": "check"}]},
    "check": {
        "materia": "Judge",
        "parse": "json",
        "advance": ADVANCE,
        "edges": [
            {"when": "satisfied", "to": "make"},
            {"when": "not_satisfied", "to": "make", "maxTraversals": 3},
        ],
    },
    "tell": {"materia": "Teller"},
}
LOOPS: Json = {
    "work": {
        "sockets": ["make", "check"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "check", "targetSocketId": "tell"}],
    }
}

CAST = "a cast of 'Shed' takes"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "MATERIA_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def file(usd: float | None = None, **frame: Any) -> str:
    cost = {} if usd is None else {"cost": {"usd": usd}}
    materia: Json = {name: {"prompt": "p", **cost} for name in ("Planner", "Maker", "Judge", "Teller")}
    materia["Planner"]["generator"] = True
    shed = {"entry": "plan", "sockets": SOCKETS, "loops": LOOPS}
    data = {"loadouts": {"Shed": shed}, "materia": materia, **frame}
    Path("shed.json").write_text(json.dumps(data), encoding="utf-8")
    return "shed.json"


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    return code, *capsys.readouterr()


def test_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(capsys, "bound", file())
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "Shed: at most 3 + 12·N agent turns, N being the most items of a list"
    assert lines[3:9] == [
        "agent turns 3 + 12·N",
        "repair turns 1 + 4·N among them",
        "Planner 2 'plan'",
        "Maker 4·N 'make'",
        "Judge 8·N 'check'",
        "Teller 1 'tell'",
    ]
    assert lines[-1] == "the edge of 'check' to 'make' is taken at most 3 times for each item"


def test_with_a_number_of_items(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = told(capsys, "bound", file(0.5, budget={"maxCostUsd": 20}), "--items", "4")
    assert "with 4 items" in out
    assert "US dollars      1.5 + 6·N  25.5" in out
    assert "the budget of 20 US dollars pays for 3 items in the worst case" in out


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    budget = {"maxCostUsd": 20}
    code, out, _ = told(capsys, "bound", file(0.5, budget=budget), "--format", "json", "--items", "4")
    (found,) = json.loads(out)["loadouts"]
    assert code == 0
    assert found["agentTurns"] == {
        "text": "3 + 12·N",
        "constant": 3,
        "perItem": 12,
        "withoutItems": 3,
        "withOneItem": 15,
    }
    assert found["withItems"]["agentTurns"] == 51
    assert found["budgetPaysForItems"] == {"usd": 3}
    assert found["spent"]["usd"]["most"]["text"] == "1.5 + 6·N"
    assert found["materia"][2]["repairTurns"]["text"] == "4·N"
    assert found["terms"][0]["at"] == ["loadouts", "Shed", "loops", "work"]


def test_all_loadouts_of_a_file_or_one(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(Path(file()).read_text(encoding="utf-8"))
    data["loadouts"]["Tell"] = {"entry": "tell", "sockets": {"tell": {"materia": "Teller"}}}
    Path("two.json").write_text(json.dumps({**data, "activeLoadout": "Shed"}), encoding="utf-8")
    _, out, _ = told(capsys, "bound", "two.json")
    assert [line.split(":")[0] for line in out.splitlines() if "at most" in line][:1] == ["Shed"]
    assert "Tell: at most 1 agent turn\n" in out
    _, out, _ = told(capsys, "bound", "two.json", "--loadout", "Tell")
    assert out.startswith("Tell: ")
    assert "Shed" not in out


def test_a_talk_is_told_per_reply(capsys: pytest.CaptureFixture[str]) -> None:
    loadout = {"sockets": {"talk": {"materia": "Talker"}}, "entry": "talk"}
    data = {"loadouts": {"L": loadout}, "materia": {"Talker": {"prompt": "p", "multiTurn": True}}}
    Path("talk.json").write_text(json.dumps(data), encoding="utf-8")
    _, out, _ = told(capsys, "bound", "talk.json")
    assert out.startswith("L: at most 2 agent turns, and one for each reply of a person\n")
    assert "reply of a person to 'talk'" in out


def test_what_has_no_bound(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.json").write_text('{"loadouts": {"L": {"entry": "x", "sockets": {}}}}', encoding="utf-8")
    assert told(capsys, "bound", "broken.json")[0] == 2
    assert told(capsys, "bound", "nowhere.json")[0] == 2
    told(capsys, "compile", file(), "-o", "machine.json")
    code, _, err = told(capsys, "bound", "machine.json")
    assert (code, "compiled machine" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "found"),
    [
        ("--max-turns 20*N", 0, None),
        (
            "--max-turns 12*N",
            1,
            f"with N items {CAST} up to 3 + 12·N agent turns, at most 12·N are allowed",
        ),
        ("--max-turns 51 --items 4", 0, None),
        (
            "--max-turns 50 --items 4",
            1,
            f"with 4 items {CAST} up to 51 agent turns, at most 50 are allowed",
        ),
        ("--max-usd 2+6*N", 0, None),
        (
            "--max-usd 5 --items 1",
            1,
            f"with 1 item {CAST} up to 7.5 US dollars, at most 5 are allowed",
        ),
    ],
)
def test_limits_of_a_call(
    words: str, code: int, found: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, out, _ = told(capsys, "check", file(0.5), "--format", "json", *words.split())
    findings = json.loads(out)["findings"]
    assert ended == code
    assert [it["rule"] for it in findings] == (["small-budget"] if found else [])
    assert all(it["message"].startswith(str(found)) for it in findings)


def test_a_price_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(capsys, "check", file(), "--max-usd", "100*N")
    assert code == 1
    words = "what a cast of 'Shed' costs is not known: 'Planner', 'Maker', 'Judge' and 'Teller'"
    assert words in out


@pytest.mark.parametrize("words", ["--items 4", "--max-turns x", "--max-turns 5 --items -1"])
def test_wrong_use(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["check", file(), *words.split()])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert capsys.readouterr().err.startswith("materiac: ")


def test_a_budget_is_set_against_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    small = file(0.5, budget={"maxCostUsd": 7})
    code, out, _ = told(capsys, "check", small, "--strict")
    assert (code, "pays for no item of 'Shed' in the worst case: one takes up to 7.5" in out) == (1, True)
    code, out, _ = told(capsys, "check", file(0.5, budget={"maxCostUsd": 14}), "--strict")
    assert (code, "pays for 2 items of 'Shed'" in out) == (0, True)
