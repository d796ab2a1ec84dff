"""OpenAI responses."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from fake_models import chat
from fake_models.asked import Asked, Message, texts
from fake_models.script import Answer, Call
from fake_models.wire import Json, Protocol, event, new_id, pieces
from materiac.agents.protocol import Usage

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def _parse(_path: str, body: Json) -> Asked:
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    systems = [item for item in items if item.get("role") in ("system", "developer")]
    tools = list(_tools(body.get("tools") or ()))
    form = (body.get("text") or {}).get("format") or {}
    return Asked(
        protocol="responses",
        model=body["model"],
        system="\n".join([body.get("instructions") or "", *(texts(item["content"]) for item in systems)]),
        messages=tuple(_messages([item for item in items if item not in systems])),
        tools=tuple(tool["name"] for tool in tools),
        stream=bool(body.get("stream")),
        body=body,
        custom=frozenset(tool["name"] for tool in tools if tool["type"] == "custom"),
        schema=form.get("schema"),
    )


def _tools(tools: Iterable[Json]) -> Iterator[Json]:
    """The tools with a name of their own, or the name of their type; those of a namespace one by one."""
    for tool in tools:
        if tool["type"] == "namespace":
            yield from _tools(tool["tools"])
        else:
            yield {"name": tool["type"], **tool}


def _namespace(asked: Asked, name: str) -> Json:
    """The namespace of a tool, as a call of it has it; nothing for those without."""
    spaces = (tool for tool in asked.body.get("tools") or () if tool["type"] == "namespace")
    found = [space["name"] for space in spaces for tool in space["tools"] if tool["name"] == name]
    return {"namespace": found[0]} if found else {}


def _messages(items: list[Json]) -> Iterator[Message]:
    """The items as messages: what the model said and called in one answer is one message."""
    said, calls = "", list[str]()
    for item in items:
        kind = item.get("type", "message")
        if kind in _CALLS:
            calls.append(item["name"])
        elif kind == "message" and item["role"] == "assistant":
            said += texts(item["content"])
        elif kind in _OUTPUTS or kind == "message":
            if said or calls:
                yield Message("assistant", said, tuple(calls))
            said, calls = "", []
            yield _given(kind, item)
    if said or calls:
        yield Message("assistant", said, tuple(calls))


def _given(kind: str, item: Json) -> Message:
    if kind == "message":
        return Message("user", texts(item["content"]))
    return Message("tool", texts(item["output"]), call_id=item["call_id"])


def _whole(asked: Asked, answer: Answer) -> Json:
    output = [item for item, _begun, _events in _items(asked, answer)]
    return _frame(asked) | _end(answer, output)


def _stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    for number, data in enumerate(_events(asked, answer)):
        yield event(data | {"sequence_number": number}, data["type"])


def _events(asked: Asked, answer: Answer) -> Iterator[Json]:
    frame, items = _frame(asked), list(_items(asked, answer))
    yield {"type": "response.created", "response": frame}
    yield {"type": "response.in_progress", "response": frame}
    for index, (item, begun, events) in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        for data in events:
            yield {"item_id": item["id"], "output_index": index, **data}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    end = _end(answer, [item for item, _begun, _events in items])
    yield {"type": f"response.{end['status']}", "response": frame | end}


def _items(asked: Asked, answer: Answer) -> Iterator[tuple[Json, Json, list[Json]]]:
    """Each item when it is whole, as it begins, and the events between the two."""
    if answer.thinking:
        yield _thinking(answer.thinking)
    if answer.text or not answer.calls:
        yield _message(answer.text)
    for call in answer.calls:
        yield _custom(call) if call.name in asked.custom else _function(call, _namespace(asked, call.name))


def _thinking(text: str) -> tuple[Json, Json, list[Json]]:
    begun = {"type": "reasoning", "id": new_id("rs_"), "summary": []}
    part = {"type": "summary_text", "text": text}
    place = {"summary_index": 0}
    events = [
        {"type": "response.reasoning_summary_part.added", **place, "part": part | {"text": ""}},
        *_deltas("response.reasoning_summary_text.delta", text, place),
        {"type": "response.reasoning_summary_text.done", **place, "text": text},
        {"type": "response.reasoning_summary_part.done", **place, "part": part},
    ]
    return begun | {"summary": [part]}, begun, events


def _message(text: str) -> tuple[Json, Json, list[Json]]:
    begun = {
        "type": "message",
        "id": new_id("msg_"),
        "status": "in_progress",
        "role": "assistant",
        "content": [],
    }
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    place = {"content_index": 0}
    events = [
        {"type": "response.content_part.added", **place, "part": part | {"text": ""}},
        *_deltas("response.output_text.delta", text, place),
        {"type": "response.output_text.done", **place, "text": text},
        {"type": "response.content_part.done", **place, "part": part},
    ]
    return begun | {"status": "completed", "content": [part]}, begun, events


def _function(call: Call, namespace: Json) -> tuple[Json, Json, list[Json]]:
    begun = _call("function_call", "fc_", call) | {"arguments": "", **namespace}
    events = [
        *_deltas("response.function_call_arguments.delta", call.text, {}),
        {"type": "response.function_call_arguments.done", "name": call.name, "arguments": call.text},
    ]
    return begun | {"status": "completed", "arguments": call.text}, begun, events


def _custom(call: Call) -> tuple[Json, Json, list[Json]]:
    begun = _call("custom_tool_call", "ctc_", call) | {"input": ""}
    events = [
        *_deltas("response.custom_tool_call_input.delta", call.text, {}),
        {"type": "response.custom_tool_call_input.done", "input": call.text},
    ]
    return begun | {"status": "completed", "input": call.text}, begun, events


def _call(kind: str, prefix: str, call: Call) -> Json:
    ids = {"id": new_id(prefix), "call_id": new_id("call_")}
    return {"type": kind, **ids, "status": "in_progress", "name": call.name}


def _deltas(kind: str, text: str, place: Json) -> list[Json]:
    return [{"type": kind, **place, "delta": piece} for piece in pieces(text)]


def _frame(asked: Asked) -> Json:
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "model": asked.model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "usage": None,
    }


def _end(answer: Answer, output: list[Json]) -> dict[str, Any]:
    long = answer.stop == "length"
    return {
        "status": "incomplete" if long else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if long else None,
        "output": output,
        "usage": _usage(answer.usage),
    }


def _usage(usage: Usage) -> Json:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + usage.output,
    }


RESPONSES = Protocol(_parse, _whole, _stream, chat.error)
