"""Anthropic messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fake_models.asked import Asked, Message, texts
from fake_models.script import Answer, Refusal
from fake_models.wire import Json, Protocol, arguments, event, new_id, pieces

_KINDS = {
    "server": "api_error",
    "overloaded": "overloaded_error",
    "rate": "rate_limit_error",
    "key": "authentication_error",
    "context": "invalid_request_error",
    "request": "invalid_request_error",
}
_CONTEXT_FULL = "prompt is too long: 210000 tokens > 200000 maximum"


def _error(refusal: Refusal) -> Json:
    error = {"type": _KINDS[refusal.kind], "message": refusal.message or _CONTEXT_FULL}
    return {"type": "error", "error": error, "request_id": new_id("req_")}


def _parse(_path: str, body: Json) -> Asked:
    rest = [message for message in body["messages"] if message["role"] != "system"]
    systems = [body.get("system"), *(m["content"] for m in body["messages"] if m["role"] == "system")]
    form = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
    return Asked(
        protocol="messages",
        model=body["model"],
        system="\n".join(map(texts, systems)),
        messages=tuple(part for message in rest for part in _parts(message)),
        tools=tuple(tool["name"] for tool in body.get("tools") or ()),
        stream=bool(body.get("stream")),
        body=body,
        schema=form.get("schema"),
    )


def _parts(message: Json) -> Iterator[Message]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    given = [block for block in blocks if block["type"] == "tool_result"]
    for block in given:
        yield Message("tool", texts(block.get("content")), call_id=block["tool_use_id"])
    calls = tuple(block["name"] for block in blocks if block["type"] == "tool_use")
    said = [block for block in blocks if block["type"] == "text"]
    if said or calls:
        yield Message("tool" if given else message["role"], texts(said), calls)


def _whole(asked: Asked, answer: Answer) -> Json:
    content = [block | filled for block, filled, _deltas in _blocks(answer)]
    frame = _frame(asked, answer)
    frame["usage"]["output_tokens"] = answer.usage.output
    return frame | {"content": content, "stop_reason": _reason(answer)}


def _stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    yield _event("message_start", message=_frame(asked, answer))
    yield _event("ping")
    for index, (block, _filled, deltas) in enumerate(_blocks(answer)):
        yield _event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    delta = {"stop_reason": _reason(answer), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": answer.usage.output})
    yield _event("message_stop")


def _event(kind: str, **fields: object) -> bytes:
    return event({"type": kind, **fields}, kind)


def _blocks(answer: Answer) -> Iterator[tuple[Json, Json, list[Json]]]:
    """Each block as it begins, what it has at its end, and the pieces between the two."""
    if answer.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(answer.thinking)]
        signature = new_id("sig")
        deltas.append({"type": "signature_delta", "signature": signature})
        begun: Json = {"type": "thinking", "thinking": "", "signature": ""}
        yield begun, {"thinking": answer.thinking, "signature": signature}, deltas
    if answer.text or not answer.calls:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(answer.text)]
        yield {"type": "text", "text": ""}, {"text": answer.text}, deltas
    for call in answer.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.text)]
        begun = {"type": "tool_use", "id": new_id("toolu_"), "name": call.name, "input": {}}
        yield begun, {"input": arguments(call.text)}, deltas


def _frame(asked: Asked, answer: Answer) -> Json:
    usage = {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": answer.usage.cache_write,
        "cache_read_input_tokens": answer.usage.cache_read,
        "output_tokens": 1,
    }
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _reason(answer: Answer) -> str:
    if answer.stop == "length":
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def count(body: Json) -> Json:
    """What `count_tokens` answers: about right."""
    return {"input_tokens": len(json.dumps(body)) // 4}


MESSAGES = Protocol(_parse, _whole, _stream, _error)
