"""What is printed at the end of a run: what came of it, the way, what it used, where its files are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from desk import LONG_S, Desk
from wcwidth import wcswidth

from materiac.cli.outcome import way

GUARDED = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "check", "maxTraversals": 1}]
STEP = {"cursor": "workItemIndex", "items": "state.workItems"}
WASH = {"materia": "Wash", "edges": [{"to": "wash"}], "advance": STEP}
USE = {"input": 900, "output": 80, "cacheRead": 70, "cost": 0.0125}


def visits(*legs: tuple[str, str | None]) -> tuple[list[str], list[str | None]]:
    path = [(socket, key) for sockets, key in legs for socket in sockets.split()]
    return [socket for socket, _ in path], [key for _, key in path]


@pytest.mark.parametrize(
    ("legs", "expected"),
    [
        ([], []),
        ([("plan", None)], ["plan"]),
        ([("build evaluate maintain", "WI-1")], ["build → evaluate → maintain (WI-1)"]),
        (
            [("plan design", None), ("build check", "WI-1"), ("tell", None)],
            ["plan → design", "build → check (WI-1)", "tell"],
        ),
        (
            [("a b", "WI-1"), ("a b", "WI-2"), ("a b", "WI-3"), ("a b a b", "WI-4")],
            ["a → b (WI-1 to WI-3)", "a → b → a → b (WI-4)"],
        ),
        ([("a", "WI-1"), ("b", None), ("a", "WI-2")], ["a (WI-1)", "b", "a (WI-2)"]),
        ([("a", "0"), ("b", None), ("b", None)], ["a (0)", "b → b"]),
        (
            [(" ".join(f"s{n}" for n in range(13)), None)],
            ["s0 → s1 → s2 → s3 → s4 → s5 → s6 → s7 → s8 → … 2 more visits … → s11 → s12"],
        ),
        ([(" ".join("a" * 12), None)], [" → ".join("a" * 12)]),
        (
            [("ab"[n % 2], f"WI-{n}") for n in range(30)],
            [
                *(f"{'ab'[n % 2]} (WI-{n})" for n in range(9)),
                "… 19 more legs …",
                "a (WI-28)",
                "b (WI-29)",
            ],
        ),
        ([("a\x1b[2J", "WI\n")], ["a␛[2J (WI)"]),
    ],
    ids=[
        "nothing", "one", "an item", "around a loop", "items alike", "in and out", "no item", "long leg",
        "just not long", "many legs", "control characters",
    ],
)  # fmt: skip
def test_the_way(legs: list[tuple[str, str | None]], expected: list[str]) -> None:
    assert way(*visits(*legs)) == expected


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def checked(desk: Desk, *answers: Any) -> None:
    desk.loadout(
        {"check": {"materia": "Check", "edges": GUARDED}}, {"Check": {"prompt": "check", "parse": "json"}}
    )
    desk.answers(check=list(answers))


def test_a_cast_that_is_complete(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    checked(
        desk,
        {"json": {"satisfied": False}, "usage": USE},
        {"json": {"satisfied": True}, "usage": {**USE, "cost": 0.1}},
    )
    ran = desk.run_here(capfd)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "complete   after 2 visits",
        "path       check → check",
        "usage      2 turns, 1,960 tokens (1,800 in, 160 out), $0.1125",
    ]
    tables = [re.split(r"  +", line) for line in lines[3:-3]]
    numbers = ["2", "1,800", "160", "$0.1125"]
    heads = ["turns", "in", "out", "cost"]
    assert tables == [
        [""],
        ["by materia", *heads],
        ["Check", *numbers],
        [""],
        ["by socket", *heads],
        ["check", *numbers],
    ]
    assert lines[-3] == ""
    assert re.fullmatch(r"took       \d+\.\d s", lines[-2])
    assert lines[-1] == f"files      {next(desk.files.iterdir())}"
    assert all(line == line.rstrip() for line in lines)


def test_a_cast_that_failed(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    checked(desk, {"json": {"satisfied": False}})
    ran = desk.run_here(capfd)
    assert ran.code == 1
    first, path, usage, *_ = ran.out.splitlines()
    assert first.startswith("failed     edge-limit at 'check', visit 2: the not_satisfied edge of 'check'")
    assert path == "path       check → check"
    assert usage == "usage      unknown: 2 turns, none of which said what it used"


def test_what_some_turns_did_not_say(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    checked(desk, {"json": {"satisfied": False}}, {"json": {"satisfied": True}, "usage": USE})
    assert (
        "usage      1 turn, 980 tokens (900 in, 80 out), $0.0125; 1 turn more did not say\n"
        in desk.run_here(capfd).out
    )


def test_a_failure_at_an_item_and_its_words(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    """The item is named, several lines become one, and nothing in them moves the cursor."""
    item = {"title": "Wash \x1b[31mthe [red]car[/red]", "context": "x"}
    desk.loadout(
        {"list": {"materia": "List", "edges": [{"to": "wash"}]}, "wash": WASH},
        {
            "List": {"prompt": "list", "generator": True},
            "Wash": {"command": ["sh", "-c", "printf 'no\\033[2J\\nwater [bold]' >&2; exit 3"]},
        },
        loops={"work": {"sockets": ["wash"], "consumes": {"from": "list"}}},
    )
    desk.answers(list={"json": {"workItems": [item]}, "usage": USE})
    ran = desk.run_here(capfd)
    assert ran.code == 1
    [first, *_] = ran.out.splitlines()
    assert first.startswith("failed     utility-exit at 'wash', WI-1, visit 1: ")
    assert first.endswith("ended with code 3: no␛[2J water [bold]")
    assert "path       list\n           wash (WI-1)\n" in ran.out
    assert "WI-1 'Wash ␛[31mthe [red]car[/red]' failed, utility-exit" in ran.err
    assert "\x1b" not in ran.out + ran.err


def test_a_failure_before_a_visit(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    """The visit that would go over a limit has no number."""
    again = [{"when": "not_satisfied", "to": "check", "maxTraversals": 5}, {"when": "satisfied", "to": "end"}]
    desk.loadout(
        {"check": {"materia": "Check", "edges": again, "limits": {"maxVisits": 1}}},
        {"Check": {"prompt": "check", "parse": "json"}},
    )
    desk.answers(check={"json": {"satisfied": False}})
    assert desk.run_here(capfd).out.startswith(
        "failed     visit-limit at 'check': 'check' has been visited 1 times"
    )


def test_a_cast_that_waits(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    desk.loadout({"plan": {"materia": "Plan"}}, {"Plan": {"prompt": "plan", "multiTurn": True}})
    desk.answers(plan="Which car?")
    ran = desk.run_here(capfd)
    assert ran.code == 4
    assert ran.out.startswith("waiting    'plan' waits for a person: Which car?\n")


def test_the_last_text_is_shown(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    """What the cast came to, up to twelve lines of it."""
    desk.loadout({"tell": {"materia": "Tell"}}, {"Tell": {"prompt": "tell"}})
    desk.answers(tell="\n".join(["", "clean:", "  the [red]car[/red]\x07", *map(str, range(15))]))
    out = desk.run_here(capfd).out
    assert "answer     clean:\n             the [red]car[/red]␇\n           0\n" in out
    assert "           9\n           … 5 more lines\npath " in out


@pytest.fixture
def long_way(desk: Desk) -> Desk:
    """Thirty items with long names, at a socket with a long name."""
    title = "Wash 車 with a long name that goes on and on and on"
    items = [{"title": f"{n} {title}", "context": "x"} for n in range(1, 31)]
    name = "wash-a-car-with-a-long-name-that-goes-on-and-on"
    desk.loadout(
        {
            "list": {"materia": "List", "edges": [{"to": name}]},
            name: {**WASH, "edges": [{"to": name}]},
        },
        {"List": {"prompt": "list", "generator": True}, "Wash": {"prompt": "wash"}},
        loops={"work": {"sockets": [name], "consumes": {"from": "list"}}},
    )
    desk.answers(list={"json": {"workItems": items}, "usage": USE}, **{name: {"text": "done", "usage": USE}})
    return desk


def test_a_terminal_of_80_columns(long_way: Desk) -> None:
    with long_way.terminal() as terminal:
        assert terminal.code() == 0
    shown = terminal.text.rpartition("complete")[2]
    assert max(wcswidth(line) for line in shown.splitlines()) <= 80
    assert "wash-a-car-with-a-long-name-that-goes-o…" in shown
    assert "(WI-1 to WI-30)" in " ".join(shown.split())
    assert "\nWI-20 '20 Wash 車 with a long name" in shown
    assert "WI-21" not in shown
    assert "… 10 more in usage.json" in shown
    assert "\x1b[1;32mcomplete" in terminal.shown


@pytest.mark.parametrize("env", [{}, {"FORCE_COLOR": "1", "COLUMNS": "30"}], ids=["plain", "forced"])
def test_a_pipe_gets_whole_lines_without_colour(
    desk: Desk, capfd: pytest.CaptureFixture[str], env: dict[str, str]
) -> None:
    words = "word " * 60
    desk.loadout({"tell": {"materia": "Tell"}}, {"Tell": {"prompt": "tell"}})
    desk.answers(tell={"text": words, "usage": USE})
    out = desk.run_here(capfd, env=env).out
    assert f"answer     {words.strip()}\n" in out
    assert "\x1b" not in out


def test_a_stream_with_few_characters(desk: Desk) -> None:
    checked(desk, {"json": {"satisfied": False}}, {"json": {"satisfied": True}})
    ran = desk.run(env={"PYTHONIOENCODING": "ascii"})
    assert ran.code == 0
    assert "path       check \\u2192 check\n" in ran.out


@pytest.mark.parametrize("option", ["", "--json"])
def test_who_reads_no_further_changes_nothing(desk: Desk, option: str) -> None:
    checked(desk, {"json": {"satisfied": False}})
    done = subprocess.run(
        ["bash", "-c", f'"$@" {option} | true; exit ${{PIPESTATUS[0]}}', "bash", *desk.words()],
        cwd=desk.folder,
        env=desk.environ(None),
        capture_output=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.returncode == 1
    assert b"Error" not in done.stderr
