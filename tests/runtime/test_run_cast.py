"""A cast as a whole: its files, the order in its journal, and how these agree with each other."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
from samples import FEATURES, Json, answers, cast, compiled, loadout, order, socket, working

from materiac import __version__
from materiac.agents.nobody import Nobody
from materiac.agents.protocol import AgentError, Reply, Request
from materiac.program import image_data, image_from_data
from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.journal import Record, read
from materiac.runtime.run import Result, run

ITEMS = [{"title": f"T{n}", "context": f"c{n}"} for n in (1, 2)]
CONFIG = working(materia={"Count": {"utility": "echo", "params": {"output": "n"}}})
CONFIG["loadouts"]["L"]["sockets"]["tell"]["edges"] = [{"to": "count"}]
CONFIG["loadouts"]["L"]["sockets"]["count"] = {"materia": "Count"}


def answer(value: Json, cost: float = 0.1) -> Json:
    return {"json": value, "usage": {"input": 10, "output": 2, "cacheRead": 3, "cost": cost}}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Two items; the first comes back once, and one answer is repaired."""
    agent = answers(
        plan=answer({"workItems": ITEMS}),
        build=["one", "two"],
        check=[
            "no object",
            answer({"satisfied": False, "context": "Not yet.", "odd": 1}),
            answer({"satisfied": True, "event": [{"type": "a.b"}]}),
            answer({"satisfied": True}),
        ],
        tell="told",
    )
    return cast(CONFIG, tmp_path_factory.mktemp("cast"), agent, resolved={"as": "merged"})


def journal(result: Result) -> list[Record]:
    return list(read(result.folder / "events.jsonl").records)


def load(result: Result, name: str) -> Any:
    return json.loads((result.folder / name).read_bytes())


def test_the_way_it_went(done: Result) -> None:
    path = ["plan", "build", "check", "build", "check", "build", "check", "tell", "count"]
    assert (done.status, done.cast.failure, done.cast.path) == ("complete", None, path)
    assert done.cast.items == [None, *("WI-1",) * 4, *("WI-2",) * 2, None, None]
    assert done.cast.traversals["check->build"] == 2


def test_the_files_that_every_cast_has(done: Result) -> None:
    names = {path.name for path in done.folder.iterdir()}
    assert names == {
        *("config.resolved.json", "machine.json", "events.jsonl", "manifest.json", "usage.json"),
        *("contexts", "sockets"),
    }
    assert load(done, "config.resolved.json") == {"as": "merged"}
    assert image_from_data(load(done, "machine.json")) == compiled(CONFIG)
    assert load(done, "machine.json") == image_data(compiled(CONFIG))


def test_every_json_file_is_json(done: Result) -> None:
    files = [path for path in done.folder.rglob("*.json") if path.is_file()]
    assert len(files) == 10
    for path in files:
        json.loads(path.read_bytes())


def test_the_files_of_visits(done: Result) -> None:
    tops = (done.folder / "contexts", done.folder / "sockets")
    found = {str(path.relative_to(done.folder)) for top in tops for path in top.rglob("*") if path.is_file()}
    assert found == {
        *(f"contexts/{name}.md" for name in ("plan/1", "build/1", "build/2", "build/3", "tell/1")),
        *(f"contexts/check/{name}.md" for name in ("1", "1.repair-1", "2", "3")),
        *(f"sockets/{name}.md" for name in ("plan/1", "build/1", "build/2", "build/3", "tell/1", "count/1")),
        *(f"sockets/check/{name}.md" for name in ("1", "1.repair-1", "2", "3")),
        *(f"sockets/{name}.json" for name in ("plan/1", "check/1", "check/2", "check/3")),
        *(
            f"sockets/count/1{suffix}"
            for suffix in (".stdin.json", ".command.json", ".stdout.txt", ".stderr.txt")
        ),
    }


def listed(result: Result) -> list[Json]:
    entries: list[Json] = load(result, "manifest.json")["entries"]
    return entries


def check_manifest(result: Result) -> None:
    """Every file below `contexts` and `sockets` is in the manifest, once, with its hash and its size."""
    found = {}
    for top in ("contexts", "sockets"):
        for path in (result.folder / top).rglob("*"):
            if path.is_file():
                raw = path.read_bytes()
                found[str(path.relative_to(result.folder))] = (hashlib.sha256(raw).hexdigest(), len(raw))
    entries = {entry["file"]: (entry["sha256"], entry["bytes"]) for entry in listed(result)}
    assert entries == found
    assert len(listed(result)) == len(found)


def test_the_manifest_lists_every_file(done: Result) -> None:
    check_manifest(done)
    assert load(done, "manifest.json")["castId"] == done.folder.name
    entry = next(part for part in listed(done) if part["file"] == "sockets/check/2.json")
    assert {key: entry[key] for key in ("socket", "materia", "itemKey", "itemLabel", "visit", "kind")} == {
        "socket": "check",
        "materia": "Agent",
        "itemKey": "WI-1",
        "itemLabel": "T1",
        "visit": 2,
        "kind": "parsed",
    }


def test_the_journal_begins_and_ends(done: Result) -> None:
    records = journal(done)
    first, last = records[0], records[-1]
    assert (first.type, last.type) == ("cast_started", "cast_finished")
    assert first.fields == {
        "format": 1,
        "pid": os.getpid(),
        "host": gethostname(),
        "source": None,
        "castId": done.folder.name,
        "loadout": "L",
        "hash": compiled(CONFIG).program.digest(),
        "request": "a request",
        "cwd": str(done.cast.bench.cwd),
        "agent": "scripted:here",
        "version": __version__,
    }
    assert (last.fields["status"], last.fields["failure"]) == ("complete", None)


def test_the_journal_is_in_order(done: Result) -> None:
    """A visit is started before anything of it is there, and finished before the next one starts."""
    visit: tuple[str, int] | None = None
    seen = []
    for record in journal(done):
        place = (record.fields.get("socket"), record.fields.get("visit"))
        if record.type == "socket_started":
            assert visit is None
            visit = (record.fields["socket"], record.fields["visit"])
            seen.append(record.fields["socket"])
        elif record.type == "socket_finished":
            assert place == visit
            visit = None
        elif record.type not in ("cast_started", "cast_finished"):
            assert place == visit
    assert visit is None
    assert seen == done.cast.path


def test_a_visit_is_started_before_its_files_are_there(tmp_path: Path) -> None:
    """A reader of the stream sees each record when nothing of what follows is on the disk yet."""
    before: list[tuple[str, int]] = []

    class Looker:
        def __call__(self, record: Record) -> None:
            if record.type == "socket_started":
                (folder,) = (tmp_path / "casts").iterdir()
                name, visit = record.fields["socket"], record.fields["visit"]
                found = list(folder.glob(f"*/{name}/{visit}.*"))
                before.append((name, len(found)))

    cast(CONFIG, tmp_path, answers(plan={"workItems": []}), watchers=[Looker()])
    assert before == [("plan", 0), ("tell", 0), ("count", 0)]


def test_what_the_journal_says_of_routes(done: Result) -> None:
    finished = [record.fields for record in journal(done) if record.type == "socket_finished"]
    routes = [
        (part["socket"], part["verdict"], part["route"]["kind"], part["route"]["to"]) for part in finished
    ]
    assert routes == [
        ("plan", None, "edge", "build"),
        ("build", None, "edge", "check"),
        ("check", False, "edge", "build"),
        ("build", None, "edge", "check"),
        ("check", True, "edge", "build"),
        ("build", None, "edge", "check"),
        ("check", True, "exit", "tell"),
        ("tell", None, "edge", "count"),
        ("count", None, "end", "end"),
    ]


def test_dropped_fields_and_events_are_in_the_journal(done: Result) -> None:
    told = {record.type: record.fields for record in journal(done)}
    assert told["handoff_field_dropped"]["fields"] == ["odd"]
    assert told["event"]["event"] == {"type": "a.b"}
    assert done.cast.knowledge.state["envelope"].keys() == {"workItems", "satisfied", "context"}


def test_usage_adds_up(done: Result) -> None:
    usage = load(done, "usage.json")
    assert usage == json.loads(json.dumps(done.usage))
    sums = ("input", "output", "cacheRead", "cacheWrite", "turns", "unknown")
    for group in ("byMateria", "bySocket", "byAttempt"):
        for key in sums:
            assert sum(part[key] for part in usage[group].values()) == usage["total"][key], (group, key)
    assert usage["total"]["turns"] == len(usage["turns"]) == 9
    assert (usage["total"]["input"], usage["total"]["cost"]) == (40, 0.4)
    assert {key: part["turns"] for key, part in usage["byItem"].items()} == {"WI-1": 5, "WI-2": 2}
    turns = [record.fields for record in journal(done) if record.type == "turn_finished"]
    assert [(turn["socket"], turn["visit"], turn["turn"]) for turn in turns] == [
        (turn["socket"], turn["visit"], turn["turn"]) for turn in usage["turns"]
    ]


def test_the_result(done: Result) -> None:
    data = done.as_data()
    assert json.loads(json.dumps(data)) == data
    assert data.keys() >= {
        *("castId", "status", "failure", "path", "items", "visits", "traversals", "cursors", "data", "usage"),
        "artifacts",
    }
    assert (data["castId"], data["artifacts"]) == (done.folder.name, str(done.folder))
    assert data["visits"] == {"plan": 1, "build": 3, "check": 3, "tell": 1, "count": 1}
    assert data["cursors"] == {"workItemIndex": 2}
    assert data["data"]["workItems"] == ITEMS


def test_nobody_else_may_look(done: Result) -> None:
    paths = [done.folder, *done.folder.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths} == {0}


AGAIN: Json = {"parse": "json", "edges": [{"when": "satisfied", "to": "a"}]}


@pytest.mark.parametrize(
    ("config", "agent", "kind"),
    [
        pytest.param(working(), answers(plan={"error": "overloaded"}), "agent", id="agent"),
        pytest.param(working(), answers(plan="no"), "output", id="output"),
        pytest.param(
            working(), answers(plan={"workItems": ITEMS}, check={"satisfied": False}), "edge-limit", id="edge"
        ),
        pytest.param(
            loadout({"a": socket(**AGAIN, limits={"maxVisits": 2})}),
            answers(a={"satisfied": True}),
            "visit-limit",
            id="visits",
        ),
        pytest.param(
            loadout({"a": socket(**AGAIN)}), answers(a={"satisfied": True}), "stalled", id="stalled"
        ),
        pytest.param(
            loadout({"a": {"materia": "U"}}, materia={"U": {"command": ["false"]}}),
            answers(),
            "utility-exit",
            id="utility",
        ),
    ],
)
def test_a_cast_that_fails(config: Json, agent: Any, kind: str, tmp_path: Path) -> None:
    result = cast(config, tmp_path, agent)
    assert result.status == "failed"
    assert result.cast.failure is not None
    assert result.cast.failure["kind"] == kind
    *_, failed, last = journal(result)
    assert (failed.type, failed.fields["failure"]) == ("socket_failed", result.cast.failure)
    assert (last.type, last.fields["status"], last.fields["failure"]) == (
        "cast_finished",
        "failed",
        result.cast.failure,
    )
    check_manifest(result)


@pytest.mark.parametrize(
    ("limits", "kind"), [({}, "stalled"), ({"limits": {"maxVisits": 2}}, "visit-limit")], ids=str
)
def test_a_failure_before_a_visit_names_the_item(limits: Json, kind: str, tmp_path: Path) -> None:
    again = [{"when": "satisfied", "to": "build"}, {"when": "not_satisfied", "to": "build"}]
    config = working(check={"edges": again})
    next(iter(config["loadouts"].values()))["sockets"]["build"] |= limits
    result = cast(config, tmp_path, answers(plan={"workItems": ITEMS}, check={"satisfied": False}))
    assert result.cast.failure is not None
    place = {key: result.cast.failure[key] for key in ("kind", "socket", "visit", "item")}
    assert place == {"kind": kind, "socket": "build", "visit": None, "item": "WI-1"}


class Interrupted:
    """An agent that is interrupted by the person in its second turn."""

    spec = "interrupted"

    def __init__(self) -> None:
        self.turns = self.closed = 0

    def turn(self, request: Request) -> Reply:
        self.turns += 1
        if self.turns == 2:
            raise KeyboardInterrupt
        return Reply(f"answer {request.socket}")

    def close(self) -> None:
        self.closed += 1


def test_stopped_by_a_person(tmp_path: Path) -> None:
    agent = Interrupted()
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket(edges=[{"to": "c"}]), "c": socket()})
    result = cast(config, tmp_path, agent)
    assert (result.status, result.cast.failure, result.cast.path) == ("stopped", None, ["a", "b"])
    assert agent.closed >= 1
    *_, started, last = journal(result)
    assert (started.type, started.fields["socket"]) == ("socket_started", "b")
    assert (last.type, last.fields["status"]) == ("cast_finished", "stopped")


def test_stopped_while_a_utility_runs(tmp_path: Path) -> None:
    """The command is ended with all that it started, and the journal says that the cast was stopped."""
    config = loadout(
        {"a": {"materia": "U"}},
        materia={
            "U": {"command": ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60"], "timeoutMs": 50_000}
        },
    )
    pid = tmp_path / "pid"

    def interrupt() -> None:
        while not pid.is_file() or not pid.read_text():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = cast(config, tmp_path, Nobody())
    thread.join()
    assert result.status == "stopped"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_cast_that_waits(tmp_path: Path) -> None:
    config = working(budget={"maxTokens": 5, "stopAtLimit": False})
    result = cast(config, tmp_path, answers(plan=answer({"workItems": ITEMS})))
    assert (result.status, result.cast.path, result.cast.failure) == ("waiting", ["plan"], None)
    assert result.as_data()["waiting"] == (
        "12 tokens have been used, the budget is 5 tokens: the cast waits for a higher limit"
    )
    assert journal(result)[-1].fields["status"] == "waiting"


def test_the_budget_does_not_matter_at_the_end(tmp_path: Path) -> None:
    config = working(budget={"maxTokens": 5})
    config["loadouts"]["L"]["loops"]["work"]["exits"][0]["targetSocketId"] = "end"
    del config["loadouts"]["L"]["sockets"]["tell"]
    result = cast(config, tmp_path, answers(plan=answer({"workItems": []})))
    assert (result.status, result.cast.path) == ("complete", ["plan"])


def test_one_warning_of_the_budget(tmp_path: Path) -> None:
    config = working(budget={"maxTokens": 70, "warnAtPercent": 20})
    agent = answers(plan=answer({"workItems": ITEMS}), check=answer({"satisfied": True}))
    result = cast(config, tmp_path, agent)
    warnings = [record for record in journal(result) if record.type == "budget_warning"]
    assert (result.status, len(warnings)) == ("complete", 1)
    assert warnings[0].fields["socket"] == "check"


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "casts").write_text("a file", encoding="utf-8")
    with pytest.raises(ArtifactError, match=r"casts"):
        cast(FEATURES["hello"], tmp_path, answers())


def test_a_watcher_that_fails_breaks_nothing(tmp_path: Path) -> None:
    def watcher(_: Record) -> None:
        raise AgentError("no")

    assert cast(FEATURES["hello"], tmp_path, answers(), watchers=[watcher]).status == "complete"


def test_casts_do_not_collide(tmp_path: Path) -> None:
    made = order(compiled(FEATURES["hello"]), tmp_path, answers())
    folders = [run(made).folder for _ in range(5)]
    assert sorted(folders) == folders
    assert len(set(folders)) == 5


def test_the_same_cast_in_a_process_of_its_own(tmp_path: Path) -> None:
    """What is decided does not depend on the seed of hashes."""
    script = {"sockets": {"plan": {"json": {"workItems": ITEMS}}, "check": {"json": {"satisfied": True}}}}
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    (tmp_path / "loadout.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    words = [sys.executable, "-m", "materiac", "run", "loadout.json", "--request", "r", "--json"]
    outcomes = []
    for seed in ("1", "2"):
        finished = subprocess.run(
            [*words, "--agent", "scripted:script.json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "HOME": str(tmp_path)},
            capture_output=True,
            check=True,
        )
        data = json.loads(finished.stdout)
        outcomes.append(
            {key: data[key] for key in ("status", "path", "items", "visits", "traversals", "data")}
        )
        machine = json.loads((Path(data["artifacts"]) / "machine.json").read_bytes())
        outcomes[-1]["machine"] = machine
    assert outcomes[0] == outcomes[1]
    assert outcomes[0]["status"] == "complete"
