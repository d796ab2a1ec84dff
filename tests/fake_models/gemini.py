"""Gemini, as its REST interface has it."""

from __future__ import annotations

from collections.abc import Iterator

from fake_models.asked import Asked, Message, Role, texts
from fake_models.script import Answer, Refusal
from fake_models.wire import Json, Protocol, arguments, event, new_id, pieces

_STATUS = {
    "server": "INTERNAL",
    "overloaded": "UNAVAILABLE",
    "rate": "RESOURCE_EXHAUSTED",
    "key": "UNAUTHENTICATED",
    "context": "INVALID_ARGUMENT",
    "request": "INVALID_ARGUMENT",
}
_CONTEXT_FULL = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."


def _error(refusal: Refusal) -> Json:
    message = refusal.message or _CONTEXT_FULL
    return {"error": {"code": refusal.status, "message": message, "status": _STATUS[refusal.kind]}}


def _parse(path: str, body: Json) -> Asked:
    model, _, method = path.partition("?")[0].rpartition("/")[2].partition(":")
    declared = [tool.get("functionDeclarations") or () for tool in body.get("tools") or ()]
    form = body.get("generationConfig") or {}
    return Asked(
        protocol="gemini",
        model=model,
        system=texts((body.get("systemInstruction") or {}).get("parts")),
        messages=tuple(part for content in body["contents"] for part in _parts(content)),
        tools=tuple(function["name"] for functions in declared for function in functions),
        stream=method == "streamGenerateContent",
        body=body,
        schema=form.get("responseJsonSchema") or form.get("responseSchema"),
    )


def _parts(content: Json) -> Iterator[Message]:
    parts = content["parts"]
    given = [part["functionResponse"] for part in parts if "functionResponse" in part]
    for result in given:
        response = result["response"]
        call_id = result.get("id") or result["name"]
        yield Message("tool", str(response.get("output", response)), call_id=call_id)
    calls = tuple(part["functionCall"]["name"] for part in parts if "functionCall" in part)
    said = [part for part in parts if "text" in part and not part.get("thought")]
    role: Role = "assistant" if content["role"] == "model" else "tool" if given else "user"
    if said or calls:
        yield Message(role, texts(said), calls)


def _whole(asked: Asked, answer: Answer) -> Json:
    return _chunk(asked, answer, [*_thoughts(answer), *_texts(answer), *_calls(answer)], last=True)


def _stream(asked: Asked, answer: Answer) -> Iterator[bytes]:
    for part in [*_thoughts(answer), *_texts(answer)]:
        yield event(_chunk(asked, answer, [part], last=False))
    yield event(_chunk(asked, answer, _calls(answer), last=True))


def _thoughts(answer: Answer) -> list[Json]:
    return [{"text": piece, "thought": True} for piece in pieces(answer.thinking)]


def _texts(answer: Answer) -> list[Json]:
    return [{"text": piece} for piece in pieces(answer.text)]


def _calls(answer: Answer) -> list[Json]:
    return [
        {"functionCall": {"id": new_id("call_"), "name": call.name, "args": arguments(call.text)}}
        for call in answer.calls
    ]


def _chunk(asked: Asked, answer: Answer, parts: list[Json], *, last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    chunk: Json = {"candidates": [candidate], "modelVersion": asked.model, "responseId": new_id("")}
    if last:
        candidate["finishReason"] = "MAX_TOKENS" if answer.stop == "length" else "STOP"
        chunk["usageMetadata"] = _usage(answer)
    return chunk


def _usage(answer: Answer) -> Json:
    prompt = answer.usage.input + answer.usage.cache_read + answer.usage.cache_write
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": answer.usage.cache_read,
        "candidatesTokenCount": answer.usage.output,
        "totalTokenCount": prompt + answer.usage.output,
    }


GEMINI = Protocol(_parse, _whole, _stream, _error)
