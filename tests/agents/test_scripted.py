"""Answers from a script."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from materiac.agents import scripted
from materiac.agents.protocol import AgentError, Reply, Request, Usage


def _agent(tmp_path: Path, script: Any) -> scripted.Scripted:
    file = tmp_path / "answers.json"
    file.write_text(script if isinstance(script, str) else json.dumps(script), encoding="utf-8")
    return scripted.make(f"scripted:{file}")


def _request(socket: str = "build", **fields: Any) -> Request:
    given = {"visit": 1, "turn": 1, "cwd": Path("/"), **fields}
    return Request(prompt="do it", socket=socket, materia="Build", **given)


def _texts(agent: scripted.Scripted, *requests: Request) -> list[str]:
    return [agent.turn(request).text for request in requests]


def test_answers_come_in_order_and_the_last_is_repeated(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"sockets": {"build": ["one", "two", "three"]}})
    requests = [_request(turn=1), _request(turn=2), _request(visit=2), _request(visit=3), _request(visit=4)]
    assert _texts(agent, *requests) == ["one", "two", "three", "three", "three"]


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ({}, "ok"),
        ({"default": "fine"}, "fine"),
        ({"default": {"json": {"satisfied": True}}}, '{"satisfied":true}'),
        ({"sockets": {"build": []}}, "ok"),
        ({"sockets": {"build": {"WI-7": "seven"}}}, "ok"),
        ({"sockets": {"build": "bare"}}, "bare"),
        ({"sockets": {"build": {"text": "bare object"}}}, "bare object"),
        ({"sockets": {"build": ""}}, ""),
        (
            {"description": "what it shows", "sockets": {"build": {"json": {"ü": [1, None]}}}},
            '{"ü":[1,null]}',
        ),
    ],
    ids=json.dumps,
)
def test_spellings_of_an_answer(tmp_path: Path, script: Any, text: str) -> None:
    assert _texts(_agent(tmp_path, script), _request()) == [text]


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    assert _texts(_agent(tmp_path, '\ufeff{"default": "x"}'), _request()) == ["x"]


def test_answers_by_item_go_from_the_start_for_each(tmp_path: Path) -> None:
    answers = {"WI-1": ["first", "again"], "*": ["any", "any again"]}
    agent = _agent(tmp_path, {"sockets": {"build": answers}})
    keys = ["WI-1", "WI-2", "WI-1", "WI-2", "WI-3", None]
    requests = [_request(item_key=key, visit=visit) for visit, key in enumerate(keys, 1)]
    assert _texts(agent, *requests) == ["first", "any", "again", "any again", "any", "any"]


def test_a_new_agent_goes_on_where_a_resumed_cast_is(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"sockets": {"build": ["one", "two", "three"]}})
    requests = [_request(visit=2, asked_of_socket=1), _request(visit=2, turn=2, asked_of_socket=2)]
    assert _texts(agent, *requests) == ["two", "three"]


def test_a_new_agent_goes_on_where_an_item_of_a_resumed_cast_is(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"sockets": {"build": {"WI-1": ["one", "two"], "*": ["any", "other"]}}})
    requests = [
        _request(item_key="WI-1", asked_of_socket=3, asked_of_item=1),
        _request(item_key="WI-2", asked_of_socket=4),
    ]
    assert _texts(agent, *requests) == ["two", "any"]


def test_usage_is_what_the_script_says(tmp_path: Path) -> None:
    usage = {"input": 10, "output": 2, "cost": 0.5, "cacheRead": 3, "cacheWrite": 4}
    agent = _agent(tmp_path, {"sockets": {"build": [{"text": "a", "usage": usage}, "b"]}})
    assert agent.turn(_request()) == Reply("a", Usage(10, 2, 3, 4, 0.5), provider="scripted")
    assert agent.turn(_request(visit=2)).usage is None


def test_a_provider_that_fails(tmp_path: Path) -> None:
    answer = {"error": "overloaded", "usage": {"input": 1}}
    reply = _agent(tmp_path, {"default": answer}).turn(_request())
    assert reply == Reply("", Usage(1), stop="error", error="overloaded", provider="scripted")


def test_a_delay_holds_the_answer_back(tmp_path: Path) -> None:
    answers = ["slow", {"text": "fast", "delayMs": 0}]
    agent = _agent(tmp_path, {"delayMs": 60, "sockets": {"build": answers}})
    started = time.monotonic()
    agent.turn(_request())
    assert time.monotonic() - started >= 0.06


def test_a_delay_ends_with_the_time_of_the_turn(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"default": {"text": "late", "delayMs": 60_000}})
    with pytest.raises(AgentError, match=r"gave 'build' no answer in 0\.01 s"):
        agent.turn(_request(timeout_s=0.01))


def test_a_delay_ends_when_the_agent_is_closed(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"delayMs": 60_000})
    closing = threading.Timer(0.05, agent.close)
    closing.start()
    with pytest.raises(AgentError, match="was closed while 'build' waited"):
        agent.turn(_request())
    closing.join()


def test_files_are_written_below_the_working_folder(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"default": {"text": "done", "files": {"src/a.txt": "hällo\n"}}})
    agent.turn(_request(cwd=tmp_path, tools=("read", "write")))
    assert (tmp_path / "src" / "a.txt").read_text(encoding="utf-8") == "hällo\n"


def test_files_need_the_tool_for_it(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"default": {"text": "done", "files": {"a.txt": ""}}})
    with pytest.raises(AgentError, match="the script has 'build' write files, but it has no tool 'write'"):
        agent.turn(_request(cwd=tmp_path, tools=("read",)))
    assert not (tmp_path / "a.txt").exists()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    agent = _agent(tmp_path, {"default": {"text": "done", "files": {"answers.json/a": ""}}})
    with pytest.raises(AgentError, match=r"cannot write '.*/answers\.json/a': "):
        agent.turn(_request(cwd=tmp_path, tools=("write",)))


def test_threads_get_each_answer_once(tmp_path: Path) -> None:
    wanted = [f"answer {n}" for n in range(200)]
    agent = _agent(tmp_path, {"sockets": {"build": wanted}})
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: agent.turn(_request()).text, range(200)))
    assert Counter(got) == Counter(wanted)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('{"sockets": }', ":1:13: expecting value"),
        ('{"default": "a",\n "default": "b"}', ": the key 'default' is there twice in one object"),
        ('{"delayMs": NaN}', ": 'NaN' is no JSON number"),
        ('{"default": "\\ud800"}', ": there is a lone surrogate in it, which is no character"),
        ("[" * 100_000, ": it is nested too deeply"),
        ([], ": found [], expected an object"),
        ({"socket": {}}, ": socket: unknown key 'socket': did you mean 'sockets'?"),
        ({"sockets": []}, ": sockets: found [], expected an object"),
        ({"sockets": {"build": [1]}}, ": sockets.build.0: found 1, expected a text or an object"),
        ({"sockets": {"build": {}}}, ": sockets.build.0: an answer has one of 'text', 'json' and 'error'"),
        (
            {"default": {"text": "a", "json": {}}},
            ": default: an answer has one of 'text', 'json' and 'error'",
        ),
        ({"default": {"txt": "a"}}, ": default.txt: unknown key 'txt': did you mean 'text'?"),
        ({"default": {"text": 1}}, ": default.text: found 1, expected a text"),
        ({"default": {"json": [1]}}, ": default.json: found [1], expected an object"),
        ({"default": {"error": ""}}, ': default.error: found "", expected a text that is not empty'),
        (
            {"sockets": {"a": {"WI-1": ["x", {"text": "y", "usage": {"cost": "1"}}]}}},
            ': sockets.a.WI-1.1.usage.cost: found "1", expected a number',
        ),
        (
            {"default": {"text": "a", "usage": {"inputs": 1}}},
            ": default.usage.inputs: unknown key 'inputs': did you mean 'input'?",
        ),
        ({"delayMs": -1}, ": delayMs: found -1, expected greater than or equal to 0"),
        ({"delayMs": 1.5}, ": delayMs: found 1.5, expected a whole number"),
        ({"default": {"text": "a", "files": {"../x": ""}}}, "'../x' is no path below the working folder"),
        ({"default": {"text": "a", "files": {"/x": ""}}}, "'/x' is no path below the working folder"),
        ({"default": {"text": "a", "files": {"": ""}}}, "'' is no path below the working folder"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_script(tmp_path: Path, script: Any, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        _agent(tmp_path, script)
    assert str(caught.value).startswith((str(tmp_path / "answers.json"), "cannot read"))
    assert message in str(caught.value)


def test_a_script_that_is_no_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_bytes(b'{"default": "\xff"}')
    with pytest.raises(AgentError, match="the script is no UTF-8: invalid start byte at byte 13"):
        scripted.make(f"scripted:{file}")
