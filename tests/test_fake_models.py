"""The fake models speak their protocols, go wrong as they are told, and note what was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import urllib3
from fake_models import (
    CLOSED,
    CONTEXT_FULL,
    NEVER,
    OVERLOADED,
    SERVER_ERROR,
    UNAUTHORIZED,
    USAGE,
    Answer,
    Asked,
    Call,
    Cut,
    Dialogues,
    FakeModels,
    Refusal,
    Step,
    rate_limit,
    with_faults,
)
from urllib3.exceptions import HTTPError

from materiac.agents.protocol import Usage

Json = dict[str, Any]
Post = Callable[[FakeModels, bool], urllib3.BaseHTTPResponse]

READ = Call("read", {"path": "ä.txt"})
PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}
USED = Usage(input=70, output=9, cache_read=20, cache_write=10)

CHAT: Json = {
    "model": "fake-1",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "ls"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
    ],
    "tools": [{"type": "function", "function": {"name": "read", "parameters": PARAMETERS}}],
    "stream_options": {"include_usage": True},
}
RESPONSES: Json = {
    "model": "fake-1",
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
    ],
    "tools": [{"type": "function", "name": "read", "parameters": PARAMETERS}],
}
MESSAGES: Json = {
    "model": "fake-1",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "a.txt"}],
                }
            ],
        },
    ],
    "tools": [{"name": "read", "input_schema": PARAMETERS}],
}
GEMINI: Json = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Look."}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "ls", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "a.txt"}}}],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "read", "parametersJsonSchema": PARAMETERS}]}],
}


def post(url: str, body: Json, **options: Any) -> urllib3.BaseHTTPResponse:
    return urllib3.request("POST", url, json=body, retries=False, timeout=20.0, **options)


def chat(fake: FakeModels, stream: bool) -> urllib3.BaseHTTPResponse:
    return post(f"{fake.v1}/chat/completions", CHAT | {"stream": stream})


def responses(fake: FakeModels, stream: bool) -> urllib3.BaseHTTPResponse:
    return post(f"{fake.v1}/responses", RESPONSES | {"stream": stream})


def messages(fake: FakeModels, stream: bool) -> urllib3.BaseHTTPResponse:
    return post(f"{fake.url}/v1/messages?beta=true", MESSAGES | {"stream": stream})


def gemini(fake: FakeModels, stream: bool) -> urllib3.BaseHTTPResponse:
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return post(f"{fake.url}/v1beta/models/fake-1:{method}", GEMINI)


ALL: list[Post] = [chat, responses, messages, gemini]
every = pytest.mark.parametrize("ask", ALL, ids=lambda ask: ask.__name__)
either = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def events(response: urllib3.BaseHTTPResponse) -> list[Json]:
    """What the events of a stream hold; that of the responses and messages name their type twice."""
    found = []
    for text in response.data.decode().split("\n\n")[:-1]:
        *names, data = text.split("\n")
        if data != "data: [DONE]":
            found.append(json.loads(data.removeprefix("data: ")))
            assert names in ([], [f"event: {found[-1].get('type')}"])
    return found


def in_chat(parts: list[Json]) -> tuple[str, list[tuple[str, str]], Any]:
    text, calls, end, usage = "", dict[int, list[str]](), None, None
    for part in parts:
        usage = part.get("usage") or usage
        for choice in part["choices"]:
            said = choice.get("delta", choice.get("message"))
            text += said.get("content") or ""
            end = choice["finish_reason"] or end
            for index, call in enumerate(said.get("tool_calls", [])):
                name, arguments = call["function"].get("name", ""), call["function"]["arguments"]
                known = calls.setdefault(call.get("index", index), ["", ""])
                known[:] = [known[0] + name, known[1] + arguments]
    assert usage is not None
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (100, 9, 109)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 20
    return text, [(name, arguments) for name, arguments in calls.values()], end


def in_responses(parts: list[Json]) -> tuple[str, list[tuple[str, str]], Any]:
    response = parts[-1].get("response", parts[-1])
    texts = [i["content"][0]["text"] for i in response["output"] if i["type"] == "message"]
    calls = [(i["name"], i["arguments"]) for i in response["output"] if i["type"] == "function_call"]
    if len(parts) > 1:
        deltas = [p["delta"] for p in parts if p["type"] == "response.output_text.delta"]
        assert "".join(deltas) == "".join(texts)
        deltas = [p["delta"] for p in parts if p["type"] == "response.function_call_arguments.delta"]
        assert "".join(deltas) == "".join(arguments for _name, arguments in calls)
        assert [p["sequence_number"] for p in parts] == list(range(len(parts)))
        done = [p["item"] for p in parts if p["type"] == "response.output_item.done"]
        assert done == response["output"]
    usage = response["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (100, 9, 109)
    assert usage["input_tokens_details"]["cached_tokens"] == 20
    return "".join(texts), calls, "tool_calls" if calls else response["status"]


def in_messages(parts: list[Json]) -> tuple[str, list[tuple[str, str]], Any]:
    if len(parts) == 1:
        return _in_message(parts[0])
    message, blocks = parts[0]["message"], list[Json]()
    for part in parts:
        if part["type"] == "content_block_start":
            blocks.append(part["content_block"] | {"json": ""})
        elif part["type"] == "content_block_delta" and part["delta"]["type"] == "input_json_delta":
            blocks[part["index"]]["json"] += part["delta"]["partial_json"]
        elif part["type"] == "content_block_delta":
            blocks[part["index"]]["text"] += part["delta"]["text"]
    for block in blocks:
        block["input"] = json.loads(block.pop("json") or "{}")
    end = parts[-2]
    message["usage"] |= end["usage"]
    assert parts[-1] == {"type": "message_stop"}
    return _in_message(message | {"content": blocks, "stop_reason": end["delta"]["stop_reason"]})


def _in_message(message: Json) -> tuple[str, list[tuple[str, str]], Any]:
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    called = [block for block in message["content"] if block["type"] == "tool_use"]
    calls = [(block["name"], json.dumps(block["input"])) for block in called]
    assert message["usage"] == {
        "input_tokens": 70,
        "output_tokens": 9,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 10,
    }
    return text, calls, {"tool_use": "tool_calls"}.get(message["stop_reason"], message["stop_reason"])


def in_gemini(parts: list[Json]) -> tuple[str, list[tuple[str, str]], Any]:
    inside = [part for chunk in parts for part in chunk["candidates"][0]["content"]["parts"]]
    called = [part["functionCall"] for part in inside if "functionCall" in part]
    usage = parts[-1]["usageMetadata"]
    assert (usage["promptTokenCount"], usage["candidatesTokenCount"]) == (100, 9)
    assert usage["cachedContentTokenCount"] == 20
    end = parts[-1]["candidates"][0]["finishReason"]
    text = "".join(part.get("text", "") for part in inside)
    return (
        text,
        [(call["name"], json.dumps(call["args"])) for call in called],
        "tool_calls" if called else end,
    )


READERS: dict[Post, Callable[[list[Json]], tuple[str, list[tuple[str, str]], Any]]] = {
    chat: in_chat,
    responses: in_responses,
    messages: in_messages,
    gemini: in_gemini,
}
STOPS: dict[Post, str] = {chat: "stop", responses: "completed", messages: "end_turn", gemini: "STOP"}
LENGTHS: dict[Post, str] = {
    chat: "length",
    responses: "incomplete",
    messages: "max_tokens",
    gemini: "MAX_TOKENS",
}


def answered(ask: Post, stream: bool, step: Step) -> tuple[str, list[tuple[str, str]], Any]:
    with FakeModels([step]) as fake:
        response = ask(fake, stream)
        assert response.status == 200, response.data
        return READERS[ask](events(response) if stream else [response.json()])


@every
@either
def test_an_answer_has_its_text(ask: Post, stream: bool) -> None:
    assert answered(ask, stream, Answer("Sehr schön.\u2028So!", usage=USED)) == (
        "Sehr schön.\u2028So!",
        [],
        STOPS[ask],
    )


@every
@either
def test_an_answer_can_call_tools(ask: Post, stream: bool) -> None:
    step = Answer("I look.", (READ, Call("read", {"path": "b"})), usage=USED)
    calls = [("read", READ.text), ("read", '{"path": "b"}')]
    assert answered(ask, stream, step) == ("I look.", calls, "tool_calls")


@every
@either
def test_an_answer_can_be_too_long(ask: Post, stream: bool) -> None:
    assert answered(ask, stream, Answer("And so", stop="length", usage=USED))[2] == LENGTHS[ask]


@pytest.mark.parametrize("ask", [chat, responses], ids=["chat", "responses"])
@either
def test_arguments_may_be_no_json(ask: Post, stream: bool) -> None:
    step = Answer(calls=(Call("read", '{"path": '),), usage=USED)
    assert answered(ask, stream, step)[1] == [("read", '{"path": ')]


def test_a_tool_of_plain_text_is_called_so() -> None:
    body = RESPONSES | {"tools": [{"type": "custom", "name": "patch"}]}
    with FakeModels([Call("patch", "*** Begin")]) as fake:
        item = post(f"{fake.v1}/responses", body).json()["output"][0]
    assert (item["type"], item["input"]) == ("custom_tool_call", "*** Begin")


@every
def test_what_is_asked_is_noted(ask: Post) -> None:
    with FakeModels(["yes", "no"]) as fake:
        ask(fake, True)
        ask(fake, False)
        first, second = fake.requests
    assert (first.number, first.stream, second.number, second.stream) == (1, True, 2, False)
    for asked in (first, second):
        assert asked.system.strip() == "Be brief."
        assert [message.role for message in asked.messages] == ["user", "assistant", "tool"]
        assert (asked.model, asked.tools, asked.prompt, asked.step) == ("fake-1", ("read",), "Look.", 1)
        assert (asked.messages[1].calls, asked.results) == (("ls",), ("a.txt",))
        assert asked.headers is not None
        assert asked.headers["content-type"] == "application/json"


@every
def test_every_message_and_call_has_its_own_id(ask: Post) -> None:
    with FakeModels(lambda _asked: Answer("Look:", (READ, READ))) as fake:
        data = "".join(ask(fake, False).data.decode() for _ in range(3))
    ids = [part.split('"')[0] for part in data.split('"id": "')[1:]]
    assert len(ids) >= 6
    assert len(ids) == len(set(ids))


@every
def test_what_was_served_is_counted(ask: Post) -> None:
    with FakeModels([Answer("a", usage=USED), "b", Cut(Answer("c")), SERVER_ERROR]) as fake:
        ask(fake, True)
        ask(fake, False)
        with pytest.raises(HTTPError):
            ask(fake, True)
        ask(fake, True)
        assert fake.served == Usage(170, 19, 20, 10)
        assert len(fake.requests) == 4


@pytest.mark.parametrize(
    ("refusal", "status", "openai", "anthropic"),
    [
        pytest.param(SERVER_ERROR, 500, "server_error", "api_error", id="server"),
        pytest.param(OVERLOADED, 503, "server_error", "overloaded_error", id="overloaded"),
        pytest.param(rate_limit(7), 429, "requests", "rate_limit_error", id="rate"),
        pytest.param(UNAUTHORIZED, 401, "invalid_request_error", "authentication_error", id="key"),
        pytest.param(CONTEXT_FULL, 400, "invalid_request_error", "invalid_request_error", id="context"),
    ],
)
def test_a_refusal_has_the_words_of_the_protocol(
    refusal: Refusal, status: int, openai: str, anthropic: str
) -> None:
    with FakeModels(lambda _asked: refusal) as fake:
        answers = {ask: ask(fake, True) for ask in ALL}
    assert {answer.status for answer in answers.values()} == {status}
    assert {answer.headers.get("Retry-After") for answer in answers.values()} == {
        "7" if refusal.kind == "rate" else None
    }
    assert answers[chat].json()["error"]["type"] == openai
    assert answers[responses].json()["error"]["type"] == openai
    assert answers[messages].json()["error"]["type"] == anthropic
    assert answers[gemini].json()["error"]["code"] == status
    assert all(answer.json()["error"]["message"] for answer in answers.values())


@every
@pytest.mark.parametrize("step", [Cut(Answer("It is so.")), CLOSED], ids=["cut", "closed"])
@either
def test_a_connection_can_break(ask: Post, step: Step, stream: bool) -> None:
    with FakeModels([step, "again"]) as fake:
        with pytest.raises(HTTPError):
            ask(fake, stream)
        assert ask(fake, stream).status == 200


@every
def test_a_stream_can_end_too_early_without_a_sign(ask: Post) -> None:
    with FakeModels([Cut(Answer("It is so, and that is all."), quiet=True), "again"]) as fake:
        short, whole = events(ask(fake, True)), events(ask(fake, True))
    assert 0 < len(short) < len(whole)


@pytest.mark.parametrize(
    "step", [NEVER, Answer("late", delay_s=60), Answer("slow", pause_s=60)], ids=["never", "late", "slow"]
)
def test_who_does_not_wait_is_noted(step: Step) -> None:
    with FakeModels([step]) as fake:
        with pytest.raises(HTTPError):
            urllib3.request(
                "POST",
                f"{fake.v1}/chat/completions",
                json=CHAT | {"stream": True},
                retries=False,
                timeout=0.1,
            )
        fake.wait(1)
        fake.wait_dropped()
        assert fake.dropped == [1]


def test_a_word_beside_what_a_tool_gave_is_no_prompt() -> None:
    body = json.loads(json.dumps(MESSAGES))
    body["messages"][2]["content"].append({"type": "text", "text": "<reminder>"})
    body["messages"].append({"role": "system", "content": "It is late."})
    with FakeModels(["yes"]) as fake:
        post(f"{fake.url}/v1/messages", body)
        (asked,) = fake.requests
    assert (asked.prompt, asked.step, asked.results) == ("Look.", 1, ("a.txt",))
    assert asked.system == "Be brief.\nIt is late."


def test_a_script_can_be_a_function() -> None:
    def script(asked: Asked) -> Step:
        return f"{asked.prompt} {asked.results[0]}"

    with FakeModels(script) as fake:
        assert chat(fake, False).json()["choices"][0]["message"]["content"] == "Look. a.txt"


def test_a_script_that_raises_is_told_at_the_end() -> None:
    def script(asked: Asked) -> Step:
        raise KeyError(asked.prompt)

    with pytest.raises(KeyError, match="Look"), FakeModels(script) as fake:
        assert chat(fake, True).status == 400


def test_a_script_that_is_over_refuses() -> None:
    with FakeModels([]) as fake:
        assert "has 0 answers" in chat(fake, True).json()["error"]["message"]


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        pytest.param({"Look": [READ, "Seen."]}, "Seen.", id="second-step"),
        pytest.param({"Listen": "x", "": "Anything."}, "Anything.", id="another-key"),
        pytest.param({"Listen": "x"}, None, id="no-key"),
        pytest.param({"Look": [READ]}, None, id="no-more-steps"),
    ],
)
def test_dialogues_answer_by_the_prompt(answers: dict[str, Step | list[Step]], text: str | None) -> None:
    with FakeModels(Dialogues(answers)) as fake:
        again = [chat(fake, False) for _ in range(2)]
    for response in again:
        assert response.status == (200 if text else 400)
        assert text is None or response.json()["choices"][0]["message"]["content"] == text


def test_faults_come_by_their_number() -> None:
    with FakeModels(with_faults(Dialogues({"Look": "Always."}), {2: SERVER_ERROR})) as fake:
        assert [chat(fake, True).status for _ in range(3)] == [200, 500, 200]


def test_what_is_no_question_to_a_model_is_answered_too() -> None:
    with FakeModels([]) as fake:
        models = urllib3.request("GET", f"{fake.v1}/models").json()
        counted = post(f"{fake.url}/v1/messages/count_tokens", MESSAGES).json()
        unknown = urllib3.request("GET", f"{fake.url}/v1/unknown").status
        assert fake.paths == ["GET /v1/models", "POST /v1/messages/count_tokens", "GET /v1/unknown"]
        assert fake.requests == []
    assert models["data"][0]["id"] == "fake-1"
    assert counted["input_tokens"] > 10
    assert unknown == 404


def test_an_answer_that_says_no_usage_has_one() -> None:
    with FakeModels(["a"]) as fake:
        chat(fake, True)
        assert fake.served == USAGE
