"""The tool by which an agent hands its object over: an MCP server on standard input and output.

    python -m materiac.handoff_server FOLDER

`tool.json` in the folder has the `name`, the `description` and the `inputSchema` of the one tool; each
call of it becomes a line of `calls.jsonl` there, on the disk before it is answered. Arguments that do not
fit are answered with what is wrong, for the agent to mend; so is a call after one that was accepted. All
it knows is in these files: it does not matter which of several processes serves a call.

It serves the revisions of the protocol that begin with `initialize`, and the one in which each request
speaks for itself. Agents start it at every turn: it imports nothing but the standard library.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

Json = dict[str, Any]

TOOL_FILE: Final = "tool.json"
CALLS_FILE: Final = "calls.jsonl"
ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
REPEATED: Final = "repeated"

STATELESS: Final = "2026-07-28"
WITH_HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS: Final = (STATELESS, *WITH_HANDSHAKE)
_META: Final = "io.modelcontextprotocol/"
_SERVER_INFO: Final = {"name": "materiac", "version": "1"}
_CAPABILITIES: Final[Json] = {"tools": {}}
_UNCACHED: Final[Json] = {"ttlMs": 0, "cacheScope": "private"}

_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD = -32700, -32600, -32601
_INVALID_PARAMS, _OWN_FAULT, _UNKNOWN_REVISION = -32602, -32603, -32022
_MAX_LINE: Final = 64 * 1024**2
_MAX_PROBLEMS: Final = 20

_DONE: Final = "Accepted. This was the last thing to do: end your turn."
_AGAIN: Final = "A result was accepted before, and this call changes nothing. End your turn."


class _RefusedError(Exception):
    """A request that is answered with an error of JSON-RPC."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


def main(argv: list[str]) -> int:
    """Serve until the input ends."""
    if len(argv) != 1:
        sys.stderr.write("usage: python -m materiac.handoff_server FOLDER\n")
        return 2
    serve(Path(argv[0]), sys.stdin.buffer, sys.stdout.buffer)
    return 0


def serve(folder: Path, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests, a line each, until there are no more or nobody reads the answers."""
    for line in _lines(requests):
        answer = _answer(folder, line)
        if answer is None:
            continue
        try:
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())  # nothing fails at the exit
            return


def _lines(requests: BinaryIO) -> Iterator[bytes]:
    """Lines that are not blank; one that is too long without its end, as which it is no JSON."""
    while line := requests.readline(_MAX_LINE):
        rest = line
        while len(rest) == _MAX_LINE and not rest.endswith(b"\n"):
            rest = requests.readline(_MAX_LINE)
        if line.strip():
            yield line


def _answer(folder: Path, line: bytes) -> Json | list[Json] | None:
    try:
        message = json.loads(line, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return _error(None, {"code": _PARSE_ERROR, "message": "this is no JSON"})
    if isinstance(message, list) and message:  # a batch, which one of the revisions has
        answers = [_answer_one(folder, part) for part in message]
        return [answer for answer in answers if answer is not None] or None
    return _answer_one(folder, message)


def _no_number(word: str) -> Any:
    raise ValueError(word)


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _no_number(word)


def _answer_one(folder: Path, message: Any) -> Json | None:
    if not isinstance(message, dict) or not ("method" in message or _is_answer(message)):
        return _error(None, {"code": _INVALID_REQUEST, "message": "this is no request"})
    if "id" not in message or _is_answer(message):
        return None  # a notification, or the answer to a question that was not asked
    id_ = message["id"]
    if isinstance(id_, bool) or not isinstance(id_, str | int | float):
        return _error(None, {"code": _INVALID_REQUEST, "message": "the 'id' is no string and no number"})
    try:
        result = _result(folder, message["method"], message.get("params"))
    except _RefusedError as refused:
        return _error(id_, refused.error)
    except RecursionError:
        return _error(id_, {"code": _INVALID_PARAMS, "message": "the 'params' are nested too deeply"})
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _is_answer(message: Json) -> bool:
    return "method" not in message and ("result" in message or "error" in message)


def _error(id_: str | float | None, error: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "error": error}


def _result(folder: Path, method: Any, params: Any) -> Json:
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise _RefusedError(_INVALID_PARAMS, "the 'params' are no object")
    stateless = _is_stateless(params)
    serve_method = _METHODS.get(method) if isinstance(method, str) else None
    if serve_method is None:
        raise _RefusedError(_NO_METHOD, "there is no such method here")
    result = serve_method(folder, params)
    if stateless or method == "server/discover":
        result |= {"resultType": "complete", "_meta": {f"{_META}serverInfo": _SERVER_INFO}}
        result |= {} if "content" in result else _UNCACHED
    return result


def _is_stateless(params: Json) -> bool:
    """Whether a request says for itself which revision it is of. Raises where there is no such one."""
    meta = params.get("_meta")
    asked = meta.get(f"{_META}protocolVersion") if isinstance(meta, dict) else None
    if asked is not None and asked not in REVISIONS:
        words = "this revision of the protocol is not known here"
        raise _RefusedError(_UNKNOWN_REVISION, words, supported=list(REVISIONS), requested=asked)
    return bool(asked == STATELESS)


def _initialize(_: Path, params: Json) -> Json:
    asked = params.get("protocolVersion")
    revision = asked if asked in WITH_HANDSHAKE else WITH_HANDSHAKE[0]
    return {"protocolVersion": revision, "capabilities": _CAPABILITIES, "serverInfo": _SERVER_INFO}


def _discover(_: Path, __: Json) -> Json:
    return {"supportedVersions": list(REVISIONS), "capabilities": _CAPABILITIES}


def _ping(_: Path, __: Json) -> Json:
    return {}


def _list(folder: Path, _: Json) -> Json:
    return {"tools": [_tool(folder)]}


def _tool(folder: Path) -> Json:
    try:
        tool = json.loads((folder / TOOL_FILE).read_bytes())
    except (OSError, ValueError) as error:
        raise _RefusedError(_OWN_FAULT, f"the tool is not described: {error}") from error
    if not isinstance(tool, dict) or not {"name", "inputSchema"} <= tool.keys():
        raise _RefusedError(_OWN_FAULT, "the tool is not described")
    return tool


def _call(folder: Path, params: Json) -> Json:
    tool = _tool(folder)
    if params.get("name") != tool["name"]:
        raise _RefusedError(_INVALID_PARAMS, f"there is no tool of that name, only '{tool['name']}'")
    arguments = params.get("arguments")
    try:
        outcome, problems = keep(folder, {} if arguments is None else arguments, tool["inputSchema"])
    except OSError as error:
        return _told(f"The result could not be kept: {error.strerror}. Call the tool again.", failed=True)
    if outcome == REFUSED:
        wrong = "\n".join(f"- {problem}" for problem in problems)
        return _told(f"Not accepted:\n{wrong}\nCall the tool again, with every field.", failed=True)
    return _told(_DONE if outcome == ACCEPTED else _AGAIN, failed=outcome == REPEATED)


def _told(text: str, *, failed: bool) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


_METHODS: Final[dict[str, Callable[[Path, Json], Json]]] = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": _ping,
    "tools/list": _list,
    "tools/call": _call,
}


def keep(folder: Path, arguments: Any, schema: Json) -> tuple[str, list[str]]:
    """Write a call down in the folder of a server: what became of it, and what is wrong with it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with os.fdopen(os.open(folder / CALLS_FILE, flags, 0o600), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read()
        problems: list[str] = []
        outcome = REPEATED
        if not any(call["outcome"] == ACCEPTED for call in calls_in(before)):
            problems = list(problems_of(arguments, schema))[:_MAX_PROBLEMS]
            outcome = REFUSED if problems else ACCEPTED
        call = {"outcome": outcome, "arguments": arguments, "problems": problems}
        torn = b"" if before.endswith(b"\n") or not before else b"\n"
        file.write(torn + json.dumps(call).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return outcome, problems


def calls_in(text: bytes) -> list[Json]:
    """The calls in the text of a file of calls; what an interrupted write left is none."""
    calls = []
    for line in text.split(b"\n"):
        try:
            call = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(call, dict) and {"outcome", "arguments", "problems"} <= call.keys():
            calls.append(call)
    return calls


def problems_of(value: Any, schema: Json, path: str = "") -> Iterator[str]:
    """What is wrong with a value. Of JSON Schema: types, choices, fields of objects, entries of lists."""
    choices = schema.get("anyOf")
    if choices is not None and all(any(problems_of(value, choice, path)) for choice in choices):
        yield f"{_named(path)} is {_kind(value)}, expected {' or '.join(map(_expected, choices))}"
    types = _types(schema)
    if types and not any(type_ in _TYPES and _TYPES[type_][1](value) for type_ in types):
        yield f"{_named(path)} is {_kind(value)}, expected {_expected(schema)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{_named(path)} is not one of {json.dumps(schema['enum'], ensure_ascii=False)}"
    elif isinstance(value, dict):
        yield from _field_problems(value, schema, f"{path}." if path else "")
    elif isinstance(value, list) and "items" in schema:
        for index, entry in enumerate(value):
            yield from problems_of(entry, schema["items"], f"{path}[{index}]")


def _named(path: str) -> str:
    return f"'{path}'" if path else "the result"


def _field_problems(value: Json, schema: Json, prefix: str) -> Iterator[str]:
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"'{prefix}{name}' is missing, expected {_expected(fields.get(name, {}))}"
    for name, entry in value.items():
        if name in fields:
            yield from problems_of(entry, fields[name], f"{prefix}{name}")
        elif schema.get("additionalProperties") is False:
            known = ", ".join(f"'{field}'" for field in fields)
            yield f"'{prefix}{name[:80]}' is not known, expected {known or 'no field at all'}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "string": ("a string", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "integer": ("a whole number", lambda value: _is_number(value) and value % 1 == 0),
    "number": ("a number", _is_number),
}


def _types(schema: Json) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _kind(value: Any) -> str:
    return next(words for words, fits in _TYPES.values() if fits(value))


def _expected(schema: Json) -> str:
    return " or ".join(_TYPES[type_][0] for type_ in _types(schema) if type_ in _TYPES) or "a value"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
