"""What `materiac diff --breaking` says of casts that have begun, `materiac resume` does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from going import Going

SOCKETS = ("soap", "wash", "dry")


def write(desk: Going, *sockets: str, prompt: str = "Do it.") -> None:
    ways = [*sockets[1:], "end"]
    parts: dict[str, Any] = {
        id_: {"materia": "Agent", "edges": [{"to": to}]} for id_, to in zip(sockets, ways, strict=True)
    }
    desk.loadout(parts, {"Agent": {"prompt": prompt}})


@pytest.mark.parametrize(
    ("sockets", "prompt", "broken"),
    [
        pytest.param(SOCKETS, "Do it well.", [], id="prompt"),
        pytest.param(("rinse", *SOCKETS), "Do it.", [], id="one-more"),
        pytest.param(("soap", "wash"), "Do it.", ["dry"], id="last-gone"),
        pytest.param(("soap", "rinse", "dry"), "Do it.", ["wash"], id="another"),
        pytest.param(("dry",), "Do it.", ["soap", "wash"], id="two-gone"),
    ],
)
@pytest.mark.parametrize("at", SOCKETS)
def test_a_cast_that_stopped_there_is_refused_where_it_is_said(
    at: str,
    sockets: tuple[str, ...],
    prompt: str,
    broken: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    desk = Going(tmp_path, capsys)
    write(desk, *SOCKETS)
    shutil.copy(tmp_path / "loadout.json", tmp_path / "old.json")
    desk.answers(**{at: [{"error": "down"}, "done"]})
    assert desk.begin().code == 1
    write(desk, *sockets, prompt=prompt)
    said = desk.go("diff", "--breaking", "old.json", "loadout.json")
    words = [f"the cast stands at '{id_}', which its new definition does not have" for id_ in broken]
    assert [line for line in said.out.splitlines() if line[0] == "!"] == [f"! resume: {w}" for w in words]
    assert said.code == bool(broken)
    resumed = desk.go("resume", "--retry", "--accept-change")
    if at in broken:
        assert (resumed.code, resumed.err) == (2, f"materiac: {words[broken.index(at)]}\n")
        assert desk.go("resume", "--retry", "--stored").code == 0
    else:
        assert resumed.code == 0


# Loops

STEP = {"items": "state.workItems", "when": "satisfied"}
LOST = "the cast goes through loop '{}', which its new definition does not have"


def write_loop(desk: Going, loop: str = "k", cursor: str = "workItemIndex") -> None:
    """Items that are washed and looked at; one that is not clean is shown to somebody who helps."""
    ways = [{"when": "satisfied", "to": "wash"}, {"when": "not_satisfied", "to": "help", "maxTraversals": 9}]
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "wash"}]},
        "wash": {"materia": "Agent", "edges": [{"to": "look"}]},
        "look": {"materia": "Look", "advance": {**STEP, "cursor": cursor}, "edges": ways},
        "help": {"materia": "Agent", "edges": [{"to": "wash"}]},
        "tell": {"materia": "Agent"},
    }
    exits = [{"from": "look", "targetSocketId": "tell"}]
    iterator = {"items": "state.workItems", "cursor": cursor}
    loops = {
        loop: {
            "sockets": ["wash", "look"],
            "consumes": {"from": "plan"},
            "exits": exits,
            "iterator": iterator,
        }
    }
    materia = {
        "Plan": {"prompt": "Plan.", "generator": True},
        "Agent": {"prompt": "Do it."},
        "Look": {"prompt": "Look.", "parse": "json"},
    }
    desk.loadout(sockets, materia, loops=loops)


@pytest.mark.parametrize("at", ["plan", "wash", "help", "tell"])
@pytest.mark.parametrize(
    ("loop", "cursor"),
    [pytest.param("kk", "workItemIndex", id="loop"), pytest.param("k", "at", id="cursor")],
)
def test_items_that_are_done_are_not_done_again(
    at: str, loop: str, cursor: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Going(tmp_path, capsys)
    write_loop(desk)
    shutil.copy(tmp_path / "loadout.json", tmp_path / "old.json")
    items = [{"title": name, "context": "dirty"} for name in ("red", "blue")]
    down, no = {"error": "down"}, {"json": {"satisfied": False, "context": "not yet"}}
    answers: dict[str, list[Any]] = {
        "plan": [{"json": {"workItems": items}}],
        "wash": ["washed", "washed"],
        "help": ["helped"],
        "look": [{"json": {"satisfied": True}}, no, {"json": {"satisfied": True}}],
        "tell": ["told"],
    }
    answers[at].insert(1 if at == "wash" else 0, down)
    desk.answers(**answers)
    assert desk.begin().code == 1
    write_loop(desk, loop, cursor)
    said = desk.go("diff", "--breaking", "old.json", "loadout.json")
    lost = LOST.format("k") if loop == "kk" else None
    told = [line for line in said.out.splitlines() if line[0] == "!"]
    assert (told, said.code) == (([f"! resume: {lost}"], 1) if lost else ([], 0))
    resumed = desk.go("resume", "--retry", "--accept-change")
    if lost and at in ("wash", "help"):
        assert (resumed.code, resumed.err) == (2, f"materiac: {lost}\n")
        assert desk.go("resume", "--retry", "--stored").code == 0
    else:
        assert resumed.code == 0
    path = [record["socket"] for record in desk.kinds("socket_started")]
    assert path == ["plan", "wash", "look", "wash", "look", "help", "wash", "look", "tell"]
