"""Going on with a cast: what was finished stays, what failed is done again if it is allowed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from samples import STEP, Json, answers, cast, compiled, loadout, socket, working

from materiac.agents.protocol import Agent
from materiac.runtime.journal import FullError, Record, read
from materiac.runtime.replay import replay
from materiac.runtime.resume import Allowed, ResumeError, Resumption, resume, stop
from materiac.runtime.run import Result
from materiac.runtime.visit import VisitWaits

YES, NO = {"satisfied": True}, {"satisfied": False, "context": "not yet"}
NOBODY = answers()


def records(folder: Path, *kinds: str) -> list[Record]:
    return [one for one in read(folder / "events.jsonl").records if not kinds or one.type in kinds]


def go_on(result: Result, agent: Agent = NOBODY, *, config: Json | None = None, **rest: Any) -> Result:
    """Resume as another process would: with nothing but the folder."""
    person, talked_to = rest.pop("person", None), rest.pop("talked_to", False)
    environ: dict[str, str] = rest.pop("environ", {})
    image = None if config is None else compiled(config)
    allowed = Allowed(**rest)
    return resume(Resumption(result.folder, agent, environ, image, allowed, person, talked_to))


def refused(result: Result, **rest: Any) -> str:
    before = (result.folder / "events.jsonl").read_bytes()
    with pytest.raises(ResumeError) as caught:
        go_on(result, **rest)
    assert (result.folder / "events.jsonl").read_bytes() == before
    return str(caught.value)


def cut(result: Result, kind: str, nth: int = 1, *, after: bool = True) -> None:
    """Leave of the journal what there is up to the nth record of a kind, as a crash would."""
    path = result.folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    found = [n for n, line in enumerate(lines) if json.loads(line)["type"] == kind]
    path.write_bytes(b"".join(lines[: found[nth - 1] + after]))


def shell(line: str, **more: Any) -> Json:
    return {"command": ["sh", "-c", line], **more}


FLAKY = shell("echo run >> log; test -e fixed && echo fine")


def flaky(tmp_path: Path) -> Result:
    sockets = {
        "a": socket(edges=[{"to": "shaky"}]),
        "shaky": {"materia": "Flaky", "assign": {"said": "$"}, "edges": [{"to": "z"}]},
        "z": socket(),
    }
    return cast(loadout(sockets, materia={"Flaky": FLAKY}), tmp_path, answers(a="first", z="last"))


def test_a_failed_command_runs_again_when_it_is_allowed(tmp_path: Path) -> None:
    failed = flaky(tmp_path)
    assert failed.status == "failed"
    assert "'shaky' failed (utility-exit)" in refused(failed)
    assert "--retry" in refused(failed)
    (tmp_path / "fixed").touch()
    done = go_on(failed, answers(z="last"), retry=True)
    assert (done.status, done.cast.failure) == ("complete", None)
    assert done.cast.path == ["a", "shaky", "z"]
    assert dict(done.cast.visits) == {"a": 1, "shaky": 1, "z": 1}
    assert done.cast.knowledge.state == {"said": "fine\n"}
    assert (tmp_path / "log").read_text() == "run\nrun\n"
    names = sorted(path.name for path in (done.folder / "sockets" / "shaky").iterdir())
    assert names == sorted(
        [f"1.failed-1.{end}" for end in ("command.json", "stderr.txt", "stdin.json", "stdout.txt")]
        + [f"1.{end}" for end in ("command.json", "md", "stderr.txt", "stdin.json", "stdout.txt")]
    )
    listed = json.loads((done.folder / "manifest.json").read_bytes())["entries"]
    assert all((done.folder / entry["file"]).is_file() for entry in listed)
    assert replay(done.folder).status == "complete"


def test_it_may_fail_again(tmp_path: Path) -> None:
    failed = flaky(tmp_path)
    for tries in (2, 3):
        again = go_on(failed, retry=True)
        assert again.status == "failed"
        assert (tmp_path / "log").read_text() == "run\n" * tries
    assert (again.folder / "sockets" / "shaky" / "1.failed-2.stdout.txt").is_file()
    (tmp_path / "fixed").touch()
    done = go_on(failed, answers(z="last"), retry=True)
    assert done.cast.path == ["a", "shaky", "z"]
    assert replay(done.folder).status == "complete"


def test_an_agent_that_failed_is_asked_again(tmp_path: Path) -> None:
    error = {"error": "overloaded", "usage": {"input": 3}}
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket()})
    failed = cast(config, tmp_path, answers(a={"text": "x", "usage": {"input": 10}}, b=error))
    assert failed.status == "failed"
    done = go_on(failed, answers(b=["never", {"text": "y", "usage": {"input": 5}}]), retry=True)
    assert (done.status, done.cast.knowledge.last_output) == ("complete", "y")
    assert done.usage["total"]["input"] == 18
    assert json.loads((done.folder / "usage.json").read_bytes()) == done.usage
    assert (done.folder / "contexts" / "b" / "1.failed-1.md").is_file()
    assert replay(done.folder).status == "complete"


def test_nothing_to_go_on_with(tmp_path: Path) -> None:
    done = cast(loadout({"a": socket()}), tmp_path, answers())
    with pytest.raises(ResumeError, match="is complete") as caught:
        go_on(done)
    assert caught.value.status == "complete"


def test_a_folder_without_a_beginning(tmp_path: Path) -> None:
    done = cast(loadout({"a": socket()}), tmp_path, answers())
    (done.folder / "events.jsonl").write_bytes(b"")
    assert "does not tell of a beginning" in refused(done)


# Commands that may have run

ONCE = shell("echo run >> log; echo done")


def once(tmp_path: Path, **more: Any) -> Result:
    sockets = {
        "a": socket(edges=[{"to": "u"}]),
        "u": {"materia": "U", "edges": [{"to": "z"}]},
        "z": socket(),
    }
    return cast(loadout(sockets, materia={"U": ONCE | more}), tmp_path, answers())


def test_a_command_that_may_have_run_does_not_run_by_itself(tmp_path: Path) -> None:
    crashed = once(tmp_path)
    cut(crashed, "socket_started", 2)
    waiting = go_on(crashed)
    assert waiting.status == "waiting"
    assert waiting.cast.waits is not None
    assert waiting.cast.waits.reason == "uncertain"
    assert "'u', visit 1, had been started" in waiting.cast.waits.message
    assert (tmp_path / "log").read_text() == "run\n"
    assert "--rerun" in refused(waiting)
    done = go_on(waiting, rerun=True)
    assert (done.status, done.cast.path) == ("complete", ["a", "u", "z"])
    assert (tmp_path / "log").read_text() == "run\nrun\n"
    assert replay(done.folder).status == "complete"


@pytest.mark.parametrize(
    ("more", "allowed"), [({"idempotent": True}, {}), ({}, {"rerun": True})], ids=["idempotent", "rerun"]
)
def test_a_command_that_may_run_again(tmp_path: Path, more: Json, allowed: Json) -> None:
    crashed = once(tmp_path, **more)
    cut(crashed, "socket_started", 2)
    assert go_on(crashed, **allowed).status == "complete"
    assert (tmp_path / "log").read_text() == "run\nrun\n"


def test_a_command_that_has_run_does_not_run_again(tmp_path: Path) -> None:
    crashed = once(tmp_path)
    cut(crashed, "command_finished")
    done = go_on(crashed)
    assert (done.status, done.cast.path) == ("complete", ["a", "u", "z"])
    assert (tmp_path / "log").read_text() == "run\n"


# Limits


def test_more_may_be_spent(tmp_path: Path) -> None:
    spending = {"text": "x", "usage": {"input": 60, "output": 40}}
    sockets = {
        name: socket(edges=[{"to": to}] if to else []) for name, to in zip("abc", ["b", "c", ""], strict=True)
    }
    config = loadout(sockets, budget={"maxTokens": 100})
    agent = answers(a=spending, b=spending, c=spending)
    failed = cast(config, tmp_path, agent)
    assert (failed.status, failed.cast.path) == ("failed", ["a"])
    assert "100 tokens have been used" in refused(failed)
    assert "--budget-tokens" in refused(failed, max_tokens=100)
    again = go_on(failed, agent, max_tokens=150)
    assert (again.status, again.cast.path) == ("failed", ["a", "b"])
    done = go_on(again, agent, max_tokens=1000)
    assert (done.status, done.cast.path) == ("complete", ["a", "b", "c"])
    assert len(records(done.folder, "socket_started")) == 3
    assert len(records(done.folder, "budget_warning")) == 1
    assert replay(done.folder).status == "complete"


def test_a_limit_that_was_raised_stays_so(tmp_path: Path) -> None:
    spending = {"text": "x", "usage": {"input": 60, "output": 40}}
    sockets = {"a": socket(edges=[{"to": "b"}]), "b": socket(edges=[{"to": "c"}]), "c": socket()}
    agent = answers(a=spending, b=[{"error": "down"}, spending], c=spending)
    failed = cast(loadout(sockets, budget={"maxTokens": 100}), tmp_path, agent)
    again = go_on(failed, agent, max_tokens=250)
    assert again.cast.failure is not None
    assert again.cast.failure["kind"] == "agent"
    assert go_on(again, agent, retry=True).status == "complete"


def test_a_budget_that_waits(tmp_path: Path) -> None:
    spending = {"text": "x", "usage": {"input": 60, "output": 40}}
    config = loadout(
        {"a": socket(edges=[{"to": "b"}]), "b": socket()}, budget={"maxTokens": 100, "stopAtLimit": False}
    )
    waiting = cast(config, tmp_path, answers(a=spending))
    assert waiting.status == "waiting"
    assert "100 tokens have been used" in refused(waiting)
    done = go_on(waiting, max_tokens=200)
    assert (done.status, done.cast.path) == ("complete", ["a", "b"])
    assert replay(done.folder).status == "complete"


def test_an_edge_is_allowed_once_more_for_its_item(tmp_path: Path) -> None:
    config = working(check={"edges": [
        {"when": "satisfied", "to": "build"},
        {"when": "not_satisfied", "to": "build", "maxTraversals": 1},
    ]})  # fmt: skip
    items = [{"title": name, "context": "c"} for name in ("one", "two")]
    agent = answers(plan={"workItems": items}, check=[NO, NO, YES, NO, NO])
    failed = cast(config, tmp_path, agent)
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "edge-limit"
    assert "--allow-edge" in refused(failed)
    assert "--allow-edge" in refused(failed, retry=True)
    again = go_on(failed, agent, edge=True)
    assert again.cast.path == ["plan", *["build", "check"] * 5]
    assert again.cast.items[1:] == ["WI-1"] * 6 + ["WI-2"] * 4
    assert again.cast.failure is not None
    assert again.cast.failure["item"] == "WI-2"
    prompt = (again.folder / "contexts" / "build" / "3.md").read_text()
    assert "Runtime follow-up context" in prompt
    assert replay(again.folder).status == "failed"


def test_what_goes_in_circles_may_go_on(tmp_path: Path) -> None:
    config = loadout(
        {"a": socket(parse="json", edges=[{"when": "not_satisfied", "to": "a"}])},
        limits={"maxNoAdvanceCycles": 1},
    )
    failed = cast(config, tmp_path, answers(a=[NO, NO, NO, YES]))
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "stalled"
    done = go_on(failed, answers(a=[NO, NO, NO, YES]), retry=True)
    assert (done.status, done.cast.path) == ("complete", ["a"] * 4)
    assert replay(done.folder).status == "complete"


def test_a_full_journal_takes_no_more_until_it_may_be_larger(tmp_path: Path) -> None:
    def config(limit: int) -> Json:
        sockets = {"a": socket(edges=[{"to": "b"}]), "b": socket(edges=[{"to": "c"}]), "c": socket()}
        return loadout(sockets, limits={"maxJournalBytes": limit})

    crashed = cast(config(1_000_000), tmp_path, answers())
    cut(crashed, "socket_finished")
    for _ in range(2):
        with pytest.raises(FullError, match="maxJournalBytes"):
            go_on(crashed, config=config(1000))
    assert len(records(crashed.folder, "socket_started")) == 1
    done = go_on(crashed, config=config(1_000_000))
    assert (done.status, done.cast.path) == ("complete", ["a", "b", "c"])


def test_more_visits_need_another_definition(tmp_path: Path) -> None:
    def config(limit: int) -> Json:
        edges = [{"when": "not_satisfied", "to": "a", "maxTraversals": 9}]
        return loadout({"a": socket(parse="json", edges=edges, limits={"maxVisits": limit})})

    agent = answers(a=[NO, NO, NO, YES])
    failed = cast(config(2), tmp_path, agent)
    for allowed in ({}, {"retry": True}, {"retry": True, "change": True}):
        assert "a loadout with a higher 'maxVisits'" in refused(failed, **allowed)
    done = go_on(failed, agent, config=config(5), retry=True, change=True)
    assert (done.status, done.cast.path) == ("complete", ["a"] * 4)
    assert replay(done.folder).status == "complete"


# Another definition


def changed(**prompts: str) -> Json:
    sockets = {"a": {"materia": "A", "edges": [{"to": "b"}]}, "b": {"materia": "B"}}
    materia = {name: {"prompt": prompts.get(name, f"Do {name}.")} for name in ("A", "B")}
    return loadout(sockets, materia=materia)


def test_another_definition_has_to_be_accepted(tmp_path: Path) -> None:
    failed = cast(changed(), tmp_path, answers(a="x", b={"error": "down"}))
    first = failed.cast.program.digest()
    message = refused(failed, config=changed(B="Do B well."), retry=True)
    assert "materia 'B'" in message
    assert "--accept-change" in message
    done = go_on(failed, answers(b="y"), config=changed(B="Do B well."), retry=True, change=True)
    assert (done.status, done.cast.path) == ("complete", ["a", "b"])
    assert (done.folder / "contexts" / "b" / "1.md").read_text().startswith("Do B well.")
    assert (done.folder / "contexts" / "b" / "1.failed-1.md").read_text().startswith("Do B.")
    resumed = records(done.folder, "cast_resumed")[0].fields
    second = compiled(changed(B="Do B well.")).program.digest()
    assert (resumed["accepted"], resumed["hash"], resumed["machine"]) == (first, second, "machine.2.json")
    assert replay(done.folder).status == "complete"


def test_layout_is_no_change(tmp_path: Path) -> None:
    crashed = cast(changed(), tmp_path, answers())
    cut(crashed, "socket_started", 2)
    turned = json.loads(json.dumps(changed(), indent=7))
    turned["materia"] = dict(reversed(turned["materia"].items()))
    assert go_on(crashed, config=turned).status == "complete"


def test_a_visit_that_was_interrupted_begins_again_with_another_definition(tmp_path: Path) -> None:
    crashed = cast(changed(), tmp_path, answers())
    cut(crashed, "socket_started", 2)
    done = go_on(crashed, answers(b="y"), config=changed(B="Do B well."), change=True)
    assert (done.status, done.cast.path) == ("complete", ["a", "b"])
    assert (done.folder / "contexts" / "b" / "1.md").read_text().startswith("Do B well.")
    assert replay(done.folder).status == "complete"


@pytest.mark.parametrize("kind", ["turn_finished", "socket_finished"])
def test_what_was_answered_counts_with_another_definition_too(tmp_path: Path, kind: str) -> None:
    crashed = cast(changed(), tmp_path, answers(a="x", b="y"))
    cut(crashed, kind)
    done = go_on(crashed, answers(a="never", b="z"), config=changed(A="Other.", B="Do B well."), change=True)
    assert (done.status, done.cast.path) == ("complete", ["a", "b"])
    assert (done.folder / "contexts" / "a" / "1.md").read_text().startswith("Do A.")
    assert (done.folder / "contexts" / "b" / "1.md").read_text().startswith("Do B well.")
    assert (done.folder / "sockets" / "a" / "1.md").read_text() == "x"
    assert replay(done.folder).status == "complete"


def test_a_limit_of_another_definition_lets_the_cast_go_on(tmp_path: Path) -> None:
    def config(limit: int) -> Json:
        edges = [{"when": "not_satisfied", "to": "a", "maxTraversals": limit}]
        return loadout({"a": socket(parse="json", edges=edges)})

    failed = cast(config(1), tmp_path, answers(a=NO))
    done = go_on(failed, answers(a=[NO, NO, YES]), config=config(5), change=True)
    assert (done.status, done.cast.path) == ("complete", ["a", "a", "a"])
    assert replay(done.folder).status == "complete"


def test_a_socket_that_is_gone(tmp_path: Path) -> None:
    failed = cast(changed(), tmp_path, answers(b={"error": "down"}))
    gone = loadout({"a": {"materia": "A"}}, materia={"A": {"prompt": "Do A."}})
    with pytest.raises(ResumeError, match="stands at 'b', which"):
        go_on(failed, config=gone, change=True, retry=True)
    assert go_on(failed, retry=True).status == "complete"


# Talks


class Talker:
    """Says what is left of a list; a person who has left says nothing."""

    def __init__(self, *words: str | None) -> None:
        self.words = list(words)

    def say(self, answer: str) -> str | None:
        if not self.words:
            raise VisitWaits(f"nobody hears {answer}")
        return self.words.pop(0)


def talk(tmp_path: Path, **more: Any) -> Result:
    sockets = {"a": {"materia": "Talk", "edges": [{"to": "b"}]}, "b": socket()}
    config = loadout(sockets, materia={"Talk": {"prompt": "Talk.", "multiTurn": True}}, **more)
    return cast(config, tmp_path, answers(a=["one", "two", "three", "final"]))


def test_a_talk_goes_on_in_other_processes(tmp_path: Path) -> None:
    waiting = talk(tmp_path)
    assert waiting.status == "waiting"
    assert "'a' waits for a person: one" in refused(waiting)
    for words, answer in (("more", "two"), ("still more", "three")):
        waiting = go_on(
            waiting, answers(a=["one", "two", "three", "final"]), person=Talker(words), talked_to=True
        )
        assert (waiting.status, waiting.cast.waits and waiting.cast.waits.answer) == ("waiting", answer)
    done = go_on(waiting, answers(a=["one", "two", "three", "final"]), person=Talker(None), talked_to=True)
    assert (done.status, done.cast.path) == ("complete", ["a", "b"])
    assert (done.folder / "sockets" / "a" / "1.turn-4.md").read_text() == "final"
    prompt = (done.folder / "contexts" / "a" / "1.turn-3.md").read_text()
    assert [words in prompt for words in ("one", "more", "two", "still more")] == [True] * 4
    assert len(records(done.folder, "turn_finished")) == 5
    assert replay(done.folder).status == "complete"


def test_words_that_were_said_are_not_lost(tmp_path: Path) -> None:
    waiting = talk(tmp_path)
    waiting = go_on(waiting, answers(a=["one", "two"]), person=Talker("more"), talked_to=True)
    cut(waiting, "person_said")
    again = go_on(waiting, answers(a=["one", "two"]))
    assert (again.status, again.cast.waits and again.cast.waits.answer) == ("waiting", "two")


def test_only_who_waits_is_talked_to(tmp_path: Path) -> None:
    failed = flaky(tmp_path)
    message = refused(failed, person=Talker("hello"), talked_to=True)
    assert message == "the cast does not wait for a person: it has failed"


def test_a_talk_that_was_stopped_goes_on(tmp_path: Path) -> None:
    waiting = talk(tmp_path)
    assert stop(waiting.folder, {}) == "stopped"
    assert stop(waiting.folder, {}) == "stopped"
    again = go_on(waiting)
    assert (again.status, again.cast.waits and again.cast.waits.answer) == ("waiting", "one")
    done = go_on(again, answers(a=["one", "final"]), person=Talker(None), talked_to=True)
    assert done.status == "complete"
    assert replay(done.folder).status == "complete"


def test_a_talk_is_held_to_its_budget(tmp_path: Path) -> None:
    sockets = {"a": {"materia": "Talk"}}
    config = loadout(
        sockets, materia={"Talk": {"prompt": "Talk.", "multiTurn": True}}, budget={"maxTokens": 10}
    )
    agent = answers(a=[{"text": "one", "usage": {"input": 20}}, "final"])
    failed = cast(config, tmp_path, agent, person=Talker(None))
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "budget"
    done = go_on(failed, answers(a=["one", "final"]), max_tokens=100)
    assert (done.status, done.cast.knowledge.last_output) == ("complete", "final")
    assert replay(done.folder).status == "complete"


# Streams

BROKEN = (
    "import json, pathlib, sys; name = json.load(sys.stdin)['stream']; open('log', 'a').write(name + ' ')\n"
)
BROKEN += "sys.exit(0 if name == 'a' or pathlib.Path('fixed').exists() else 3)"


def streams(**more: Any) -> Json:
    check = {
        "materia": "Check",
        "parse": "json",
        "advance": {**STEP, "when": "satisfied"},
        "edges": [
            {"when": "satisfied", "to": "build"},
            {"when": "not_satisfied", "to": "build", "maxTraversals": 1},
        ],
    }
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
        "build": {"materia": "Build", "edges": [{"to": "check"}]},
        "check": check,
        "tell": socket(),
    }
    work = {
        "sockets": ["build", "check"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "check", "targetSocketId": "tell"}],
    }
    materia = {
        "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
        "Build": {"command": [sys.executable, "-c", BROKEN], "parallelSafe": True},
        "Check": {"prompt": "Check.", "parallelSafe": True},
    }
    return loadout(sockets, loops={"work": work}, materia=materia | more.pop("materia", {}), **more)


def planned(**parts: Sequence[int]) -> Json:
    count = sum(map(len, parts.values()))
    return {
        "workItems": [{"title": f"T{n}", "context": f"c{n}"} for n in range(count)],
        "parallelSchedule": {
            "version": 1,
            "streams": [{"name": name, "workItemIndexes": list(part)} for name, part in parts.items()],
        },
    }


def test_failed_streams_go_on_alone(tmp_path: Path) -> None:
    agent = answers(plan=planned(a=[0], b=[1], c=[2]), check=YES)
    failed = cast(streams(), tmp_path, agent)
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "stream"
    assert sorted((tmp_path / "log").read_text().split()) == ["a", "b", "c"]
    again = go_on(failed, agent)
    assert again.status == "failed"
    (tmp_path / "fixed").touch()
    done = go_on(again, agent)
    assert done.status == "complete"
    assert sorted((tmp_path / "log").read_text().split()) == ["a", *["b"] * 3, *["c"] * 3]
    fan_in = done.cast.knowledge.state["parallelFanIn"]
    assert [(part["name"], part["status"], len(part["outputs"])) for part in fan_in] == [
        (name, "complete", 1) for name in "abc"
    ]
    assert sorted(done.cast.path) == sorted(["plan", *["build", "check"] * 3, "tell"])
    assert replay(done.folder).status == "complete"


def test_a_budget_of_streams_may_be_raised(tmp_path: Path) -> None:
    (tmp_path / "fixed").touch()
    spending = {"text": json.dumps(YES), "usage": {"input": 10, "output": 0}}
    agent = answers(plan=planned(a=[0, 1], b=[2, 3]), check=spending)
    failed = cast(streams(budget={"maxTokens": 10}), tmp_path, agent)
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "budget"
    done = go_on(failed, agent, max_tokens=1000)
    assert (done.status, sum(done.cast.visits.values())) == ("complete", 10)
    assert replay(done.folder).status == "complete"


def test_a_stream_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    (tmp_path / "fixed").touch()
    agent = answers(plan=planned(a=[0], b=[1], c=[2]), check=YES)
    whole = cast(streams(), tmp_path, agent)
    lines = (whole.folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if b"streams_started" in line)
    for length in range(first, len(lines)):
        (whole.folder / "events.jsonl").write_bytes(b"".join(lines[:length]))
        done = go_on(whole, agent, rerun=True)
        assert done.status == "complete"
        assert done.cast.knowledge.state == whole.cast.knowledge.state
        assert sorted(done.cast.path) == sorted(whole.cast.path)
        assert replay(done.folder).status == "complete"


def test_a_stream_that_went_astray_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "fixed").touch()
    config = streams()
    config["loadouts"]["L"]["sockets"]["check"]["edges"][1] = {"when": "not_satisfied", "to": "tell"}
    config["parallelism"] = {"maxConcurrency": 1}
    config["loadouts"]["L"]["loops"]["work"]["parallel"] = {"maxConcurrency": 1}
    agent = answers(plan=planned(a=[0], b=[1]), check=[YES, NO, YES])
    failed = cast(config, tmp_path, agent)
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "stream"
    done = go_on(failed, agent)
    assert done.status == "complete"
    assert sorted(done.cast.path) == sorted(["plan", *["build", "check"] * 3, "tell"])
    assert replay(done.folder).status == "complete"


def test_what_was_done_cannot_be_another_thing(tmp_path: Path) -> None:
    failed = flaky(tmp_path)
    file = failed.folder / "sockets" / "a" / "1.md"
    file.write_text("changed by hand")
    with pytest.raises(Exception, match=r"1\.md' has been changed"):
        go_on(failed, retry=True)
    file.unlink()
    with pytest.raises(Exception, match=r"1\.md': No such file"):
        go_on(failed, retry=True)


def test_a_turn_of_a_talk_that_failed_is_tried_again_alone(tmp_path: Path) -> None:
    def agent() -> Agent:
        return answers(a=["one", "two", {"error": "down"}, "three", "final"])

    sockets = {"a": {"materia": "Talk", "edges": [{"to": "b"}]}, "b": socket()}
    config = loadout(sockets, materia={"Talk": {"prompt": "Talk.", "multiTurn": True}})
    waiting = cast(config, tmp_path, agent(), person=Talker("first"))
    failed = go_on(waiting, agent(), person=Talker("second"), talked_to=True)
    assert failed.status == "failed"
    again = go_on(failed, agent(), retry=True)
    assert (again.status, again.cast.waits and again.cast.waits.answer) == ("waiting", "three")
    prompt = (again.folder / "contexts" / "a" / "1.turn-3.md").read_text()
    assert [words in prompt for words in ("one", "first", "two", "second")] == [True] * 4
    done = go_on(again, agent(), person=Talker(None), talked_to=True)
    assert (done.status, done.usage["total"]["turns"]) == ("complete", 6)
    assert replay(done.folder).status == "complete"


def test_the_end_of_a_talk_that_was_refused_is_tried_again_alone(tmp_path: Path) -> None:
    def agent() -> Agent:
        return answers(a=["one", "bad", "worse", "still bad", {"satisfied": True}])

    edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "end"}]
    config = loadout(
        {"a": {"materia": "Talk", "parse": "json", "edges": edges}},
        materia={"Talk": {"prompt": "Talk.", "multiTurn": True}},
    )
    failed = cast(config, tmp_path, agent(), person=Talker(None))
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "output"
    failed = go_on(failed, agent(), retry=True)
    assert failed.status == "failed"
    done = go_on(failed, agent(), retry=True)
    assert (done.status, done.cast.knowledge.state["envelope"]) == ("complete", {"satisfied": True})
    names = sorted(path.name for path in (done.folder / "sockets" / "a").iterdir())
    assert names == ["1.json", "1.md", *[f"1.repair-{n}.md" for n in (1, 2, 3)], "1.turn-2.md"]
    assert replay(done.folder).status == "complete"


def test_words_without_end_are_not_taken(tmp_path: Path) -> None:
    waiting = talk(tmp_path, limits={"maxPromptBytes": 5000})
    again = go_on(waiting, answers(a=["one", "two"]), person=Talker("x" * 6000), talked_to=True)
    assert again.cast.waits is not None
    assert "has 6000 bytes, 5000 are allowed" in again.cast.waits.message
    assert records(again.folder, "person_said") == []
    assert go_on(again, answers(a=["one", "two"]), person=Talker("y"), talked_to=True).status == "waiting"


def test_how_often_an_edge_was_taken_is_told(tmp_path: Path) -> None:
    edges = [{"when": "not_satisfied", "to": "a", "maxTraversals": 1}]
    agent = answers(a=NO)
    failed = cast(loadout({"a": socket(parse="json", edges=edges)}), tmp_path, agent)
    for times in (2, 3, 4):
        assert failed.cast.failure is not None
        assert f"would be taken {times} times for this cast, its limit is 1" in failed.cast.failure["message"]
        failed = go_on(failed, agent, edge=True)
