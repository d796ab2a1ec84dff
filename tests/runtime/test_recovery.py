"""Turns that fail and are tried again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from samples import Json, cast, compiled, loadout, order, socket

from materiac.agents.protocol import Agent, Reply, Request, Usage
from materiac.runtime.journal import read
from materiac.runtime.recovery import HINT
from materiac.runtime.replay import replay
from materiac.runtime.resume import Resumption, resume
from materiac.runtime.run import Result, run


class Moody:
    """Replies what it is told to, in order; keeps what it was asked."""

    spec = "moody"

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []

    def turn(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies.pop(0)

    def close(self) -> None:
        """Nothing was started."""


def failing(fault: Any, error: str = "down", **rest: Any) -> Reply:
    return Reply("", Usage(1), stop="error", error=error, fault=fault, **rest)


QUICK: Json = {"attempts": 3, "firstPauseMs": 1, "longestPauseMs": 5}


def asked(tmp_path: Path, agent: Agent, recovery: Json = QUICK) -> Result:
    return cast({**loadout({"a": socket()}), "recovery": recovery}, tmp_path, agent)


@pytest.mark.parametrize("fault", ["transport", "rate"])
def test_what_may_pass_is_tried_again(tmp_path: Path, fault: str) -> None:
    agent = Moody(failing(fault), failing(fault), Reply("fine", Usage(2)))
    done = asked(tmp_path, agent)
    assert (done.status, done.cast.knowledge.last_output) == ("complete", "fine")
    assert done.usage["total"]["input"] == 4
    assert done.usage["total"]["turns"] == 3
    assert [request.turn for request in agent.requests] == [1, 2, 3]
    names = sorted(path.name for path in (done.folder / "contexts" / "a").iterdir())
    assert names == ["1.md", "1.retry-1.md", "1.retry-2.md"]
    told = [one.fields for one in read(done.folder / "events.jsonl").records if one.type == "turn_retried"]
    assert [(one["turn"], one["fault"], one["pauseS"]) for one in told] == [
        (1, fault, 0.001),
        (2, fault, 0.002),
    ]
    assert replay(done.folder).status == "complete"


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        pytest.param([failing("provider", "bad key")], "the agent failed: bad key", id="nothing would help"),
        pytest.param([failing(None, "bad key")], "the agent failed: bad key", id="unknown"),
        pytest.param(
            [failing("rate", "slow"), failing("transport", "down"), failing("transport", "down")],
            "the agent failed 3 times, the last 2 in the same way: down",
            id="the same twice in a row",
        ),
        pytest.param(
            [failing("transport", "down"), failing("rate", "slow"), failing("transport", "gone")],
            "the agent failed 3 times, lastly: gone",
            id="each time otherwise",
        ),
        pytest.param([failing("context", "full")], "the agent failed: full", id="no session to leave"),
    ],
)
def test_how_it_ends(tmp_path: Path, replies: list[Reply], message: str) -> None:
    failed = asked(tmp_path, Moody(*replies))
    assert failed.cast.failure is not None
    assert (failed.cast.failure["kind"], failed.cast.failure["message"]) == ("agent", message)
    assert failed.usage["total"]["turns"] == len(replies)
    assert replay(failed.folder).status == "failed"


def test_a_tool_that_runs_out_of_time_brings_a_hint(tmp_path: Path) -> None:
    agent = Moody(failing("tool"), failing("tool"), Reply("fine"))
    done = asked(tmp_path, agent, {**QUICK, "toolTimeouts": 2})
    assert done.status == "complete"
    assert [HINT in request.prompt for request in agent.requests] == [False, True, True]
    assert replay(done.folder).status == "complete"
    failed = asked(tmp_path, Moody(*[failing("tool")] * 3), {**QUICK, "toolTimeouts": 2})
    assert failed.status == "failed"


def test_no_longer_than_the_deadline(tmp_path: Path) -> None:
    began = time.monotonic()
    failed = asked(tmp_path, Moody(failing("rate", retry_after_s=50)), {"deadlineMs": 1000})
    assert failed.status == "failed"
    assert time.monotonic() - began < 20


def test_a_full_context_begins_afresh(tmp_path: Path) -> None:
    class Says:
        def __init__(self) -> None:
            self.words: list[str | None] = ["more", None]

        def say(self, answer: str) -> str | None:  # noqa: ARG002 - it says the same to all
            return self.words.pop(0)

    config = loadout({"a": {"materia": "Talk"}}, materia={"Talk": {"prompt": "Talk.", "multiTurn": True}})
    agent = Moody(
        Reply("one", session="s"),
        failing("context", "full"),
        Reply("two", session="t"),
        Reply("end", session="t"),
    )
    done = run(order(compiled(config), tmp_path, agent, person=Says()))
    assert done.status == "complete"
    assert [request.session for request in agent.requests] == [None, "s", None, "t"]
    assert agent.requests[1].prompt == "more"
    assert all(words in agent.requests[2].prompt for words in ("Talk.", "one", "more"))
    assert replay(done.folder).status == "complete"


def test_tries_go_on_in_another_process(tmp_path: Path) -> None:
    """Cut where another try was to come: it comes, and no other."""
    whole = asked(tmp_path, Moody(failing("rate"), failing("rate"), Reply("fine")))
    path = whole.folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if b'"turn_finished"' in line)
    for left in (lines[: last - 1], lines[:last]):
        path.write_bytes(b"".join(left))
        agent = Moody(Reply("fine"))
        done = resume(Resumption(whole.folder, agent, {}))
        assert (done.status, len(agent.requests)) == ("complete", 1)
        assert replay(done.folder).status == "complete"


def test_another_try_goes_on_where_the_agent_was(tmp_path: Path) -> None:
    config = {**loadout({"a": socket()}, budget={"maxTokens": 100}), "recovery": QUICK}
    agent = Moody(failing("transport", session="s"), Reply("fine"))
    done = cast(config, tmp_path, agent)
    assert done.status == "complete"
    assert [request.session for request in agent.requests] == [None, "s"]
    assert [request.tokens_left for request in agent.requests] == [100, 99]
