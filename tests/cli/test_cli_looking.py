from __future__ import annotations

import fcntl
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hand_written import ID, STARTED, Told, edge, finished, held, place, turn, used
from looking import Shed, state_of

Json = dict[str, Any]

OLDER = "20310501-090000-000000-0001"
EVIL = "a\x1b[31mb\x9b2Jc\u202ed\x07\re"
DO, LOOK = place("do", 1, "WI-1"), place("look", 1, "WI-1")
MACHINE: Json = {
    "sockets": [
        {"id": "do", "materia": "Do", "loop": "chores", "edges": [{"when": "always", "to": "look"}]},
        {
            "id": "look",
            "materia": "Look",
            "loop": "chores",
            "edges": [
                {"when": "satisfied", "to": "do", "max_traversals": None},
                {"when": "not_satisfied", "to": "do", "max_traversals": 2},
            ],
        },
        {"id": "count", "materia": "Count", "loop": None, "edges": []},
    ],
    "materia": [{"name": "Do", "agent": {"multi_turn": True}}, {"name": "Look", "agent": {}}],
    "budget": {"max_tokens": 100, "max_cost_usd": 2.0},
}


@pytest.fixture
def shed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shed:
    return Shed(tmp_path, capsys)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a cast has really run: a generator, a loop of two, a retry, a repair, a utility."""
    folder = tmp_path_factory.mktemp("worked")
    step = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
    loadout = {
        "entry": "plan",
        "sockets": {
            "plan": {"materia": "Planner", "edges": [{"to": "do"}]},
            "do": {"materia": "Doer", "edges": [{"to": "look"}]},
            "look": {
                "materia": "Looker",
                "advance": step,
                "edges": [
                    {"when": "satisfied", "to": "do"},
                    {"when": "not_satisfied", "to": "do", "maxTraversals": 2},
                ],
            },
            "count": {"materia": "Counter"},
        },
        "loops": {
            "chores": {
                "sockets": ["do", "look"],
                "consumes": {"from": "plan"},
                "exits": [{"from": "look", "targetSocketId": "count"}],
            }
        },
    }
    materia = {
        "Planner": {"prompt": "Plan this: {{request}}", "generator": True},
        "Doer": {"prompt": "Do this: {{workItem.title}}"},
        "Looker": {"prompt": "Is this done? {{workItem.title}}", "parse": "json"},
        "Counter": {"command": ["sh", "-c", "echo 2; echo dust >&2"]},
    }
    answers = {
        "plan": {"json": {"workItems": [{"title": "sweep", "context": "the floor"}]}},
        "do": {"text": "Done.", "usage": {"input": 700, "output": 10, "cost": 0.006}},
        "look": ["no object", {"json": {"satisfied": False}}, {"json": {"satisfied": True}}],
    }
    (folder / "chores.json").write_text(json.dumps({"loadouts": {"Chores": loadout}, "materia": materia}))
    (folder / "answers.json").write_text(json.dumps({"sockets": answers}))
    words = ["run", "chores.json", "--agent", "scripted:answers.json", "--request", "tidy the shed"]
    done = subprocess.run(
        [sys.executable, "-m", "materiac", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def tidy(worked: Path, capsys: pytest.CaptureFixture[str]) -> Shed:
    return Shed(worked, capsys)


def ended(status: str, **more: Any) -> Told:
    return ("cast_finished", {"status": status, "failure": None, "waiting": None, **more})


def failed(kind: str) -> Told:
    failure = {"kind": kind, "message": "it went wrong", "socket": "do", "visit": 1, "item": "WI-1"}
    return ended("failed", failure=failure)


def began(**more: Any) -> Told:
    return ("cast_started", {**STARTED[1], **more})


# casts


def test_the_newest_cast_comes_first(shed: Shed) -> None:
    told = turn(DO, usage=used(100, 20, 0.5))
    shed.cast(OLDER, STARTED, ("socket_started", DO), told, ended("complete"))
    shed.cast(ID, began(loadout="Talk", request="x" * 99), turn(DO))
    shown = shed.look("casts")
    head, newer, older = shown.out.splitlines()
    assert (shown.code, shown.err) == (0, "")
    assert head.split() == ["cast", "state", "loadout", "request", "age", "cost"]
    assert newer.split()[:4] == [ID, "interrupted", "Talk", "x" * 39 + "…"]
    assert newer.endswith("  unknown")
    assert older.startswith(f"{OLDER}  complete     Chores   tidy the shed")
    assert older.endswith("$0.5000")


def test_the_newest_few(shed: Shed) -> None:
    shed.cast(OLDER, STARTED)
    shed.cast(ID, STARTED)
    assert [cast["castId"] for cast in shed.look("casts", "-n", "1", "--json").data["casts"]] == [ID]


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_no_number_of_casts(shed: Shed, number: str) -> None:
    shown = shed.look("casts", "-n", number)
    assert (shown.code, shown.out) == (2, "")
    assert f"argument -n: invalid count value: '{number}'" in shown.err


def test_casts_as_json(shed: Shed) -> None:
    shed.cast(ID, STARTED, ("socket_started", DO), failed("agent"))
    data = shed.look("casts", "--json").data
    assert list(data) == ["version", "artifacts", "casts"]
    assert (data["version"], data["artifacts"]) == (1, str(shed.root))
    [cast] = data["casts"]
    assert (cast["castId"], cast["state"], cast["failure"]["kind"]) == (ID, "failed", "agent")
    assert cast["at"]["itemKey"] == "WI-1"


def test_no_casts(shed: Shed) -> None:
    shown = shed.look("casts")
    assert (shown.code, shown.out) == (0, "")
    assert shown.err == f"materiac: there is no cast in '{shed.root}'\n"
    assert shed.look("casts", "--json").data["casts"] == []


def test_a_folder_that_cannot_be_read(shed: Shed) -> None:
    (shed.folder / "file").touch()
    shown = shed.look("casts", "--artifacts", "file")
    assert shown.code == 2
    assert "Not a directory" in shown.err


def test_a_broken_cast_is_listed(shed: Shed) -> None:
    folder = shed.cast(ID, STARTED, ended("complete"))
    (folder / "events.jsonl").write_text("nonsense\n", encoding="utf-8")
    (shed.root / OLDER).mkdir()
    shown = shed.look("casts", "--json")
    assert shown.code == 0
    assert [cast["state"] for cast in shown.data["casts"]] == ["broken", "not begun"]
    assert "line 1 of " in shown.data["casts"][0]["reason"]


def test_a_table_is_as_wide_as_the_terminal(shed: Shed) -> None:
    shed.cast(ID, began(request="word " * 40), ended("complete"))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", shed.at_terminal("casts", columns=80)).splitlines()
    assert len(shown) == 2
    assert all(len(line) <= 80 for line in shown)
    assert ID in shown[1]
    assert "…" in shown[1]


def test_a_table_that_is_too_wide_for_a_terminal_is_whole(tidy: Shed) -> None:
    shown = re.sub(r"\x1b\[[0-9;]*m", "", tidy.at_terminal("inspect", columns=40))
    assert re.search(r"\n +socket +visit +item +verdict +next +turns +tokens +cost +took\r\n", shown)
    assert re.search(r"\n3 +look +1 +WI-1 'sweep' +not satisfied +→ do, not_s… +2 +\d", shown)


# status


@pytest.mark.parametrize(
    ("told", "state", "onward"),
    [
        pytest.param([], "not begun   no record has been written", ["nothing"], id="not begun"),
        pytest.param([ended("complete")], "complete    after 1 visit", ["nothing"], id="complete"),
        pytest.param([ended("stopped")], "stopped     at 'do', visit 1, WI-1", ["resume {id}"], id="stopped"),
        pytest.param([turn(DO)], "interrupted at 'do', visit 1", ["resume {id}"], id="interrupted"),
        pytest.param([failed("agent")], "failed      agent at 'do'", ["resume {id} --retry"], id="failed"),
        pytest.param([failed("edge-limit")], "failed      edge-", ["resume {id} --allow-edge"], id="edge"),
        pytest.param(
            [turn(DO, usage=used(90, 10, 1.0)), failed("budget")],
            "failed      budget",
            ["resume {id} --budget-tokens N"],
            id="tokens",
        ),
        pytest.param(
            [turn(DO, usage=used(90, 10, 2.0)), ended("waiting", waiting="for more", waitingFor="budget")],
            "waiting     for more",
            ["resume {id} --budget-tokens N --budget-usd N"],
            id="tokens and dollars",
        ),
        pytest.param(
            [
                ("cast_resumed", {"maxTokens": 900, "maxCostUsd": None}),
                turn(DO, usage=used(90, 10, 2.0)),
                ended("waiting", waiting="for more", waitingFor="budget"),
            ],
            "waiting     for more",
            ["resume {id} --budget-usd N"],
            id="a limit that was raised",
        ),
        pytest.param(
            [ended("waiting", waiting="who?", waitingFor="person")],
            "waiting     who?",
            ['say {id} "…"', "continue {id}"],
            id="a person",
        ),
        pytest.param(
            [ended("waiting", waiting="it may have run", waitingFor="uncertain")],
            "waiting     it may have run",
            ["resume {id} --rerun"],
            id="uncertain",
        ),
    ],
)  # fmt: skip
def test_how_a_cast_stands(shed: Shed, told: list[Told], state: str, onward: list[str]) -> None:
    begun = [STARTED, ("socket_started", DO), *told] if told else []
    shed.cast(ID, *begun, machine=MACHINE)
    shown = shed.look("status", ID[:6])
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(state)
    _, _, following = shown.out.partition("\nnext")
    wanted = [line.format(id=ID) for line in onward]
    assert [line.strip().removeprefix("materiac ") for line in following.splitlines()] == wanted


def test_a_cast_that_is_running(shed: Shed) -> None:
    folder = shed.root / ID
    folder.mkdir(parents=True)
    with held(folder / "events.jsonl", began(pid="own"), ("socket_started", DO)) as other:
        shown = shed.look("status")
        assert shown.out.startswith("running     at 'do', visit 1, WI-1 'the WI-1', for ")
        assert f"\nwritten by  process {other.process.pid} on '" in shown.out
        assert shown.out.endswith(f"\nnext        materiac tail {ID} -f\n            materiac abort {ID}\n")
        data = shed.look("status", "--json").data
        assert (data["state"], data["holder"]["pid"]) == ("running", other.process.pid)
        assert shed.look("casts").out.splitlines()[1].split()[1] == "running"


def test_the_newest_is_meant_where_none_is_named(shed: Shed) -> None:
    shed.cast(OLDER, STARTED)
    shed.cast(ID, STARTED)
    for command in ("status", "inspect", "tail"):
        assert ID in shed.look(command).out


def test_a_cast_elsewhere_is_called_by_its_folder(shed: Shed) -> None:
    folder = shed.cast(ID, STARTED)
    folder.parent.rename(shed.folder / "other casts")
    name = f"'{shed.folder}/other casts/{ID}'"
    assert shed.look("status", "--artifacts", "other casts").out.endswith(f"materiac resume {name}\n")
    assert shed.look("status", f"other casts/{ID}").out.endswith(f"materiac resume {name}\n")


@pytest.mark.parametrize("command", ["status", "inspect", "tail"])
@pytest.mark.parametrize("name", ["20319999", "none/none", "2031"])
def test_no_such_cast(shed: Shed, command: str, name: str) -> None:
    shed.cast(OLDER, STARTED)
    shed.cast(ID, STARTED)
    shown = shed.look(command, name)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith("materiac: ")
    assert name in shown.err


@pytest.mark.parametrize("command", ["status", "inspect", "tail"])
def test_a_broken_journal_is_named_with_its_line(shed: Shed, command: str) -> None:
    folder = shed.cast(ID, STARTED, ("event", {"text": "a"}), ended("complete"))
    journal = folder / "events.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"a"', b'"b"'))
    shown = shed.look(command)
    assert shown.code == 1
    assert f"line 2 of '{journal}' is broken" in shown.out + shown.err


# inspect


def test_the_way_of_a_cast(tidy: Shed) -> None:
    shown = tidy.look("inspect")
    head, _, table = shown.out.partition("\n\n")
    assert head.startswith("complete    after 6 visits\n")
    assert [re.split(r"  +", line.strip())[:-1] for line in table.splitlines()] == [
        ["socket", "visit", "item", "verdict", "next", "turns", "tokens", "cost"],
        ["1", "plan", "1", "→ do, always", "1"],
        ["2", "do", "1", "WI-1 'sweep'", "→ look, always", "1", "710", "$0.0060"],
        ["3", "look", "1", "WI-1 'sweep'", "not satisfied", "→ do, not_satisfied", "2"],
        ["4", "do", "2", "WI-1 'sweep', attempt 2", "→ look, always", "1", "710", "$0.0060"],
        ["5", "look", "2", "WI-1 'sweep', attempt 2", "satisfied", "→ count, exit", "1"],
        ["6", "count", "1", "→ end"],
    ]


def test_the_way_as_json(tidy: Shed) -> None:
    data = tidy.look("inspect", "--json").data
    assert list(data) == ["version", "cast", "visits"]
    assert [(visit["socket"], visit["visit"], visit["attempt"]) for visit in data["visits"]] == [
        ("plan", 1, 1), ("do", 1, 1), ("look", 1, 1), ("do", 2, 2), ("look", 2, 2), ("count", 1, 1),
    ]  # fmt: skip
    assert [visit["why"] for visit in data["visits"]] == [
        "to 'do': its only edge, 'always', which asks for no verdict",
        "to 'look': its only edge, 'always', which asks for no verdict",
        "to 'do': 2nd of 2 edges, 'not_satisfied', as the verdict is not satisfied",
        "to 'look': its only edge, 'always', which asks for no verdict",
        "to 'count': an exit of loop 'chores', whose list is used up",
        "to 'end': no edge leads on",
    ]
    assert data["visits"][1]["usage"]["input"] == 700
    assert data["cast"]["state"] == "complete"


def test_a_visit_of_an_agent_with_a_repair(tidy: Shed) -> None:
    shown = tidy.look("inspect", tidy.look("casts", "--json").data["casts"][0]["castId"], "--socket", "look",
                      "--visit", "1")  # fmt: skip
    assert shown.code == 0
    assert shown.out.startswith("visit       'look', visit 1, WI-1 'sweep': number 3 of 6\n")
    assert "\nverdict     not satisfied\n" in shown.out
    assert "\nnext        to 'do': 2nd of 2 edges" in shown.out
    titles = re.findall(r"^(\S.*): (?:contexts|sockets)/look/(\S+)$", shown.out, re.MULTILINE)
    assert titles == [
        ("prompt", "1.md"),
        ("answer", "1.md"),
        ("prompt of turn 2, a repair", "1.repair-1.md"),
        ("answer of turn 2, a repair", "1.repair-1.md"),
        ("accepted object", "1.json"),
    ]
    assert "\n  Is this done? sweep\n" in shown.out
    assert "\n  no object\n" in shown.out


def test_a_visit_of_a_utility(tidy: Shed) -> None:
    shown = tidy.look("inspect", "--socket", "count").out
    files = dict(re.findall(r"^(\w+): sockets/count/1\.\S+\n  (.*)$", shown, re.MULTILINE))
    assert set(files) == {"stdin", "command", "stdout", "stderr"}
    assert (files["stdout"], files["stderr"]) == ("2", "dust")


def test_a_visit_as_json(tidy: Shed) -> None:
    [visit] = tidy.look("inspect", "--socket", "look", "--json").data["visits"]
    assert (visit["visit"], visit["verdict"], visit["object"]) == (2, True, {"satisfied": True})
    assert [part["kind"] for part in visit["files"]] == ["context", "output", "parsed"]
    assert {part["state"] for part in visit["files"]} == {"as written"}
    assert visit["files"][0]["text"].startswith("Is this done? sweep")
    assert visit["turns"][0]["usage"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--socket", "lok"], "did you mean 'look'?"),
        (["--socket", "count"], "'count' has not been visited"),
        (["--socket", "look", "--visit", "7"], "there is no visit 7 of 'look' in"),
        (["--visit", "1"], "--visit needs --socket"),
        (["--socket", "look", "--visit", "0"], "invalid count value: '0'"),
    ],
)
def test_no_such_visit(shed: Shed, words: list[str], message: str) -> None:
    shed.cast(ID, STARTED, ("socket_started", LOOK), finished(LOOK), machine=MACHINE)
    shown = shed.look("inspect", *words)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


def test_a_cast_without_records(shed: Shed) -> None:
    (shed.root / ID).mkdir(parents=True)
    assert shed.look("inspect").out.startswith("not begun   no record has been written\n")
    assert shed.look("inspect", "--json").data["visits"] == []


def test_files_that_are_gone_or_were_changed_are_said(shed: Shed) -> None:
    files = [
        {"kind": "context", "file": "contexts/do/1.md", "sha256": "0" * 64, "bytes": 1},
        {"kind": "output", "file": "sockets/do/1.md", "sha256": "0" * 64, "bytes": 1},
        {"kind": "output", "file": "../../x.md", "sha256": "0" * 64, "bytes": 1},
    ]
    folder = shed.cast(ID, STARTED, ("socket_started", DO), turn(DO, files=files))
    (folder / "sockets/do").mkdir(parents=True)
    (folder / "sockets/do/1.md").write_text("another", encoding="utf-8")
    (shed.root.parent / "x.md").write_text("a secret", encoding="utf-8")
    shown = shed.look("inspect", "--socket", "do")
    assert shown.code == 0
    assert "prompt: contexts/do/1.md\n  [it is gone]\n" in shown.out
    assert "[it has been changed: 1 bytes were written, 7 are there]\n  another\n" in shown.out
    assert "answer: ../../x.md\n  [it is no file in the folder of the cast]\n" in shown.out
    assert "a secret" not in shown.out
    states = [
        part["state"] for part in shed.look("inspect", "--socket", "do", "--json").data["visits"][0]["files"]
    ]
    assert states == ["gone", "changed", "unreadable"]


@pytest.mark.parametrize(
    ("route", "more", "words"),
    [
        (edge("do", "not_satisfied", 1), {"verdict": False, "blocked": "limit"},
         "to 'do': 2nd of 2 edges, 'not_satisfied', as the verdict is not satisfied; its limit of 2 was reached"),  # noqa: E501
        (edge("do", "satisfied", 0), {"verdict": True, "blocked": "budget"},
         "to 'do': 1st of 2 edges, 'satisfied', as the verdict is satisfied; the budget of the cast was used up"),  # noqa: E501
        ({"kind": "exit", "to": "count", "when": "satisfied", "edge": None}, {"verdict": True},
         "to 'count': an exit of loop 'chores', whose list is used up, and the verdict is satisfied"),
        ({"kind": "done", "to": "end", "when": "always", "edge": None}, {"usedUp": True},
         "to 'end': the list of loop 'chores' is used up"),
        ({"kind": "end", "to": "end", "when": "always", "edge": None}, {},
         "to 'end': none of its edges asks for a verdict like this one, none"),
        ({"kind": "new", "to": "x"}, {}, "to 'x' (new)"),
        ({}, {}, "to 'None' (None)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("machine", [MACHINE, None], ids=["", "no machine"])
def test_why_control_went_where_it_went(
    shed: Shed, machine: Json | None, route: Json, more: Json, words: str
) -> None:
    told = finished(LOOK, **{**more, "route": route})
    shed.cast(ID, STARTED, ("socket_started", LOOK), told, machine=machine)
    [visit] = shed.look("inspect", "--json").data["visits"]
    assert machine is None or visit["why"].removesuffix(", and it was not taken") == words
    assert visit["why"].startswith(words[:6])
    assert visit["why"].endswith("not taken") == ("blocked" in more)


def test_the_same_visit_of_two_streams(shed: Shed) -> None:
    one, other = {**DO, "stream": "a"}, {**DO, "stream": "b"}
    shed.cast(ID, STARTED, ("socket_started", one), ("socket_started", other), finished(other), finished(one))
    shown = shed.look("inspect", "--socket", "do", "--visit", "1").out
    assert re.findall(r"^visit +(\[.\])", shown, re.MULTILINE) == ["[a]", "[b]"]


def test_rebuilding(tmp_path: Path, worked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["cp", "-r", f"{worked}/.materia", str(tmp_path)], check=True)
    shed = Shed(tmp_path, capsys)
    [folder] = shed.root.iterdir()
    before = state_of(folder)
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    (folder / "usage.json").unlink()
    shown = shed.look("inspect", folder.name[:8], "--rebuild")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == ("manifest.json: it lacked 'castId', 'entries'\nusage.json: it was missing\n")
    assert {name: state[2] for name, state in state_of(folder).items()} == {
        name: state[2] for name, state in before.items()
    }
    assert [part["differed"] for part in shed.look("inspect", "--rebuild", "--json").data["rebuilt"]] == [
        None
    ] * 2


def test_nothing_is_rebuilt_while_somebody_writes(shed: Shed) -> None:
    folder = shed.cast(ID, STARTED)
    with held(folder / "events.jsonl", ("cast_resumed", {"pid": "own"})) as other:
        before = state_of(folder)
        shown = shed.look("inspect", "--rebuild")
        assert (shown.code, shown.out) == (1, "")
        assert f"is being written by process {other.process.pid} on " in shown.err
        assert state_of(folder) == before


# all of them

LOOKING = [
    pytest.param(words, id=" ".join(words))
    for words in (
        ["casts"],
        ["casts", "--json"],
        ["status"],
        ["status", "--json"],
        ["inspect"],
        ["inspect", "--json"],
        ["inspect", "--socket", "do"],
        ["inspect", "--socket", "do", "--json"],
        ["tail"],
        ["tail", "--json"],
        ["tail", "-f"],
    )
]


@pytest.mark.parametrize("words", LOOKING)
def test_looking_changes_nothing_and_takes_no_lock(
    tidy: Shed, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise AssertionError

    before = state_of(tidy.folder)
    for path in (tidy.root, *tidy.root.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    read_only = state_of(tidy.folder)
    monkeypatch.setattr(fcntl, "flock", locked)
    try:
        shown = tidy.look(*words)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out
        assert state_of(tidy.folder) == read_only
    finally:
        for name, (mode, _, _) in before.items():
            Path(name).chmod(mode & 0o777)


@pytest.mark.parametrize(
    "line",
    [
        "casts",
        "status --json",
        "inspect",
        "inspect --socket do",
        "inspect --socket do --json",
        "tail",
        "tail --json",
    ],
)
def test_what_is_shown_does_nothing_to_a_terminal(shed: Shed, line: str) -> None:
    evil = {**place("do", 1, EVIL), "itemLabel": EVIL, "materia": EVIL}
    other = place(EVIL, 1, stream=EVIL)
    failure = {"kind": EVIL, "message": EVIL, "socket": EVIL, "visit": 1, "item": EVIL}
    folder = shed.cast(
        ID,
        began(request=EVIL, loadout=EVIL, agent=EVIL, castId=EVIL),
        ("socket_started", other),
        ("socket_finished", {**other, "verdict": None, "blocked": EVIL, "route": edge(EVIL, EVIL)}),
        ("event", {**evil, "event": {"type": EVIL, "message": EVIL}}),
        ("socket_started", evil),
        turn(evil, model=EVIL, session=EVIL, stop=EVIL, error=EVIL),
        ("answer_shown", {**evil, "text": EVIL, "length": 99, "file": EVIL}),
        ("person_said", {**evil, "turn": 2, "file": EVIL}),
        ("socket_failed", {**evil, "failure": failure, "files": [{"kind": EVIL, "file": "x.md"}]}),
        ("cast_resumed", {"pid": EVIL, "host": EVIL, "agent": EVIL}),
        ("streams_finished", {"socket": EVIL, "streams": [{"name": EVIL, "status": EVIL}]}),
        ended("failed", failure=failure),
    )  # fmt: skip
    (folder / "x.md").write_text(EVIL, encoding="utf-8")
    shown = shed.at_terminal(*line.split())
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    assert "a fault of materiac" not in plain
    assert not set(plain) & set("\x1b\x9b\u202e\x07\r")
    assert shown.count("\x1b[31m") == 0


@pytest.mark.parametrize("words", LOOKING)
def test_records_of_another_version(shed: Shed, words: list[str]) -> None:
    kinds = (
        "socket_started", "turn_finished", "command_finished", "person_said", "socket_restarted",
        "answer_shown", "event", "handoff_field_dropped", "state_field_dropped", "output_cut",
        "budget_warning", "loop_skipped", "socket_finished", "socket_failed", "socket_waits",
        "streams_started", "streams_resumed", "stream_started", "stream_finished", "streams_finished",
        "cast_resumed", "something_new", "cast_finished",
    )  # fmt: skip
    where = {"socket": "do", "visit": 1}
    bare: list[Told] = [(kind, {}) for kind in kinds]
    shed.cast(ID, ("cast_started", {}), ("socket_started", where), *((kind, where) for kind in kinds), *bare)
    shown = shed.look(*words)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out
