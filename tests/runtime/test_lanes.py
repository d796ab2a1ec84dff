"""Streams of a parallel generator: run for real, with scripted agents and small programs as utilities."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from samples import Json, answers, cast, compiled, loadout, order, socket

from materiac.agents.protocol import Reply, Request
from materiac.program import image_data, image_from_data
from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.journal import read
from materiac.runtime.run import Result, run

STEP: Json = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
YES, NO = {"satisfied": True}, {"satisfied": False, "context": "not yet"}
SAFE = {"prompt": "Do {{item.title}}.", "parallelSafe": True}


def python(code: str, *arguments: str) -> Json:
    return {"command": [sys.executable, "-c", code, *arguments], "parallelSafe": True}


def parallel(*, prelude: Json | None = None, exit_to: str = "integrate", **change: Any) -> Json:
    """`plan`, perhaps `spawn`, then in streams `build` and `keep`, then `integrate`."""
    keep = {
        "materia": "Safe",
        "parse": "json",
        "advance": STEP,
        "edges": [
            {"when": "satisfied", "to": "build"},
            {"when": "not_satisfied", "to": "build", "maxTraversals": 2},
        ],
    }
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "spawn" if prelude else "build"}]},
        **({"spawn": {"materia": "Spawn", "edges": [{"to": "build"}], "parse": "json"}} if prelude else {}),
        "build": {"materia": "Build" if "build" in change else "Safe", "edges": [{"to": "keep"}]},
        "keep": {**keep, **change.pop("keep", {})},
        "integrate": socket(),
    }
    sockets["build"] |= change.pop("at_build", {})
    work: Json = {"sockets": ["build", "keep"], "consumes": {"from": "plan"}}
    work["exits"] = [{"from": "keep", "condition": "satisfied", "targetSocketId": exit_to}]
    work["parallel"] = {"maxConcurrency": change.pop("width", 2)}
    materia = {"Plan": {"prompt": "Plan.", "generator": True, "parallel": True}, "Safe": SAFE}
    materia |= {"Spawn": prelude} if prelude else {}
    materia |= {"Build": change.pop("build")} if "build" in change else {}
    sockets |= change.pop("more", {})
    return loadout(sockets, loops={"work": work}, materia=materia, **change)


def plan(**streams: Sequence[int]) -> Json:
    """The answer of a planner; items are numbered from 0."""
    count = sum(map(len, streams.values()))
    return {
        "workItems": [{"title": f"T{n}", "context": f"c{n}"} for n in range(count)],
        "parallelSchedule": {
            "version": 1,
            "streams": [{"name": name, "workItemIndexes": list(part)} for name, part in streams.items()],
        },
    }


def records(result: Result, *kinds: str) -> list[Json]:
    found = read(result.folder / "events.jsonl").records
    return [{"type": one.type, **one.fields} for one in found if not kinds or one.type in kinds]


def fan_in(result: Result) -> Any:
    return result.cast.knowledge.state["parallelFanIn"]


def walked(result: Result) -> list[str]:
    """Each visit as stream, socket and item."""
    return [
        " ".join(str(one[key]) for key in ("stream", "socket", "itemKey") if one.get(key))
        for one in records(result, "socket_started")
    ]


def test_one_at_a_time(tmp_path: Path) -> None:
    """With one stream at a time they run in the order of the plan, each through its own items."""
    config = parallel(width=1, exit_to="integrate")
    agent = answers(plan=plan(a=[2, 0], b=[1]), build="built", keep=YES, integrate="done")
    result = cast(config, tmp_path, agent)
    assert (result.status, result.cast.failure) == ("complete", None)
    assert walked(result) == [
        "plan",
        *("a build WI-3", "a keep WI-3", "a build WI-1", "a keep WI-1"),
        *("b build WI-2", "b keep WI-2"),
        "integrate",
    ]
    assert result.cast.path == ["plan", *("build", "keep") * 3, "integrate"]
    assert result.cast.items == [None, *("WI-3",) * 2, *("WI-1",) * 2, *("WI-2",) * 2, None]
    assert result.cast.visits == {"plan": 1, "build": 3, "keep": 3, "integrate": 1}
    assert result.cast.traversals == {"plan->build": 1, "build->keep": 3, "keep->build": 1}


def test_what_is_left(tmp_path: Path) -> None:
    """Of the state of a stream nothing is left but the last output of each item."""
    assign = {"assign": {"mine": "$.context", "seen": "item.title"}}
    yes = {"satisfied": True, "context": "fine", "text": "for the person"}
    agent = answers(plan=plan(b=[1], a=[0]), keep=yes)
    result = cast(parallel(keep=assign), tmp_path, agent)
    kept = {"satisfied": True, "context": "fine"}
    assert fan_in(result) == [
        {
            "name": "b",
            "status": "complete",
            "outputs": [{"item": "WI-2", "label": "T1", "socket": "keep", "output": kept}],
        },
        {
            "name": "a",
            "status": "complete",
            "outputs": [{"item": "WI-1", "label": "T0", "socket": "keep", "output": kept}],
        },
    ]
    assert result.cast.knowledge.state.keys() == {"envelope", "workItems", "parallelFanIn"}
    prompt = (result.folder / "contexts" / "integrate" / "1.md").read_text(encoding="utf-8")
    assert "parallelFanIn" in prompt


def test_an_output_that_is_left_is_bounded(tmp_path: Path) -> None:
    agent = answers(plan=plan(a=[0]), keep={"satisfied": True, "context": "long " * 1000})
    (stream,) = fan_in(cast(parallel(), tmp_path, agent))
    (kept,) = stream["outputs"]
    assert len(kept["output"]) == 900
    assert kept["output"].startswith('{"satisfied":true,"context":"long ')


MEET = (
    "import json, sys, time, pathlib; got = json.load(sys.stdin); "
    "pathlib.Path(got['stream']).touch(); other = pathlib.Path({'a': 'b', 'b': 'a'}[got['stream']])\n"
    "until = time.monotonic() + 20\n"
    "while not other.exists() and time.monotonic() < until: time.sleep(0.01)\n"
    "print(json.dumps({'satisfied': other.exists(), 'state': {'mine': got['stream']}}))"
)


def test_side_by_side(tmp_path: Path) -> None:
    """Each stream waits in its prelude for what the other one writes."""
    config = parallel(prelude=python(MEET))
    agent = answers(plan=plan(a=[0], b=[1]), keep=YES)
    result = cast(config, tmp_path, agent)
    assert result.status == "complete"
    stages = [f"{one['type']} {one['stream']}" for one in records(result) if one.get("socket") == "spawn"]
    assert set(stages[:2]) == {"socket_started a", "socket_started b"}
    assert set(stages[2:]) == {f"{kind}_finished {name}" for kind in ("command", "socket") for name in "ab"}
    assert "mine" not in result.cast.knowledge.state
    prompts = {
        name: (result.folder / "streams" / name / "contexts" / "build" / "1.md").read_text(encoding="utf-8")
        for name in "ab"
    }
    assert '"mine": "a"' in prompts["a"]
    assert '"mine": "b"' in prompts["b"]


def test_files_of_streams(tmp_path: Path) -> None:
    agent = answers(plan=plan(a=[0], A=[1]), keep=[NO, YES])
    config = parallel(width=1)
    result = cast(config, tmp_path, agent)
    assert result.status == "complete"
    first, second = sorted(path.name for path in (result.folder / "streams").iterdir())
    assert {first.partition("~")[0], second} == {"A", "a"}
    assert sorted(path.name for path in (result.folder / "streams" / "a" / "sockets" / "keep").iterdir()) == [
        *("1.json", "1.md", "2.json", "2.md")
    ]
    entries = json.loads((result.folder / "manifest.json").read_bytes())["entries"]
    of_streams = {(one["stream"], one["file"].split("/")[1]) for one in entries if "stream" in one}
    assert of_streams == {("a", "a"), ("A", first)}
    assert all(one["file"].startswith("streams/") == ("stream" in one) for one in entries)


def test_a_second_plan_with_the_same_names(tmp_path: Path) -> None:
    """The files of the first plan's streams stay."""
    again = socket(
        parse="json", edges=[{"when": "not_satisfied", "to": "plan"}, {"when": "satisfied", "to": "tell"}]
    )
    config = parallel(more={"integrate": again, "tell": socket()})
    agent = answers(plan=plan(a=[0]), keep=YES, integrate=[NO, YES])
    result = cast(config, tmp_path, agent)
    assert result.status == "complete"
    folder = result.folder / "streams" / "a" / "contexts" / "build"
    assert sorted(path.name for path in folder.iterdir()) == ["1.md", "2.md"]


@pytest.mark.parametrize("exit_to", ["integrate", "end"])
def test_a_plan_without_streams(tmp_path: Path, exit_to: str) -> None:
    more: Json = {"integrate": socket()} if exit_to != "end" else {}
    result = cast(parallel(exit_to=exit_to, more=more), tmp_path, answers(plan=plan()))
    assert result.status == "complete"
    assert result.cast.path == ["plan", *(["integrate"] if exit_to != "end" else [])]
    assert fan_in(result) == []


def test_on_to_the_end(tmp_path: Path) -> None:
    result = cast(parallel(exit_to="end"), tmp_path, answers(plan=plan(a=[0], b=[1]), keep=YES))
    assert (result.status, result.cast.path[-1]) == ("complete", "keep")


def test_rework_is_counted_in_its_stream(tmp_path: Path) -> None:
    """Each item has its budget; the third time fails its stream alone, and the other one ends."""
    agent = answers(plan=plan(a=[0], b=[1]), keep=[NO, NO, NO, NO, NO, YES])
    result = cast(parallel(width=1), tmp_path, agent)
    assert walked(result) == [
        "plan",
        *("a build WI-1", "a keep WI-1") * 3,
        *("b build WI-2", "b keep WI-2") * 3,
    ]
    message = (
        "1 of 2 streams failed: 'a' at 'keep', visit 3, WI-1: edge-limit: the not_satisfied edge of 'keep' "
        "to 'build' would be taken 3 times for WI-1 ('T0'), its limit is 2"
    )
    failed = {"kind": "stream", "message": message, "socket": "keep", "visit": 3, "item": "WI-1"}
    assert (result.status, result.cast.failure) == ("failed", failed)
    assert [(one["name"], one["status"], len(one["outputs"])) for one in fan_in(result)] == [
        ("a", "failed", 0),
        ("b", "complete", 1),
    ]


def test_the_reason_of_rework_stays_in_its_stream(tmp_path: Path) -> None:
    agent = answers(plan=plan(a=[0], b=[1]), keep=[NO, YES])
    result = cast(parallel(width=1), tmp_path, agent)
    streams = result.folder / "streams"
    assert "not yet" in (streams / "a" / "contexts" / "build" / "2.md").read_text(encoding="utf-8")
    assert "not yet" not in (streams / "b" / "contexts" / "build" / "1.md").read_text(encoding="utf-8")


FAIL = "import json, sys; sys.exit(3 if json.load(sys.stdin)['stream'] == 'b' else 0)"


def test_a_stream_fails_and_the_others_end(tmp_path: Path) -> None:
    config = parallel(build=python(FAIL), width=3)
    result = cast(config, tmp_path, answers(plan=plan(a=[0], b=[1, 2], c=[3]), keep=YES))
    failure = result.cast.failure
    assert failure is not None
    assert (failure["kind"], failure["socket"], failure["visit"]) == ("stream", "build", 1)
    assert failure["item"] == "WI-2"
    assert failure["message"].startswith(
        "1 of 3 streams failed: 'b' at 'build', visit 1, WI-2: utility-exit: "
    )
    assert [one["status"] for one in fan_in(result)] == ["complete", "failed", "complete"]
    assert "integrate" not in result.cast.path
    ended = {one["stream"]: one["status"] for one in records(result, "stream_finished")}
    assert ended == {"a": "complete", "b": "failed", "c": "complete"}


@pytest.mark.parametrize(
    ("edges", "to"),
    [
        pytest.param([{"when": "satisfied", "to": "build"}], "end", id="no edge holds"),
        pytest.param(
            [{"when": "satisfied", "to": "build"}, {"when": "not_satisfied", "to": "integrate"}],
            "integrate",
            id="an edge",
        ),
    ],
)
def test_a_stream_that_leaves_its_loop(tmp_path: Path, edges: list[Json], to: str) -> None:
    result = cast(parallel(keep={"edges": edges}), tmp_path, answers(plan=plan(a=[0]), keep=NO))
    failure = result.cast.failure
    assert failure is not None
    assert failure["message"] == (
        f"1 of 1 streams failed: 'a' at 'keep', visit 1, WI-1: stream: 'keep' leaves loop 'work' for '{to}' "
        "before its list is used up"
    )


def test_a_stream_whose_list_is_replaced(tmp_path: Path) -> None:
    spawn = {"utility": "echo", "params": {"output": {"rows": []}}, "assign": {"workItems": "$.rows"}}
    config = parallel(prelude={**spawn, "parallelSafe": True})
    result = cast(config, tmp_path, answers(plan=plan(a=[0])))
    assert result.cast.failure is not None
    assert "finds no item in loop 'work'" in result.cast.failure["message"]


def test_a_stalled_stream(tmp_path: Path) -> None:
    keep = {"edges": [{"to": "build"}]}
    result = cast(parallel(keep=keep), tmp_path, answers(plan=plan(a=[0]), keep=NO))
    assert result.cast.failure is not None
    assert "'a' at 'build', WI-1: stalled: " in result.cast.failure["message"]


def test_a_limit_of_visits_is_of_the_whole_cast(tmp_path: Path) -> None:
    config = parallel(at_build={"limits": {"maxVisits": 2}}, width=1)
    result = cast(config, tmp_path, answers(plan=plan(a=[0, 1], b=[2]), keep=YES))
    assert [one["status"] for one in fan_in(result)] == ["complete", "failed"]
    assert result.cast.visits["build"] == 2


def spending(text: str) -> Json:
    return {"text": text, "usage": {"input": 10, "output": 0}}


@pytest.mark.parametrize(
    ("limit", "path"),
    [
        pytest.param(10, ["plan", "build"], id="between the visits of a stream"),
        pytest.param(20, ["plan", "build", "keep", "build"], id="before a stream begins"),
        pytest.param(30, ["plan", *("build", "keep") * 2, "build"], id="in the last stream"),
        pytest.param(40, ["plan", *("build", "keep") * 3, "integrate"], id="never"),
    ],
)
@pytest.mark.parametrize("stop", [True, False], ids=["failed", "waiting"])
def test_the_budget_is_that_of_the_cast(tmp_path: Path, limit: int, path: list[str], *, stop: bool) -> None:
    config = parallel(width=1, budget={"maxTokens": limit, "stopAtLimit": stop})
    agent = answers(plan=plan(a=[0], b=[1], c=[2]), build=spending("built"), keep=YES)
    result = cast(config, tmp_path, agent)
    assert result.cast.path == path
    if "integrate" in path:
        assert result.status == "complete"
    elif stop:
        assert result.cast.failure is not None
        assert result.cast.failure["kind"] == "budget"
    else:
        assert (result.status, result.cast.failure) == ("waiting", None)
        words = f"{limit} tokens have been used, the budget is {limit} tokens"
        assert result.cast.waits is not None
        assert result.cast.waits.message == f"{words}: the cast waits for a higher limit"
    warnings = records(result, "budget_warning")
    assert len(warnings) == 1


def test_the_budget_behind_the_last_stream(tmp_path: Path) -> None:
    keep = {"text": '{"satisfied": true}', "usage": {"input": 10, "output": 0}}
    config = parallel(budget={"maxTokens": 10})
    result = cast(config, tmp_path, answers(plan=plan(a=[0]), keep=keep))
    assert [one["status"] for one in fan_in(result)] == ["complete"]
    assert result.cast.failure is not None
    assert (result.cast.failure["kind"], result.cast.failure["socket"]) == ("budget", "plan")
    config = parallel(budget={"maxTokens": 10}, exit_to="end", more={})
    assert cast(config, tmp_path, answers(plan=plan(a=[0]), keep=keep)).status == "complete"


def test_the_same_every_time(tmp_path: Path) -> None:
    def told() -> list[Json]:
        agent = answers(plan=plan(a=[1, 3], b=[0], c=[2]), keep=[NO, YES])
        found = records(cast(parallel(width=1), tmp_path, agent))
        return [{k: v for k, v in one.items() if k not in ("castId", "seconds")} for one in found]

    assert told() == told()


def test_no_more_than_allowed_at_a_time(tmp_path: Path) -> None:
    class Counting:
        spec = "counting"

        def __init__(self) -> None:
            self.now = self.most = 0
            self.lock = threading.Lock()

        def turn(self, request: Request) -> Reply:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.02)
            with self.lock:
                self.now -= 1
            asked = {"plan": plan(**{f"s{n}": [n] for n in range(6)}), "keep": YES}
            return Reply(json.dumps(asked.get(request.socket, {})))

        def close(self) -> None:
            pass

    agent = Counting()
    result = cast(parallel(width=3), tmp_path, agent)
    assert result.status == "complete"
    assert agent.most == 3
    assert [one["name"] for one in fan_in(result)] == [f"s{n}" for n in range(6)]


def test_the_default_is_the_limit_of_the_file() -> None:
    config = parallel(parallelism={"maxConcurrency": 5})
    (spec,) = config["loadouts"].values()
    spec["loops"]["work"]["parallel"] = {}
    assert compiled(config).program.regions["plan"].max_concurrency == 5


def test_a_compiled_machine_keeps_its_regions(tmp_path: Path) -> None:
    image = image_from_data(image_data(compiled(parallel(width=1))))
    result = run(order(image, tmp_path, answers(plan=plan(a=[0]), keep=YES)))
    assert result.status == "complete"
    assert [one["name"] for one in fan_in(result)] == ["a"]


def test_what_cannot_be_written_ends_all_streams(tmp_path: Path) -> None:
    """A file stands where the folder of a stream belongs."""
    block = (
        "import json, sys, pathlib; pathlib.Path(json.load(sys.stdin)['runDir'], 'streams').write_text('')"
    )
    plan_it = {"plan": {"materia": "Plan", "edges": [{"to": "build"}]}}
    config = parallel(more={"block": {"materia": "Block", "edges": [{"to": "plan"}]}, **plan_it})
    (spec,) = config["loadouts"].values()
    spec["entry"] = "block"
    config["materia"]["Block"] = python(block)
    before = threading.active_count()
    with pytest.raises(ArtifactError, match="streams"):
        cast(config, tmp_path, answers(plan=plan(a=[0], b=[1]), keep=YES))
    assert threading.active_count() == before


def peer_like() -> Json:
    """Preparing, planning, streams with a prelude and three sockets, integrating, reviewing, telling."""
    sockets = {
        "ignore": {"materia": "Ignore", "edges": [{"to": "detect"}]},
        "detect": {"materia": "Detect", "edges": [{"to": "plan"}]},
        "plan": {"materia": "Plan", "edges": [{"to": "spawn"}]},
        "spawn": {"materia": "Spawn", "edges": [{"to": "build"}]},
        "build": {"materia": "Safe", "edges": [{"to": "evaluate"}]},
        "evaluate": {
            "materia": "Safe",
            "parse": "json",
            "edges": [
                {"when": "satisfied", "to": "keep"},
                {"when": "not_satisfied", "to": "build", "maxTraversals": 3},
            ],
        },
        "keep": {"materia": "Keep", "edges": [{"to": "build"}]},
        "integrate": {"materia": "Integrate", "parse": "json", "edges": [{"to": "review"}]},
        "review": {
            "materia": "Agent",
            "parse": "json",
            "edges": [
                {"when": "satisfied", "to": "narrate"},
                {"when": "not_satisfied", "to": "review", "maxTraversals": 3},
            ],
        },
        "narrate": socket(),
    }
    work = {
        "sockets": ["build", "evaluate", "keep"],
        "consumes": {"from": "plan", "output": "workItems"},
        "exit": {"from": "keep", "when": "satisfied", "to": "integrate"},
    }
    names = "[one['name'] for one in json.load(sys.stdin)['state']['parallelFanIn']]"
    materia = {
        "Ignore": {"utility": "project.ensureIgnored", "params": {"patterns": ["casts/"]}, "parse": "json"},
        "Detect": {"utility": "vcs.detect", "parse": "json"},
        "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
        "Spawn": {"utility": "noop", "parse": "json", "parallelSafe": True},
        "Safe": SAFE,
        "Keep": {"utility": "echo", "params": {"output": YES}, "parse": "json", "parallelSafe": True},
        "Integrate": python(f"import json, sys; print(json.dumps({{'state': {{'joined': {names}}}}}))"),
    }
    return loadout(sockets, loops={"work": work}, materia=materia)


def test_from_planning_to_telling(tmp_path: Path) -> None:
    agent = answers(plan=plan(api=[0, 2], ui=[1]), evaluate=[NO, YES], review=[NO, YES])
    result = cast(peer_like(), tmp_path, agent)
    assert (result.status, result.cast.failure) == ("complete", None)
    assert result.cast.visits["keep"] == 3
    assert result.cast.path[-4:] == ["integrate", "review", "review", "narrate"]
    assert result.cast.knowledge.state["joined"] == ["api", "ui"]
    assert result.as_data()["data"]["parallelFanIn"][0]["outputs"][0]["output"] == YES


SLEEP = (
    "import os, pathlib, sys, json, time; name = json.load(sys.stdin)['stream']; "
    "pathlib.Path(name).write_text(str(os.getpid())); time.sleep(60)"
)


def test_an_interrupt_ends_all_streams(tmp_path: Path) -> None:
    """Both utilities run when the signal comes, and neither is left."""
    config = parallel(prelude=python(SLEEP))
    script = {"sockets": {"plan": {"json": plan(a=[0], b=[1])}}}
    (tmp_path / "loadout.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    words = ["run", "loadout.json", "--request", "r", "--json", "--agent", "scripted:script.json"]
    command = [sys.executable, "-m", "materiac", *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        pids = [_pid(tmp_path / name) for name in "ab"]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 4
    told = json.loads(out)
    assert (told["status"], told["failure"]) == ("stopped", None)
    assert sorted(told["path"]) == ["plan", "spawn", "spawn"]
    assert _gone(pids)


def _pid(file: Path) -> int:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if file.exists() and file.read_text():
            return int(file.read_text())
        time.sleep(0.02)
    pytest.fail(f"'{file}' never came")


def _gone(pids: Sequence[int]) -> bool:
    """Whether none runs any more; what the system has still to collect does not count."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = subprocess.run(
            ["ps", "-o", "stat=", *map(str, pids)], capture_output=True, text=True, check=False
        )
        if all(line.startswith("Z") for line in found.stdout.split()):
            return True
        time.sleep(0.05)
    return False
