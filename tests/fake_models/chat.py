"""OpenAI chat completions."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fake_models.asked import Asked, Message, texts
from fake_models.script import Answer, Refusal
from fake_models.wire import Json, Protocol, event, new_id, pieces
from materiac.agents.protocol import Usage

_CODES = {
    "server": ("server_error", None),
    "overloaded": ("server_error", "overloaded"),
    "rate": ("requests", "rate_limit_exceeded"),
    "key": ("invalid_request_error", "invalid_api_key"),
    "context": ("invalid_request_error", "context_length_exceeded"),
    "request": ("invalid_request_error", None),
}
_CONTEXT_FULL = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. "
    "Please reduce the length of the messages."
)


def error(refusal: Refusal) -> Json:
    kind, code = _CODES[refusal.kind]
    message = refusal.message or _CONTEXT_FULL
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _parse(_path: str, body: Json) -> Asked:
    rest = [message for message in body["messages"] if message["role"] not in ("system", "developer")]
    systems = [message for message in body["messages"] if message not in rest]
    form = body.get("response_format") or {}
    return Asked(
        protocol="chat",
        model=body["model"],
        system="\n".join(texts(message["content"]) for message in systems),
        messages=tuple(map(_message, rest)),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools") or ()),
        stream=bool(body.get("stream")),
        body=body,
        schema=form.get("json_schema", {}).get("schema"),
    )


def _message(message: Json) -> Message:
    calls = tuple(call["function"]["name"] for call in message.get("tool_calls") or ())
    return Message(message["role"], texts(message.get("content")), calls, message.get("tool_call_id") or "")


def _whole(asked: Asked, answer: Answer) -> Json:
    calls = [
        {"id": new_id("call_"), "type": "function", "function": {"name": call.name, "arguments": call.text}}
        for call in answer.calls
    ]
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return _frame(asked, "chat.completion") | {"choices": [choice], "usage": _usage(answer.usage)}


def _stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    frame = _frame(asked, "chat.completion.chunk")
    for delta in _deltas(answer):
        yield event(frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event(frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]})
    if (asked.body.get("stream_options") or {}).get("include_usage"):
        yield event(frame | {"choices": [], "usage": _usage(answer.usage)})
    yield b"data: [DONE]\n\n"


def _deltas(answer: Answer) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(answer.thinking):
        yield {"reasoning_content": piece}
    for piece in pieces(answer.text):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        first = {"index": index, "id": new_id("call_"), "type": "function", "function": function}
        yield {"tool_calls": [first]}
        for piece in pieces(call.text):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _frame(asked: Asked, kind: str) -> Json:
    return {"id": new_id("chatcmpl-"), "object": kind, "created": int(time.time()), "model": asked.model}


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls and answer.stop == "stop" else answer.stop


def _usage(usage: Usage) -> Json:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


CHAT = Protocol(_parse, _whole, _stream, error)
