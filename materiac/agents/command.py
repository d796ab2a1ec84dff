"""Any program as the agent: the prompt on its standard input, the answer on its standard output.

    command:my-agent --fast                     split as a shell would; no shell runs
    command:["my-agent", "--fast"]              the same, as a JSON list
    command?env=MY_API_KEY:my-agent             with secrets of the environment, by name
    command?text=result&usage.cost=total_cost_usd:["claude", "-p", "--output-format", "json"]

Without other options, the output as it stands is the answer. With them, the output is a JSON object, a
list of objects or JSON lines, and each option is a path into it, of names and indexes. Where there are
several objects, the last one that has a value at the path counts; lines that are no JSON do not.

    env                                 names of variables, with commas between
    text                                the answer; needed where there is any other option
    usage.input, usage.output,
    usage.cacheRead, usage.cacheWrite   tokens of this turn
    usage.cost                          US dollars of this turn
    session                             comes back in MATERIAC_SESSION at the next turn of the talk
    model, provider                     who answered
    error                               a text, or true, where the provider failed

The program runs in the working folder of the cast. It has the environment, without the variables whose
names look like secrets unless `env` or its materia names them, and MATERIAC_SOCKET, _MATERIA, _ITEM,
_VISIT, _TURN, _SCOPE, _TOOLS (names with commas between), _MODEL, _THINKING and _SESSION, those without
a value left out.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import signal
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from materiac.agents.protocol import AgentError, AnswerLimitError, Reply, Request, Usage
from materiac.environment import Mask, clean, secrets, withheld
from materiac.names import suggestion
from materiac.path import MISSING, PathError, parse_target, read
from materiac.process import Completed, StartError, StoppedError, run

_MAX_STDERR_BYTES: Final = 64 * 1024
_EXCERPT: Final = 400
"""How many characters of an output a message shows."""

_TOKENS: Final = {
    "usage.input": "input",
    "usage.output": "output",
    "usage.cacheRead": "cache_read",
    "usage.cacheWrite": "cache_write",
}
OPTIONS: Final = ("env", "text", *_TOKENS, "usage.cost", "session", "model", "provider", "error")
_SPEC: Final = re.compile(r"command(?:\?([^:]*))?:(.*)", re.DOTALL)
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_LACKS: Final = re.compile(
    r"key(?![a-z])|token(?![a-z])|secret|password|credential|auth|log ?in|\b40[13]\b", re.IGNORECASE
)
"""What a program says that has not found its key."""
_NAMED: Final = 8
"""How many variables a message names."""

Paths = Mapping[str, tuple[str, ...]]
"""Where each option is read: the segments of its path."""


class Command:
    """Runs the program anew for each turn; threads may run it side by side."""

    def __init__(self, spec: str, argv: list[str], paths: Paths, env: Collection[str] = ()) -> None:
        self.spec = spec
        self._argv = argv
        self._paths = paths
        self._env = env
        self._stop = threading.Event()

    def turn(self, request: Request) -> Reply:
        """One run of the program."""
        try:
            reply = self._reply(request)
        except AgentError as error:
            raise type(error)(self._advised(str(error), request)) from error
        return reply if reply.error is None else replace(reply, error=self._advised(reply.error, request))

    def _reply(self, request: Request) -> Reply:
        done = self._run(request)
        if done.stdout_bytes > request.max_bytes:
            words = f"answered with {done.stdout_bytes} bytes, {request.max_bytes} are allowed"
            raise AnswerLimitError(f"'{self._argv[0]}' {words}")
        text = _decoded(self._argv[0], done)
        output = _Output(self._argv[0], text, self._paths) if self._paths else None
        error = output.error() if output else None
        if done.code != 0 and error is None:
            raise AgentError(f"'{self._argv[0]}' {_end(done)}{_last_words(done)}")
        return output.reply(error) if output else Reply(text)

    def close(self) -> None:
        """End every run that is under way, with all that it started."""
        self._stop.set()

    def _run(self, request: Request) -> Completed:
        try:
            done = run(
                self._argv,
                stdin=request.prompt.encode(),
                cwd=request.cwd,
                env=_environment(request, self._listed(request)),
                timeout_s=math.inf if request.timeout_s is None else request.timeout_s,
                max_bytes=request.max_bytes,
                max_stderr_bytes=_MAX_STDERR_BYTES,
                stop=self._stop,
                owner=request.owner,
            )
        except StartError as error:
            raise AgentError(str(error)) from error
        except StoppedError:
            raise AgentError(f"'{self._argv[0]}' was stopped before it answered") from None
        if done.timed_out:
            raise AgentError(f"'{self._argv[0]}' gave no answer in {request.timeout_s:g} s and was ended")
        return done

    def _listed(self, request: Request) -> frozenset[str]:
        return frozenset((*self._env, *request.env))

    def _advised(self, message: str, request: Request) -> str:
        """A message, with the names of what was withheld where it sounds as if that was missing."""
        names = withheld(os.environ, self._listed(request))
        if not names or not _LACKS.search(message):
            return message
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return (
            f"{message}\nhelp: it does not see {', '.join(names[:_NAMED])}{more}, which look like secrets: "
            f"list what it needs in 'env' of materia '{request.materia}', or as 'command?env=NAME:…'"
        )


def _environment(request: Request, listed: Collection[str]) -> dict[str, str]:
    told = {
        "PWD": str(request.cwd),
        "MATERIAC_SOCKET": request.socket,
        "MATERIAC_MATERIA": request.materia,
        "MATERIAC_ITEM": request.item_key,
        "MATERIAC_VISIT": str(request.visit),
        "MATERIAC_TURN": str(request.turn),
        "MATERIAC_SCOPE": request.scope,
        "MATERIAC_TOOLS": ",".join(request.tools),
        "MATERIAC_MODEL": request.model,
        "MATERIAC_THINKING": request.thinking,
        "MATERIAC_SESSION": request.session,
    }
    inherited = {name: value for name, value in clean(os.environ, listed).items() if name not in told}
    return inherited | {name: value for name, value in told.items() if value is not None}


def _decoded(program: str, done: Completed) -> str:
    try:
        return done.stdout.decode()
    except UnicodeDecodeError as error:
        raise AgentError(f"the answer of '{program}' is no UTF-8: byte {error.start} of it") from error


def _end(done: Completed) -> str:
    if done.signal is None:
        return f"ended with exit code {done.code}"
    return f"was ended by signal {done.signal} ({signal.strsignal(done.signal) or 'unknown'})"


def _last_words(done: Completed) -> str:
    said = _masked((done.stderr.strip() or done.stdout.strip()).decode(errors="replace"))
    return f": {said if len(said) <= _EXCERPT else f'…{said[-_EXCERPT:]}'}" if said else ""


def _masked(text: str) -> str:
    """A text without secrets: what is shown of it is cut, and half of one is not found any more."""
    return Mask(secrets(os.environ)).text(text)


class _Output:
    """The objects that a program printed, and what the options read in them."""

    def __init__(self, program: str, text: str, paths: Paths) -> None:
        self._program = program
        self._text = text
        self._paths = paths
        self._objects = list(_objects(text))

    def error(self) -> str | None:
        """What the program says went wrong; None where it says nothing of the kind."""
        found = self._at("error")
        if not found:
            return None
        message = found if isinstance(found, str) else self._at("text")
        return message if isinstance(message, str) and message else f"'{self._program}' reports an error"

    def reply(self, error: str | None) -> Reply:
        """The reply that the options make of the output. Raises `AgentError`."""
        return Reply(
            text=self._word("text") or "" if error else self._answer(),
            usage=self._usage(),
            session=self._word("session"),
            stop="stop" if error is None else "error",
            error=error,
            model=self._word("model"),
            provider=self._word("provider"),
        )

    def _at(self, option: str) -> Any:
        segments = self._paths.get(option)
        if segments is None:
            return None
        values = (read(part, segments) for part in reversed(self._objects))
        return next((value for value in values if value is not MISSING and value is not None), None)

    def _answer(self) -> str:
        text = self._word("text")
        if text is None:
            where = ".".join(self._paths["text"])
            raise AgentError(
                f"'{self._program}' gave no text at '{where}': {_masked(self._text)[:_EXCERPT].strip()!r}"
            )
        return text

    def _word(self, option: str) -> str | None:
        value = self._at(option)
        if value is None or (isinstance(value, str) and not _SURROGATE.search(value)):
            return value
        raise self._unexpected(option, value, "a text")

    def _usage(self) -> Usage | None:
        tokens = {field: self._number(option) for option, field in _TOKENS.items()}
        cost = self._number("usage.cost")
        known = {field: int(value) for field, value in tokens.items() if value is not None}
        return Usage(**known, cost=cost or 0.0) if known or cost is not None else None

    def _number(self, option: str) -> float | None:
        value = self._at(option)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self._unexpected(option, value, "a number that is not negative")
        return value

    def _unexpected(self, option: str, value: Any, expected: str) -> AgentError:
        where, shown = ".".join(self._paths[option]), _masked(repr(value))[:_EXCERPT]
        return AgentError(f"'{self._program}' gave {shown} at '{where}', expected {expected}")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of an output: one, a list of them, or one a line."""
    whole = _json(text)
    parts = (
        map(_json, text.split("\n"))
        if whole is MISSING
        else iter(whole if isinstance(whole, list) else [whole])
    )
    return (part for part in parts if isinstance(part, dict))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def make(spec: str) -> Command:
    """The agent of `command:…`. Raises `AgentError` where the text is none."""
    match = _SPEC.fullmatch(spec)
    argv = _argv(match[2]) if match else []
    if match is None or not argv:
        raise AgentError(f"'{spec}' names no command, expected 'command:PROGRAM ARGUMENT…'")
    if "/" not in argv[0] and shutil.which(argv[0]) is None:
        raise AgentError(f"the agent's command '{argv[0]}' is not on the PATH")
    options = _options(match[1] or "")
    env = tuple(filter(None, options.pop("env", "").split(",")))
    return Command(spec, argv, _paths(options), env)


def _argv(text: str) -> list[str]:
    try:
        words = json.loads(text) if text.lstrip().startswith("[") else shlex.split(text)
    except (ValueError, RecursionError) as error:
        raise AgentError(f"the agent's command cannot be read: {error}: {text}") from error
    if not all(isinstance(word, str) for word in words):
        raise AgentError(f"the agent's command is no list of texts: {text}")
    return list(words)


def _options(text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, _, value in (option.partition("=") for option in filter(None, text.split("&"))):
        if name not in OPTIONS:
            guess = suggestion(name, OPTIONS) or f"expected one of {', '.join(OPTIONS)}"
            raise AgentError(f"a command has no option '{name}': {guess}")
        if name in options:
            raise AgentError(f"the option '{name}' is there twice")
        options[name] = value
    return options


def _paths(options: Mapping[str, str]) -> Paths:
    paths: dict[str, tuple[str, ...]] = {}
    for name, path in options.items():
        try:
            paths[name] = parse_target(path)
        except PathError as error:
            raise AgentError(f"'{path}' is no path for '{name}': {error}") from error
    if paths and "text" not in paths:
        raise AgentError("the option 'text' is missing: it says where the answer is")
    return paths
