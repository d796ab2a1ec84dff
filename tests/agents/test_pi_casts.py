"""Whole casts by the real Pi and a fake model: to their end, killed in the middle, with faults."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_programs import Program, aim, program
from fake_models import (
    CLOSED,
    OVERLOADED,
    SERVER_ERROR,
    Answer,
    Asked,
    Call,
    Cut,
    FakeModels,
    Step,
    rate_limit,
    with_faults,
)
from processes import marked, told, wait_none

from materiac.agents.protocol import Usage
from materiac.runtime.journal import read

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LONG_S = 300.0
GREET, TELL = "feat: add a greeting", "docs: tell of the greeting"
REASON = "greet.txt greets nobody"

Json = dict[str, Any]


class Workshop:
    """A git repository, a fake model, and materiac as a user calls it."""

    def __init__(self, folder: Path, pi: Program, fake: FakeModels) -> None:
        self.home, self.folder = folder / "home", folder / "work"
        self.folder.mkdir()
        self._spec = f"pi:{pi.path}"
        self._environ = aim(pi.name, fake, self.home)
        self._git("init", "--quiet", "--initial-branch=main")
        for name, value in (("user.name", "Bo"), ("user.email", "bo@example.com")):
            self._git("config", name, value)
        (self.folder / "README.md").write_text("# Shed\n", encoding="utf-8")
        self._git("add", "README.md")
        self._git("commit", "--quiet", "--message", "chore: begin")

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Call materiac; it goes on by itself."""
        return subprocess.Popen(
            [sys.executable, "-m", "materiac", *words, "--agent", self._spec, "--json"],
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *words: str, status: str = "complete") -> Json:
        """Call materiac, and give what it prints; it comes to an end in any case."""
        with self.start(*words) as process:
            try:
                out, err = process.communicate(timeout=LONG_S)
            finally:
                process.kill()
        assert out, err
        result: Json = json.loads(out)
        assert result["status"] == status, (result["failure"], err)
        return result

    @property
    def cast(self) -> Path:
        [folder] = (self.folder / ".materia" / "casts").iterdir()
        return folder

    def records(self, kind: str) -> list[Json]:
        journal = read(self.cast / "events.jsonl")
        return [dict(record.fields) for record in journal.records if record.type == kind]

    def commits(self) -> list[str]:
        """The subjects of the commits, the oldest first."""
        return self._git("log", "--reverse", "--format=%s").splitlines()

    def state(self) -> tuple[str, str]:
        """What the repository holds, and what in it is not committed."""
        return self._git("rev-parse", "HEAD^{tree}"), self._git("status", "--porcelain")

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, check=True, capture_output=True, text=True, env=self._environ
        )
        return done.stdout


@contextmanager
def workshop(folder: Path, script: Callable[[Asked], Step]) -> Iterator[tuple[Workshop, FakeModels]]:
    pi = program("pi")
    folder.mkdir(exist_ok=True)
    with FakeModels(script) as fake:
        yield Workshop(folder, pi, fake), fake


def items(*titles: str) -> str:
    return json.dumps({"workItems": [{"title": title, "context": f"so: {title}"} for title in titles]})


def verdict(satisfied: bool, context: str) -> str:
    return json.dumps({"satisfied": satisfied, "context": context})


# Full-Auto


def _build_greeting(asked: Asked) -> Step:
    """Done at the second time, when it is told what was wrong."""
    whom = "world" if REASON in asked.prompt else ""
    look = 'if rm "$HOME/slow" 2> /dev/null; then touch "$HOME/begun"; sleep 600; fi; cat greet.txt'
    steps: list[Step] = [
        Call("write", {"path": "greet.txt", "content": f"hello {whom}\n"}),
        Call("bash", {"command": look}),
        "I wrote greet.txt.",
    ]
    return steps[asked.step]


def _judge_greeting(asked: Asked) -> Step:
    if asked.step == 0:
        return Call("bash", {"command": "cat greet.txt"})
    return verdict(True, "it greets") if "world" in asked.results[0] else verdict(False, REASON)


PLAN = items(GREET, TELL)
CHANGE = {"oldText": "# Shed\n", "newText": "# Shed\n\nIt greets the world.\n"}
BUILD, JUDGE = "Build this work item, all of it, and nothing else", "Judge whether this work item is done"
PARTS: dict[str, Sequence[Step] | Callable[[Asked], Step]] = {
    "You plan the work on a request.": [
        Call("ls", {"path": "."}),
        Call("read", {"path": "README.md"}),
        f"Here is the plan:\n\n```json\n{PLAN}\n```\n",
    ],
    "You are the architect.": [PLAN],
    f"{BUILD}: {GREET}": _build_greeting,
    f"{BUILD}: {TELL}": [Call("edit", {"path": "README.md", "edits": [CHANGE]}), "I told of it."],
    f"{JUDGE}: {GREET}": _judge_greeting,
    f"{JUDGE}: {TELL}": [
        Call("grep", {"pattern": "greets", "path": "README.md"}),
        verdict(True, "it is told"),
    ],
    "Tell the person who wrote the request what came of it": ["It is done."],
}


def full_auto(asked: Asked) -> Step:
    """A model that plans two items and has the first sent back once; what it is asked again it says again."""
    part = next(part for opening, part in PARTS.items() if opening in asked.prompt)
    step = part(asked) if callable(part) else part[asked.step]
    if isinstance(step, Call):
        return Answer(calls=(step,), usage=Usage(200 + asked.number, 20, cache_read=3))
    assert isinstance(step, str)
    return Answer(step, usage=Usage(100 + asked.number, 10))


RUN = (
    "run",
    str(ROOT / "loadouts" / "full-auto.json"),
    "--loadout",
    "Full-Auto",
    "--request",
    "greet the world",
)
PATH = ["ignore", "detect", "plan", "architect"]
PATH += ["build", "evaluate", "build", "evaluate", "maintain", "build", "evaluate", "maintain", "narrate"]


def test_full_auto_runs_to_its_end(tmp_path: Path) -> None:
    with workshop(tmp_path, full_auto) as (shop, fake):
        result = shop.call(*RUN)
        assert result["path"] == PATH
        assert shop.commits() == ["chore: begin", GREET, TELL]
        assert (shop.folder / "greet.txt").read_text(encoding="utf-8") == "hello world\n"
        assert (shop.folder / "README.md").read_text(encoding="utf-8") == "# Shed\n\nIt greets the world.\n"
        assert shop.state()[1] == ""
        used = json.loads((shop.cast / "usage.json").read_text(encoding="utf-8"))["total"]
        assert (used["input"], used["output"]) == (fake.served.input, fake.served.output)
        assert used["cacheRead"] == fake.served.cache_read > 0
        prices = (fake.served.input * 1.0, fake.served.output * 2.0, fake.served.cache_read * 0.1)
        assert used["cost"] == pytest.approx(sum(prices) / 1_000_000)
        assert (shop.cast / "sockets" / "narrate" / "1.md").read_text(encoding="utf-8") == "It is done."
        wait_none(f":{shop.cast.name}.")


def test_a_kill_in_the_middle_of_a_tool_call_changes_nothing_in_the_end(tmp_path: Path) -> None:
    with workshop(tmp_path / "whole", full_auto) as (shop, _):
        path = shop.call(*RUN)["path"]
        commits, (tree, rest) = shop.commits(), shop.state()
    with workshop(tmp_path / "killed", full_auto) as (shop, _):
        (shop.home / "slow").touch()
        with shop.start(*RUN) as process:
            _wait_for((shop.home / "begun").exists)
            process.kill()
            process.communicate()
        finished = shop.records("socket_finished")
        assert [record["socket"] for record in finished] == PATH[:4]
        result = shop.call("resume")
        assert result["path"] == path
        assert shop.commits() == commits
        assert shop.state() == (tree, rest)
        assert shop.records("socket_finished")[:4] == finished
        assert not (left := marked(f":{shop.cast.name}.")), told(left)


# A talk


TALK: Json = {
    "loadouts": {"Talk": {"entry": "plan", "sockets": {"plan": {"materia": "Plan"}}}},
    "materia": {
        "Plan": {"prompt": "Let us plan.", "tools": "readOnly", "multiTurn": True, "generator": True}
    },
}


def talker(asked: Asked) -> Step:
    """A model that answers with how often it has answered before."""
    said = sum(message.role == "assistant" for message in asked.messages)
    return items(GREET) if said == 2 else f"answer {said}"


def test_a_talk_over_several_processes_is_one_session(tmp_path: Path) -> None:
    with workshop(tmp_path, talker) as (shop, fake):
        loadout = shop.home / "talk.json"
        loadout.write_text(json.dumps(TALK), encoding="utf-8")
        shop.call("run", str(loadout), "--request", "x", "--no-interactive", status="waiting")
        shop.call("say", shop.cast.name, "And then?", status="waiting")
        shop.call("continue")
        said = [message.text for message in fake.requests[-1].messages]
        assert said[1:4] == ["answer 0", "And then?", "answer 1"]
        assert len(said) == 5
        turns = shop.records("turn_finished")
        assert len({turn["session"] for turn in turns}) == 1
        assert [turn["usage"]["input"] for turn in turns] == [100, 100, 100]
        assert len(list((shop.cast / "sessions" / "pi").glob("*.jsonl"))) == 1


def _wait_for(come: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG_S
    while not come():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


# Faults


SEED = 20310504
COUNT = 25
CHAIN: Json = {
    "recovery": {"attempts": 8, "firstPauseMs": 20, "longestPauseMs": 100},
    "loadouts": {
        "Chain": {
            "entry": "plan",
            "sockets": {
                "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
                "build": {"materia": "Build", "edges": [{"to": "check"}]},
                "check": {
                    "materia": "Check",
                    "edges": [
                        {"when": "satisfied", "to": "build"},
                        {"when": "not_satisfied", "to": "build", "maxTraversals": 1},
                    ],
                },
            },
            "loops": {
                "work": {
                    "sockets": ["build", "check"],
                    "consumes": {"from": "plan"},
                    "exit": {"from": "check", "when": "satisfied", "to": "end"},
                }
            },
        }
    },
    "materia": {
        "Plan": {"prompt": "PLAN", "generator": True, "tools": "coding"},
        "Build": {"prompt": "BUILD <{{workItem.title}}>", "tools": "coding"},
        "Check": {"prompt": "CHECK <{{workItem.title}}>", "tools": "coding", "parse": "json"},
    },
}


def chain(asked: Asked) -> Step:
    """A model that goes by what it is asked and by what its last call of a tool gave, whatever was before."""
    if "PLAN" in asked.prompt:
        return items(*(f"item-{number}" for number in range(COUNT)))
    title = asked.prompt.partition("<")[2].partition(">")[0]
    seen = "".join(asked.results)
    if "BUILD" in asked.prompt:
        done = "wrote" in seen.lower()
        return "built" if done else Call("write", {"path": f"{title}.txt", "content": f"{title} is built\n"})
    if f"{title} is built" in seen:
        return verdict(True, "it is there")
    return Call("bash", {"command": f"cat {title}.txt"})


def _called(name: str, arguments: Json | str) -> Answer:
    return Answer(calls=(Call(name, arguments),), delay_s=0.2, pause_s=0.05)


FAULTS: tuple[Step, ...] = (
    SERVER_ERROR,
    OVERLOADED,
    rate_limit(1),
    CLOSED,
    Cut(Answer("half an answer that is cut")),
    Cut(Answer("half an answer that ends"), quiet=True),
    _called("bash", '{"command": "ec'),
    _called("no_such_tool", {}),
    _called("bash", {"command": "sleep 0.3"}),
    _called("bash", {"command": "setsid sleep 600 & kill -9 $PPID"}),
)


def test_faults_all_the_way_lose_nothing(tmp_path: Path) -> None:
    chance = random.Random(SEED)  # noqa: S311 - which faults come is no secret
    faults = {number: chance.choice(FAULTS) for number in range(2, 400) if chance.random() < 0.25}
    with workshop(tmp_path, with_faults(chain, faults)) as (shop, fake):
        loadout = shop.home / "chain.json"
        loadout.write_text(json.dumps(CHAIN), encoding="utf-8")
        with shop.start("run", str(loadout), "--request", "build") as process:
            _wait_for(lambda: len(fake.requests) >= 60)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        before = shop.records("socket_finished")
        assert before
        result = shop.call("resume")
        finished = shop.records("socket_finished")
        assert finished[: len(before)] == before
        assert result["path"] == ["plan", *["build", "check"] * COUNT]
        assert max(Counter((record["socket"], record["visit"]) for record in finished).values()) == 1
        for number in range(COUNT):
            file = shop.folder / f"item-{number}.txt"
            assert file.read_text(encoding="utf-8") == f"item-{number} is built\n"
        assert len(shop.records("turn_finished")) >= 50
        assert shop.records("turn_retried")
        assert not (left := marked(f":{shop.cast.name}.")), told(left)
