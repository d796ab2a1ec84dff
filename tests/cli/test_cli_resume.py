"""`materiac resume`: what it goes on with, what it refuses and with which advice, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from going import Going

FLAKY = {"command": ["sh", "-c", "echo run >> log; test -e fixed && echo fine"]}
AGENT = {"prompt": "Wash: {{request}}"}
YES, NO = {"json": {"satisfied": True}}, {"json": {"satisfied": False, "context": "not yet"}}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Going:
    """A command that fails until there is a file `fixed`, between two agents."""
    desk = Going(tmp_path, capsys)
    sockets = {
        "soap": {"materia": "Soap", "edges": [{"to": "wash"}]},
        "wash": {"materia": "Wash", "edges": [{"to": "dry"}]},
        "dry": {"materia": "Dry"},
    }
    desk.loadout(sockets, {"Soap": AGENT, "Wash": FLAKY, "Dry": {"prompt": "Dry."}})
    desk.answers(soap="soaped", dry="It is dry.")
    return desk


def fix(desk: Going) -> None:
    (desk.folder / "fixed").touch()


# A failure


def test_a_failure_is_tried_again_by_a_process_of_its_own(desk: Going) -> None:
    assert desk.run().code == 1
    refused = desk.really("resume")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("materiac: 'wash' failed (utility-exit): ")
    assert refused.err.endswith("; --retry runs it again\n")
    assert refused.err.count("\n") == 1
    fix(desk)
    done = desk.really("resume", "--retry")
    assert done.code == 0
    assert done.out.splitlines()[:3] == [
        "complete   after 3 visits",
        "answer     It is dry.",
        "path       soap → wash → dry",
    ]
    assert done.out.splitlines()[-1] == f"files      {desk.cast}"
    shown = done.err.splitlines()
    assert [line.split()[0] for line in shown[:6]] == [
        *("materiac", "loadout", "read", "artifacts", "agent", "goes"),
    ]
    assert shown[5:] == [
        *("goes on    after 2 visits", "wash (Wash) …", shown[7], "dry (Dry) …", shown[9]),
    ]
    assert desk.log() == ["run", "run"]


def test_it_prints_what_run_prints(desk: Going) -> None:
    fix(desk)
    whole = desk.begin("--json")
    (desk.folder / "fixed").unlink()
    desk.begin()
    fix(desk)
    resumed = desk.go("resume", "--retry", "--json")
    assert (resumed.code, resumed.err) == (0, "")
    one, other = json.loads(whole.out), json.loads(resumed.out)
    assert one.keys() == other.keys()
    same = ("status", "path", "items", "visits", "traversals", "cursors", "data", "failure", "waiting")
    assert {key: one[key] for key in same} == {key: other[key] for key in same}
    assert one["castId"] != other["castId"]


def test_a_refusal_as_json(desk: Going) -> None:
    desk.begin()
    refused = desk.go("resume", "--json")
    told = json.loads(refused.out)
    assert (refused.code, told["status"], told["artifacts"]) == (1, "failed", str(desk.cast))
    assert "--retry" in told["refused"]
    assert told["refused"] in refused.err


def test_a_cast_that_is_complete(desk: Going) -> None:
    fix(desk)
    desk.begin()
    (desk.folder / "answers.json").unlink()
    (desk.folder / "loadout.json").write_text("{")
    before = (desk.cast / "events.jsonl").read_bytes()
    done = desk.go("resume", "--retry")
    assert (done.code, done.out) == (0, "")
    assert done.err == "materiac: the cast is complete: there is nothing to go on with\n"
    assert json.loads(desk.go("resume", "--json").out)["status"] == "complete"
    assert (desk.cast / "events.jsonl").read_bytes() == before


# Limits


def test_an_edge_that_is_used_up(desk: Going) -> None:
    edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "look", "maxTraversals": 1}]
    desk.loadout({"look": {"materia": "Look", "parse": "json", "edges": edges}}, {"Look": AGENT})
    desk.answers(look=[NO, NO, YES])
    assert desk.begin().code == 1
    refused = desk.go("resume", "--retry")
    assert refused.code == 1
    assert "its limit is 1; --allow-edge lets it be taken once more" in refused.err
    done = desk.go("resume", "--allow-edge")
    assert (done.code, done.out.splitlines()[1]) == (0, "path       look → look → look")


@pytest.mark.parametrize(
    ("budget", "option", "low", "high"),
    [
        ({"maxTokens": 100}, "--budget-tokens", "100", "1000"),
        ({"maxCostUsd": 0.5}, "--budget-usd", "0.5", "1.25"),
    ],
    ids=["tokens", "dollars"],
)
@pytest.mark.parametrize(("stops", "code"), [(True, 1), (False, 4)], ids=["fails", "waits"])
def test_a_budget(
    desk: Going, budget: dict[str, Any], option: str, low: str, high: str, stops: bool, code: int
) -> None:
    fix(desk)
    desk.swap(
        "loadout.json", '"loadouts"', f'"budget": {json.dumps(budget | {"stopAtLimit": stops})}, "loadouts"'
    )
    spent = {"input": 60, "output": 40, "cost": 0.5}
    desk.answers(soap={"text": "soaped", "usage": spent}, dry={"text": "dry", "usage": spent})
    assert desk.begin().code == code
    for refused in (desk.go("resume"), desk.go("resume", option, low)):
        assert refused.code == code
        assert "a higher limit, with --budget-tokens or --budget-usd, lets the cast go on" in refused.err
    done = desk.go("resume", option, high)
    assert (done.code, desk.log()) == (0, ["run"])


@pytest.mark.parametrize(
    "words",
    [
        ["--budget-tokens", "0"],
        ["--budget-tokens", "-5"],
        ["--budget-tokens", "1e3"],
        ["--budget-tokens", "\x1b[31m"],
        ["--budget-usd", "nan"],
        ["--budget-usd", "inf"],
        ["--budget-usd", "0"],
        ["--budget-usd", "much"],
        ["--accept-change", "--stored"],
        ["one", "two"],
    ],
    ids=" ".join,
)
def test_wrong_usage(desk: Going, words: list[str]) -> None:
    refused = desk.go("resume", *words)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("materiac: ")
    assert "_whole" not in refused.err
    assert "_dollars" not in refused.err


# Definitions


def test_a_changed_loadout_has_to_be_accepted(desk: Going) -> None:
    desk.begin()
    fix(desk)
    desk.swap("loadout.json", "Dry.", "Dry it well.")
    before = (desk.cast / "events.jsonl").read_bytes()
    refused = desk.go("resume", "--retry")
    assert (refused.code, refused.out) == (2, "")
    head, change = refused.err.splitlines()
    assert head == (
        "materiac: the loadout is not what the cast was run with; --accept-change goes on with it, "
        "--stored with the one that the cast has:"
    )
    assert change.startswith("  materia 'Dry'")
    assert (desk.cast / "events.jsonl").read_bytes() == before
    assert desk.go("resume", "--retry", "--accept-change").code == 0
    assert (desk.cast / "contexts" / "dry" / "1.md").read_text().startswith("Dry it well.")
    [resumed] = desk.kinds("cast_resumed")
    assert resumed["accepted"] == desk.records()[0]["hash"] != resumed["hash"]


def test_the_loadout_that_the_cast_has_stored(desk: Going) -> None:
    desk.begin()
    fix(desk)
    desk.swap("loadout.json", "Dry.", "Dry it well.")
    assert desk.go("resume", "--retry", "--stored").code == 0
    assert (desk.cast / "contexts" / "dry" / "1.md").read_text().startswith("Dry.")
    assert desk.kinds("cast_resumed")[0]["accepted"] is None


def test_layout_is_no_change(desk: Going) -> None:
    desk.begin()
    fix(desk)
    data = json.loads((desk.folder / "loadout.json").read_text())
    turned = {key: data[key] for key in reversed(data)}
    desk.write_text("loadout.json", json.dumps(turned, indent=7))
    assert desk.go("resume", "--retry").code == 0


def test_a_loadout_that_is_gone(desk: Going) -> None:
    desk.begin()
    fix(desk)
    (desk.folder / "loadout.json").unlink()
    done = desk.go("resume", "--retry")
    assert done.code == 0
    gone = f"materiac: '{desk.folder / 'loadout.json'}' is gone"
    assert f"{gone}: the cast goes on with the loadout that it has stored" in done.err.splitlines()


def test_a_loadout_that_is_broken(desk: Going) -> None:
    desk.begin()
    fix(desk)
    desk.swap("loadout.json", '"to": "dry"', '"to": "dryer"')
    refused = desk.go("resume", "--retry")
    assert refused.code == 2
    assert "error[unknown-target]" in refused.err
    assert "--stored goes on with the one that the cast has" in refused.err
    assert desk.go("resume", "--retry", "--stored").code == 0


def test_a_stored_loadout_that_was_changed_by_hand(desk: Going) -> None:
    desk.begin()
    (desk.folder / "loadout.json").unlink()
    machine = desk.cast / "machine.json"
    machine.write_text(machine.read_text().replace("Dry.", "Wet."))
    refused = desk.go("resume", "--retry")
    assert refused.code == 2
    assert "machine.json" in refused.err


# Agents


def test_the_agent_of_the_record_is_found_from_another_folder(desk: Going, tmp_path: Path) -> None:
    """`scripted:answers.json` was named in the folder where the cast began."""
    desk.begin()
    fix(desk)
    other = tmp_path / "other"
    other.mkdir()
    done = desk.really("resume", str(desk.cast), "--retry", folder=other)
    assert done.code == 0
    assert "answer     It is dry.\n" in done.out
    assert desk.kinds("cast_resumed")[0]["agent"] == "scripted:answers.json"
    assert list(other.iterdir()) == []


def test_another_agent(desk: Going) -> None:
    desk.begin()
    fix(desk)
    desk.write("others.json", {"sockets": {"dry": "Bone dry."}})
    done = desk.go("resume", "--retry", "--agent", "scripted:others.json")
    assert "answer     Bone dry.\n" in done.out


def test_the_agent_of_the_record_comes_before_that_of_the_environment(desk: Going) -> None:
    desk.begin()
    fix(desk)
    done = desk.go("resume", "--retry", env={"MATERIAC_AGENT": "command:false"})
    assert (done.code, "answer     It is dry.\n" in done.out) == (0, True)


def test_an_agent_that_is_gone(desk: Going) -> None:
    desk.begin()
    (desk.folder / "answers.json").unlink()
    refused = desk.go("resume", "--retry")
    assert (refused.code, refused.out) == (2, "")
    assert "answers.json" in refused.err


def test_an_agent_with_a_secret_has_to_be_said_again(desk: Going) -> None:
    (desk.folder / "answers.json").unlink()
    env = {"WASH_TOKEN": "soap-and-water"}
    agent = "command:sh -c 'echo washed' soap-and-water"
    desk.go(*desk.words("--agent", agent)[3:], env=env)
    fix(desk)
    refused = desk.go("resume", "--retry", env=env)
    assert refused.code == 2
    assert "say who answers, with --agent" in refused.err
    assert "soap-and-water" not in refused.err
    assert desk.go("resume", "--retry", "--agent", agent, env=env).code == 0


def test_commands_alone_need_no_agent(desk: Going) -> None:
    (desk.folder / "answers.json").unlink()
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": FLAKY})
    assert desk.begin().code == 1
    fix(desk)
    assert desk.go("resume", "--retry").code == 0


# Names


def test_casts_by_name(desk: Going) -> None:
    desk.begin()
    first = desk.cast
    desk.begin()
    fix(desk)
    [newest] = set(desk.files.iterdir()) - {first}
    ambiguous = desk.go("resume", first.name[:8], "--retry")
    assert ambiguous.code == 2
    assert f"begins 2 casts: '{newest.name}', '{first.name}'" in ambiguous.err
    assert desk.go("resume", "--retry").out.endswith(f"{newest.name}\n")
    assert desk.go("resume", first.name[9:-1], "--retry").out.endswith(f"{first.name}\n")


@pytest.mark.parametrize("command", ["resume", "abort", "replay", "continue", "say"])
def test_no_cast(desk: Going, command: str) -> None:
    more = ["hello"] if command == "say" else []
    for name in ("2031", "no\x1b[31mthing", "./nowhere"):
        refused = desk.go(command, name, *more)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("materiac: ")
    if not more:
        assert "there is no cast" in desk.go(command).err


def test_a_broken_journal(desk: Going) -> None:
    desk.begin()
    journal = desk.cast / "events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], lines[1].replace(b"soap", b"hope"), *lines[2:]]))
    for command in ("resume", "abort", "replay", "continue"):
        refused = desk.go(command)
        assert refused.code in (1, 2)
        assert "line 2 of" in refused.err
        assert journal.read_bytes().count(b"hope") > 0


def test_words_of_an_agent_do_nothing_to_a_terminal(desk: Going) -> None:
    desk.answers(soap={"error": "\x1b[2J\x07\u202egone\nhelp: ask again"})
    assert desk.begin().code == 1
    refused = desk.go("resume")
    assert refused.code == 1
    assert "gone" in refused.err
