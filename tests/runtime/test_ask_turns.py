"""A visit of an agent: its turns, the one repair, the talk with a person, the files it leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, Json, cast, loadout, socket

from materiac.agents.protocol import AgentError, Progress, Reply, Request, Usage
from materiac.runtime.run import Result
from materiac.runtime.visit import VisitWaits

SECRET = "s3cr3t-value"  # noqa: S105 - no password of anything


@dataclass
class Recorder:
    """An agent that gives its replies one after the other and keeps what it was asked."""

    replies: Sequence[Reply | str | Exception]
    spec: str = "recorder"
    requests: list[Request] = field(default_factory=list)
    closed: int = 0

    def turn(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply) if isinstance(reply, str) else reply

    def close(self) -> None:
        self.closed += 1


@dataclass
class Talker:
    """A person who says what is on the list, and then asks for the final form or is gone."""

    words: list[str | None]
    heard: list[str] = field(default_factory=list)

    def say(self, answer: str) -> str | None:
        self.heard.append(answer)
        if not self.words:
            raise VisitWaits("the talk waits for a person")
        return self.words.pop(0)


def asked(
    cwd: Path,
    *replies: Reply | str | Exception,
    materia: Json | None = None,
    budget: Json | None = None,
    person: Talker | None = None,
    environ: dict[str, str] | None = None,
    **fields: Any,
) -> tuple[Result, Recorder]:
    """A cast of one socket, called `a`."""
    frame = {"budget": budget} if budget else {}
    config = loadout({"a": socket(**fields)}, materia={"Agent": {**AGENT, **(materia or {})}}, **frame)
    agent = Recorder(replies)
    rest: dict[str, Any] = {"person": person}
    if environ is not None:
        rest["environ"] = environ
    return cast(config, cwd, agent, **rest), agent


def files(result: Result) -> dict[str, str]:
    """The files of visits, by their path from the folder of the cast."""
    found = [path for top in ("contexts", "sockets") for path in (result.folder / top).rglob("*.*")]
    return {str(path.relative_to(result.folder)): path.read_text(encoding="utf-8") for path in found}


def failure(result: Result) -> tuple[str, str]:
    found = result.cast.failure
    assert found is not None
    return found["kind"], found["message"]


def test_one_turn(tmp_path: Path) -> None:
    result, agent = asked(tmp_path, "  done \n")
    (request,) = agent.requests
    assert result.status == "complete"
    assert (request.socket, request.materia, request.visit, request.turn) == ("a", "Agent", 1, 1)
    assert (request.cwd, request.item_key, request.scope, request.tools) == (tmp_path, None, "none", ())
    assert (request.model, request.thinking, request.session) == (None, None, None)
    assert files(result) == {"contexts/a/1.md": request.prompt, "sockets/a/1.md": "  done \n"}
    assert result.cast.knowledge.last_output == "  done \n"
    assert agent.closed >= 1


def test_what_the_materia_says_reaches_the_agent(tmp_path: Path) -> None:
    materia = {"tools": "readOnly", "model": "m-1", "thinking": "high", "prompt": "Look at {{request}}."}
    _, agent = asked(tmp_path, "ok", materia=materia)
    (request,) = agent.requests
    assert (request.model, request.thinking, request.scope) == ("m-1", "high", "readOnly")
    assert request.tools == ("read", "grep", "find", "ls")
    assert request.prompt.startswith("Look at a request.\n")


def test_an_object(tmp_path: Path) -> None:
    result, _ = asked(tmp_path, 'So: {"context": "c", "event": []}', parse="json")
    assert result.status == "complete"
    assert json.loads(files(result)["sockets/a/1.json"]) == {"context": "c"}
    assert files(result)["sockets/a/1.md"] == 'So: {"context": "c", "event": []}'


NEEDS_X: Json = {"parse": "json", "assign": {"x": "$.x"}}


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        pytest.param("nothing here", "no JSON object was found", id="no object"),
        pytest.param("{}", "'x' is missing, expected any value", id="contract"),
        pytest.param('{"x": 1, "event": 5}', "'event' is a number, expected a list", id="event"),
        pytest.param("", "the answer is empty, expected a JSON object", id="empty"),
        pytest.param(
            '{"x": 1} {"x": 2}', "the answer has two different JSON objects, expected one", id="two"
        ),
    ],
)
def test_one_repair(bad: str, why: str, tmp_path: Path) -> None:
    result, agent = asked(tmp_path, bad, '{"x": 1}', **NEEDS_X)
    first, second = agent.requests
    assert (result.status, result.cast.knowledge.state["x"]) == ("complete", 1)
    assert (second.turn, second.visit) == (2, 1)
    assert second.prompt.startswith(first.prompt.rstrip("\n"))
    assert f"- {why}" in second.prompt
    assert result.cast.visits == {"a": 1}
    assert files(result) == {
        "contexts/a/1.md": first.prompt,
        "contexts/a/1.repair-1.md": second.prompt,
        "sockets/a/1.md": bad,
        "sockets/a/1.repair-1.md": '{"x": 1}',
        "sockets/a/1.json": '{\n  "x": 1\n}\n',
    }


def test_no_second_repair(tmp_path: Path) -> None:
    result, agent = asked(tmp_path, "no", "still no", '{"x": 1}', **NEEDS_X)
    assert len(agent.requests) == 2
    assert failure(result) == (
        "output",
        "the answer was refused after one repair turn: no JSON object was found",
    )
    assert result.status == "failed"


def test_each_visit_has_a_repair_of_its_own(tmp_path: Path) -> None:
    config = loadout(
        {
            "a": socket(**NEEDS_X, edges=[{"to": "b"}]),
            "b": socket(**NEEDS_X),
        }
    )
    agent = Recorder(["no", '{"x": 1}', "no", '{"x": 2}'])
    result = cast(config, tmp_path, agent)
    assert (result.status, result.cast.knowledge.state["x"]) == ("complete", 2)


def test_text_is_never_repaired(tmp_path: Path) -> None:
    result, agent = asked(tmp_path, "")
    assert (result.status, len(agent.requests)) == ("complete", 1)


def test_an_answer_over_its_limit_is_not_repaired(tmp_path: Path) -> None:
    result, agent = asked(tmp_path, "{" + "ä" * 5, '{"x": 1}', **NEEDS_X, limits={"maxOutputBytes": 10})
    assert len(agent.requests) == 1
    assert failure(result) == ("output-limit", "the answer has 11 bytes, 10 are allowed")
    assert files(result)["sockets/a/1.md"] == "{" + "ä" * 5
    result, _ = asked(tmp_path, "ä" * 5, limits={"maxOutputBytes": 10})
    assert result.status == "complete"


def test_a_repair_over_its_limit(tmp_path: Path) -> None:
    result, _ = asked(tmp_path, "no", "x" * 11, **NEEDS_X, limits={"maxOutputBytes": 10})
    assert failure(result)[0] == "output-limit"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param(AgentError("no such model"), "no such model", id="raised"),
        pytest.param(
            Reply("half", stop="error", error="overloaded"), "the agent failed: overloaded", id="error"
        ),
        pytest.param(Reply("", stop="error"), "the agent failed: it gave no reason", id="no reason"),
        pytest.param(Reply("", stop="aborted"), "the agent failed: the agent was stopped", id="aborted"),
    ],
)
def test_a_provider_that_fails(reply: Reply | Exception, message: str, tmp_path: Path) -> None:
    result, agent = asked(tmp_path, reply, '{"x": 1}', **NEEDS_X)
    assert len(agent.requests) == 1
    assert failure(result) == ("agent", message)
    assert list(files(result)) == ["contexts/a/1.md"]


def test_what_a_failed_turn_used_is_counted(tmp_path: Path) -> None:
    result, _ = asked(tmp_path, Reply("", Usage(7, 3), stop="error", error="overloaded"))
    assert result.usage["total"]["input"] == 7
    assert len(result.usage["turns"]) == 1


def test_usage_of_every_turn(tmp_path: Path) -> None:
    used = Usage(10, 2, cost=0.1)
    result, _ = asked(
        tmp_path, Reply("no", used), Reply('{"x": 1}', used, model="m", provider="p"), **NEEDS_X
    )
    assert [(turn["turn"], turn["model"]) for turn in result.usage["turns"]] == [(1, None), (2, "m")]
    assert (result.usage["total"]["input"], result.usage["total"]["cost"]) == (20, 0.2)


def test_secrets_are_masked(tmp_path: Path) -> None:
    result, agent = asked(
        tmp_path,
        f"no {SECRET}",
        json.dumps({"x": [SECRET], "context": f"it is {SECRET}"}),
        materia={"prompt": f"Use {SECRET} for {{{{request}}}}"},
        environ={"MY_TOKEN": SECRET},
        **NEEDS_X,
    )
    assert result.status == "complete"
    assert all(SECRET not in request.prompt for request in agent.requests)
    assert agent.requests[0].prompt.startswith("Use *** for a request")
    assert result.cast.knowledge.state["x"] == ["***"]
    everything = [path for path in result.folder.rglob("*") if path.is_file()]
    assert len(everything) > 8
    assert [path for path in everything if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in json.dumps(result.as_data())


def test_secrets_in_the_words_of_a_provider_are_masked(tmp_path: Path) -> None:
    result, _ = asked(tmp_path, AgentError(f"bad key {SECRET}"), environ={"MY_TOKEN": SECRET})
    assert failure(result) == ("agent", "bad key ***")


TALKS: Json = {"multiTurn": True}


def test_a_talk(tmp_path: Path) -> None:
    replies = [Reply(text, session="s-1") for text in ("first", "second", "third")]
    person = Talker(["more of it", "continue", None])
    result, agent = asked(tmp_path, *replies, Reply("final", session="s-1"), materia=TALKS, person=person)
    assert result.status == "complete"
    assert person.heard == ["first", "second", "third"]
    assert [request.turn for request in agent.requests] == [1, 2, 3, 4]
    assert [request.session for request in agent.requests] == [None, "s-1", "s-1", "s-1"]
    assert [request.prompt for request in agent.requests[1:3]] == ["more of it", "continue"]
    assert agent.requests[3].prompt.startswith("The talk is over.")
    assert result.cast.knowledge.last_output == "final"
    assert sorted(files(result)) == [
        *("contexts/a/1.md", "contexts/a/1.turn-2.md", "contexts/a/1.turn-3.md", "contexts/a/1.turn-4.md"),
        *("sockets/a/1.md", "sockets/a/1.turn-2.md", "sockets/a/1.turn-2.said.md"),
        *("sockets/a/1.turn-3.md", "sockets/a/1.turn-3.said.md", "sockets/a/1.turn-4.md"),
    ]


def test_a_talk_ends_only_where_the_person_says_so(tmp_path: Path) -> None:
    """Whatever an answer says, sound JSON too, the person is asked."""
    person = Talker([None])
    result, agent = asked(tmp_path, '{"x": 1}', '{"x": 2}', materia=TALKS, person=person, **NEEDS_X)
    assert person.heard == ['{"x": 1}']
    assert result.cast.knowledge.state["x"] == 2
    assert "## Answer format" not in agent.requests[0].prompt
    assert "## Answer format" in agent.requests[1].prompt


def test_a_talk_is_told_to_a_back_end_that_keeps_no_session(tmp_path: Path) -> None:
    person = Talker(["one word", "another word", None])
    _, agent = asked(tmp_path, "first", "second", "third", "final", materia=TALKS, person=person)
    opening = agent.requests[0].prompt
    assert [request.session for request in agent.requests] == [None] * 4
    assert all(request.prompt.startswith(opening) for request in agent.requests[1:])
    told = agent.requests[3].prompt
    places = [
        told.index(text)
        for text in ("first", "one word", "second", "another word", "third", "The talk is over")
    ]
    assert places == sorted(places)
    assert "another word" not in agent.requests[1].prompt


def test_a_session_that_begins_later(tmp_path: Path) -> None:
    person = Talker(["one word", "another word", None])
    replies = [Reply("first"), *(Reply(f"answer {n}", session=f"s-{n}") for n in (2, 3)), Reply("final")]
    _, agent = asked(tmp_path, *replies, materia=TALKS, person=person)
    assert [request.session for request in agent.requests] == [None, None, "s-2", "s-3"]
    assert agent.requests[2].prompt == "another word"


@pytest.mark.parametrize("person", [None, Talker([]), Talker(["a word"])], ids=["nobody", "gone", "goes"])
def test_a_talk_without_a_person_waits(person: Talker | None, tmp_path: Path) -> None:
    said = len(person.words) if person else 0
    result, agent = asked(tmp_path, "A question?", materia=TALKS, person=person)
    assert (result.status, result.cast.failure) == ("waiting", None)
    assert len(agent.requests) == 1 + said
    assert result.as_data()["waiting"]
    assert len(result.usage["turns"]) == 1 + said


@pytest.mark.parametrize(("stop", "status"), [(True, "failed"), (False, "waiting")])
def test_a_talk_is_held_to_the_budget_before_each_turn(stop: bool, status: str, tmp_path: Path) -> None:
    person = Talker(["a word", "another", None])
    result, agent = asked(
        tmp_path,
        Reply("answer", Usage(30, 30)),
        materia=TALKS,
        budget={"maxTokens": 100, "stopAtLimit": stop},
        person=person,
    )
    assert result.status == status
    assert len(agent.requests) == 2
    words = "120 tokens have been used, the budget is 100 tokens"
    if stop:
        assert failure(result) == ("budget", words)
    else:
        assert result.as_data()["waiting"] == f"{words}: the cast waits for a higher limit"


def test_the_final_form_of_a_talk_is_repaired_once(tmp_path: Path) -> None:
    person = Talker(["a word", None])
    result, agent = asked(
        tmp_path, "first", "second", "no", '{"x": 1}', materia=TALKS, person=person, **NEEDS_X
    )
    assert (result.status, result.cast.knowledge.state["x"]) == ("complete", 1)
    assert agent.requests[3].prompt.startswith(agent.requests[2].prompt.rstrip("\n"))
    assert "- no JSON object was found" in agent.requests[3].prompt


def test_the_words_of_a_person_are_masked(tmp_path: Path) -> None:
    person = Talker([f"the key is {SECRET}", None])
    result, agent = asked(
        tmp_path, Reply("a", session="s"), materia=TALKS, person=person, environ={"MY_TOKEN": SECRET}
    )
    assert result.status == "complete"
    assert agent.requests[1].prompt == "the key is ***"


def test_the_item_is_told_to_the_agent(tmp_path: Path) -> None:
    config = loadout(
        {
            "plan": {"materia": "Planner", "edges": [{"to": "a"}]},
            "a": socket(advance={"cursor": "workItemIndex", "items": "state.workItems"}, edges=[{"to": "a"}]),
        },
        loops={"work": {"sockets": ["a"], "consumes": {"from": "plan", "output": "workItems"}}},
    )
    items = [{"title": title, "context": "c"} for title in ("One", "Two")]
    agent = Recorder([json.dumps({"workItems": items}), "done"])
    cast(config, tmp_path, agent)
    assert [request.item_key for request in agent.requests] == [None, "WI-1", "WI-2"]
    assert [request.visit for request in agent.requests] == [1, 1, 2]


def test_a_request_with_half_a_character(tmp_path: Path) -> None:
    agent = Recorder(["ok"])
    result = cast(loadout({"a": socket()}), tmp_path, agent, request="caf\udce9")
    assert result.status == "complete"
    assert agent.requests[0].prompt.encode()


def test_a_state_that_is_copied_into_itself_fails_the_cast(tmp_path: Path) -> None:
    items = [{"title": f"T{i}", "context": "c"} for i in range(20)]
    config = loadout(
        {
            "plan": {"materia": "Planner", "edges": [{"to": "a"}]},
            "a": socket(
                assign={"old" + ".er" * 30: "state.old"},
                advance={"cursor": "workItemIndex", "items": "state.workItems"},
                edges=[{"to": "a"}],
            ),
        },
        loops={"work": {"sockets": ["a"], "consumes": {"from": "plan", "output": "workItems"}}},
    )
    config["loadouts"]["L"]["sockets"]["plan"]["assign"] = {"old": "$.workItems.0"}
    result = cast(config, tmp_path, Recorder([json.dumps({"workItems": items}), "done"]))
    assert failure(result) == ("output", "'assign' nests the state more than 300 levels deep")
    assert json.dumps(result.as_data(), indent=2)


def test_what_an_agent_does_is_heard_without_secrets(tmp_path: Path) -> None:
    heard: list[tuple[str | None, str, str]] = []

    class Busy(Recorder):
        def turn(self, request: Request) -> Reply:
            assert request.progress is not None
            request.progress(Progress("tool", f"bash echo {SECRET}"))
            return super().turn(request)

    def hears(stream: str | None, part: Progress) -> None:
        heard.append((stream, part.kind, part.text))
        raise ValueError("whoever hears it breaks nothing")

    config = loadout({"a": socket()})
    done = cast(config, tmp_path, Busy([Reply("fine")]), environ={"MY_TOKEN": SECRET}, hears=hears)
    assert done.status == "complete"
    assert heard == [(None, "tool", "bash echo ***")]
