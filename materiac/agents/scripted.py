"""The scripted agent: answers written down beforehand in a JSON file, for tests and demonstrations.

    {
      "sockets": {
        "plan":  {"json": {"workItems": []}, "usage": {"input": 900, "output": 80, "cost": 0.01}},
        "build": ["first answer", "second answer"],
        "check": {"WI-1": [{"json": {"satisfied": false}}, {"json": {"satisfied": true}}], "*": "fine"}
      },
      "default": "ok",
      "delayMs": 20
    }

Each turn takes the next answer of its socket; the last is repeated. A list by item key goes from its
start for every item, `*` is for the items that are not named, and a list that may also stand alone
is for the whole cast. An answer is a text or an object with one of `text`, `json` (sent as compact
JSON) and `error` (the provider fails), and with `usage`, `delayMs` and `files` (written below the
working folder, by agents that have the tool `write`).
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from materiac.agents.protocol import AgentError, Progress, Reply, Request, Usage
from materiac.names import suggestion

ALL: Final = "all items"
OTHERS: Final = "*"
_ITEM_KEY = re.compile(r"WI-\d+|\d+|\*")

Amount = Annotated[int, Field(ge=0)]


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel)


class _Usage(_Node):
    input: Amount = 0
    output: Amount = 0
    cache_read: Amount = 0
    cache_write: Amount = 0
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class _Answer(_Node):
    text: str | None = None
    data: dict[str, Any] | None = Field(None, alias="json")
    error: Annotated[str, Field(min_length=1)] | None = None
    usage: _Usage | None = None
    delay_ms: Amount | None = None
    files: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if sum(part is not None for part in (self.text, self.data, self.error)) != 1:
            raise ValueError("an answer has one of 'text', 'json' and 'error'")
        outside = next((name for name in self.files if not _inside(name)), None)
        if outside is not None:
            raise ValueError(f"'{outside}' is no path below the working folder")
        return self


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _spelled_out(answer: Any) -> Any:
    if isinstance(answer, str):
        return {"text": answer}
    if not isinstance(answer, dict):
        raise ValueError(f"found {_shown(answer)}, expected a text or an object")  # noqa: TRY004
    return answer


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _by_item(answers: Any) -> dict[str, Any]:
    """Answers by item key; those of the whole cast under `ALL`, which is no item key."""
    if isinstance(answers, dict) and answers and all(map(_ITEM_KEY.fullmatch, answers)):
        return {key: _listed(value) for key, value in answers.items()}
    return {ALL: _listed(answers)}


def _listed(answers: Any) -> Any:
    return answers if isinstance(answers, list) else [answers]


Answer = Annotated[_Answer, BeforeValidator(_spelled_out)]
Answers = Annotated[dict[str, list[Answer]], BeforeValidator(_by_item)]


class Script(_Node):
    """What a file of answers holds."""

    description: str | None = None
    sockets: dict[str, Answers] = Field(default_factory=dict)
    default: Answer = _Answer(text="ok")
    delay_ms: Amount = 0


class Scripted:
    """Answers from a script. May be asked from several threads."""

    def __init__(self, spec: str, script: Script) -> None:
        self.spec = spec
        self._script = script
        self._taken: Counter[tuple[str, str | None]] = Counter()
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def turn(self, request: Request) -> Reply:
        """The next answer of the request's socket."""
        answer = self._next(request)
        self._wait(answer, request)
        _write(answer, request)
        text = answer.text or ""
        if answer.data is not None:
            text = json.dumps(answer.data, ensure_ascii=False, separators=(",", ":"))
        usage = None if answer.usage is None else Usage(**answer.usage.model_dump())
        failed = answer.error is not None
        return Reply(text, usage, stop="error" if failed else "stop", error=answer.error, provider="scripted")

    def close(self) -> None:
        """End the delays that are under way."""
        self._closed.set()

    def _next(self, request: Request) -> _Answer:
        lists = self._script.sockets.get(request.socket, {})
        if ALL in lists:
            return self._take((request.socket, ALL), lists[ALL], request.asked_of_socket)
        key = request.item_key
        answers = lists.get(key or OTHERS, lists.get(OTHERS, []))
        return self._take((request.socket, key), answers, request.asked_of_item)

    def _take(self, place: tuple[str, str | None], answers: list[_Answer], least: int) -> _Answer:
        # A resumed cast comes with a new agent: what another one answered counts as taken.
        with self._lock:
            index = max(self._taken[place], least)
            self._taken[place] = index + 1
        return answers[min(index, len(answers) - 1)] if answers else self._script.default

    def _wait(self, answer: _Answer, request: Request) -> None:
        delay = (self._script.delay_ms if answer.delay_ms is None else answer.delay_ms) / 1000
        late = request.timeout_s is not None and delay > request.timeout_s
        if delay and self._closed.wait(request.timeout_s if late else delay):
            raise AgentError(f"the scripted agent was closed while '{request.socket}' waited for its answer")
        if late:
            raise AgentError(
                f"the scripted agent gave '{request.socket}' no answer in {request.timeout_s:g} s"
            )


def _write(answer: _Answer, request: Request) -> None:
    if answer.files and "write" not in request.tools:
        raise AgentError(f"the script has '{request.socket}' write files, but it has no tool 'write'")
    for name, content in answer.files.items():
        file = request.cwd / name
        if request.progress is not None:
            request.progress(Progress("tool", f"write {name}"))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        except OSError as error:
            raise AgentError(f"the scripted agent cannot write '{file}': {error.strerror}") from error


def make(spec: str) -> Scripted:
    """The agent of `scripted:FILE`. Raises `AgentError` where the file is no script."""
    name = spec.partition(":")[2]
    if not name:
        raise AgentError(f"'{spec}' names no file, expected 'scripted:FILE'")
    return Scripted(spec, _read(Path(name)))


def _read(file: Path) -> Script:
    try:
        return Script.model_validate(_parsed(file, _content(file)))
    except ValidationError as error:
        faults = [f"{file}: {_fault(details)}" for details in error.errors()]
        raise AgentError("\n".join(faults)) from error


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise AgentError(f"cannot read the script '{file}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise AgentError(f"{file}: the script is no UTF-8: {error.reason} at byte {error.start}") from error


def _parsed(file: Path, text: str) -> Any:
    try:
        data = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_number)
        json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        message = f"{error.msg[0].lower()}{error.msg[1:]}"
        raise AgentError(f"{file}:{error.lineno}:{error.colno}: {message}") from error
    except UnicodeEncodeError as error:
        raise AgentError(f"{file}: there is a lone surrogate in it, which is no character") from error
    except RecursionError as error:
        raise AgentError(f"{file}: it is nested too deeply") from error
    except ValueError as error:
        raise AgentError(f"{file}: {error}") from error
    return data


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if repeated:
        raise ValueError(f"the key '{repeated[0]}' is there twice in one object")
    return dict(pairs)


def _no_number(word: str) -> Any:
    raise ValueError(f"'{word}' is no JSON number")


_EXPECTED: Final = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "int_type": "a whole number",
    "float_type": "a number",
    "dict_type": "an object",
    "model_type": "an object",
}


def _fault(details: ErrorDetails) -> str:
    """One fault in words: where it is, what was found, what was expected."""
    loc = tuple(str(part) for part in details["loc"] if part != ALL)
    message = _words(details, loc)
    return f"{'.'.join(loc)}: {message}" if loc else message


def _words(details: ErrorDetails, loc: tuple[str, ...]) -> str:
    kind, message = details["type"], details["msg"]
    if kind == "extra_forbidden":
        return _unknown_key(loc)
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    expected = _EXPECTED.get(kind) or message.removeprefix("Input should be ")
    return f"found {_shown(details['input'])}, expected {expected}"


def _unknown_key(loc: tuple[str, ...]) -> str:
    shapes: dict[str, type[_Node]] = {"": Script, "usage": _Usage}
    fields = shapes.get(loc[-2] if len(loc) > 1 else "", _Answer).model_fields
    guess = suggestion(loc[-1], (field.alias or name for name, field in fields.items()))
    return f"unknown key '{loc[-1]}'" + (f": {guess}" if guess else "")
