"""`materiac replay`: the same way once more, or the first difference; nothing is run and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from going import Going
from looking import state_of

STEP = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
YES, NO = {"json": {"satisfied": True}}, {"json": {"satisfied": False, "context": "not yet"}}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Going:
    """Two cars, of which the first one has to be washed twice; a command writes down that it ran."""
    desk = Going(tmp_path, capsys)
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "wash"}]},
        "wash": {"materia": "Wash", "edges": [{"to": "look"}]},
        "look": {
            "materia": "Look",
            "advance": STEP,
            "edges": [
                {"when": "satisfied", "to": "wash"},
                {"when": "not_satisfied", "to": "wash", "maxTraversals": 1},
            ],
        },
        "tell": {"materia": "Tell"},
    }
    exits = [{"from": "look", "targetSocketId": "tell"}]
    loops = {"cars": {"sockets": ["wash", "look"], "consumes": {"from": "plan"}, "exits": exits}}
    materia = {
        "Plan": {"prompt": "Plan: {{request}}", "generator": True},
        "Wash": {"command": ["sh", "-c", "echo run >> log; echo washed"]},
        "Look": {"prompt": "Look at {{workItem.title}}.", "parse": "json"},
        "Tell": {"prompt": "Tell."},
    }
    desk.loadout(sockets, materia, loops=loops)
    items = [{"title": name, "context": "dirty"} for name in ("red", "blue")]
    desk.answers(plan={"json": {"workItems": items}}, look=[NO, YES, YES], tell="All is clean.")
    assert desk.begin().code == 0
    return desk


def against(desk: Going, old: str, new: str) -> list[str]:
    (desk.folder / "other.json").write_text((desk.folder / "loadout.json").read_text())
    desk.swap("other.json", old, new)
    return ["--against", "other.json"]


def test_the_same(desk: Going) -> None:
    (desk.folder / "answers.json").unlink()
    (desk.folder / "loadout.json").unlink()
    before, ran = state_of(desk.cast), desk.log()
    done = desk.really("replay")
    assert (done.code, done.out, done.err) == (0, "the same   8 visits, to where it was complete\n", "")
    assert state_of(desk.cast) == before
    assert desk.log() == ran


def test_the_same_as_json(desk: Going) -> None:
    ran = json.loads(desk.begin("--json").out)
    told = json.loads(desk.go("replay", "--json").out)
    assert told == {
        "castId": ran["castId"],
        "status": "complete",
        "difference": None,
        "parted": None,
        "path": ran["path"],
        "data": ran["data"],
    }


@pytest.mark.parametrize(
    "file",
    [
        "contexts/look/2.md",
        "sockets/look/1.md",
        "sockets/wash/2.stdin.json",
        "sockets/wash/3.stdout.txt",
    ],
)
def test_a_file_that_was_changed_by_hand(desk: Going, file: str) -> None:
    path = desk.cast / file
    path.write_text(path.read_text() + " ")
    done = desk.go("replay")
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        f"different  '{path}' has been changed: its content is not what the journal tells of\n"
    )
    path.unlink()
    gone = json.loads(desk.go("replay", "--json").out)
    assert (gone["status"], gone["parted"]) == ("different", None)
    assert file in gone["difference"]


@pytest.mark.parametrize("kind", ["turn_finished", "command_finished", "socket_started", "socket_finished"])
def test_a_cast_that_was_interrupted(desk: Going, kind: str) -> None:
    """Nothing is made up for what the journal does not tell."""
    journal = desk.cast / "events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if json.loads(line)["type"] == kind)
    journal.write_bytes(b"".join(lines[: last + 1]))
    for path in [*desk.cast.glob("sockets/tell/*"), *desk.cast.glob("sockets/look/3.json")]:
        path.chmod(0o600)
    before, ran = state_of(desk.cast), desk.log()
    done = desk.go("replay")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("to where it was interrupted\n")
    assert state_of(desk.cast) == before
    assert desk.log() == ran


# Another loadout


def test_a_loadout_with_the_same_way(desk: Going) -> None:
    done = desk.go("replay", *against(desk, "Plan: ", "Plan well: "))
    assert (done.code, done.out) == (0, "the same   8 visits, to where it was complete\n")


PARTINGS: list[Any] = [
    pytest.param(
        ('"when": "not_satisfied", "to": "wash"', '"when": "not_satisfied", "to": "tell"'),
        "at 'look', visit 1, WI-1",
        "went by the not_satisfied edge to 'wash'",
        "would go by the not_satisfied edge to 'tell'",
        ("wash", "tell"),
        id="another edge",
    ),
    pytest.param(
        ('"when": "satisfied"}', '"when": "always"}'),
        "at 'wash', visit 2, WI-1",
        "came to 'wash', WI-1",
        "would come to 'wash', WI-2",
        (None, None),
        id="another item",
    ),
    pytest.param(
        ('{"materia": "Plan", "edges": [{"to": "wash"}]}', '{"materia": "Plan", "edges": [{"to": "look"}]}'),
        "at 'plan', visit 1",
        "went by the always edge to 'wash'",
        "would go by the always edge to 'look'",
        ("wash", "look"),
        id="at once",
    ),
]


@pytest.mark.parametrize(("change", "where", "was", "now", "to"), PARTINGS)
def test_where_the_ways_part(
    desk: Going, change: tuple[str, str], where: str, was: str, now: str, to: tuple[str | None, ...]
) -> None:
    words = against(desk, *change)
    before = state_of(desk.cast)
    parted = desk.go("replay", *words)
    assert parted.code == 1
    assert parted.out == f"parted     {where}\nwas        {was}\nnow        {now}\n"
    told = json.loads(desk.go("replay", *words, "--json").out)
    assert told["status"] == "parted"
    assert told["difference"] == f"{where}: the cast {was}; now it {now}"
    part = told["parted"]
    assert (part["was"]["did"], part["now"]["did"]) == (was, now)
    assert tuple(part[when]["route"] and part[when]["route"]["to"] for when in ("was", "now")) == to
    assert desk.records()[part["n"] - 1].get("route") == part["was"]["route"]
    assert state_of(desk.cast) == before


def test_a_limit_that_is_higher(desk: Going) -> None:
    desk.swap("answers.json", "true", "false")
    desk.begin()
    parted = desk.go("replay", *against(desk, '"maxTraversals": 1', '"maxTraversals": 2'))
    assert parted.code == 1
    assert parted.out.splitlines()[1:] == [
        "was        went by the not_satisfied edge to 'wash', which its limit did not allow",
        "now        would go by the not_satisfied edge to 'wash'",
    ]


@pytest.mark.parametrize(
    ("name", "text"), [("other.json", "{"), ("nowhere.json", None), ("other.json", '{"loadouts": {}}')]
)
def test_no_loadout_to_go_against(desk: Going, name: str, text: str | None) -> None:
    if text is not None:
        desk.write_text(name, text)
    refused = desk.go("replay", "--against", name)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err
