"""Several back ends as one: each turn goes to the one that its materia is given to.

    several:{"default": "pi", "scopes": {"readOnly": "claude"}, "materia": {"Build": "codex"}}

What a materia is given by its name comes before what it is given by its tool scope, and that before the
default. A back end is made when it is first needed; one text stands for one back end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from materiac.agents import choose
from materiac.agents.protocol import Agent, AgentError, Reply, Request
from materiac.names import suggestion

NAME: Final = "several"
_KEYS: Final = ("default", "scopes", "materia")
_SCOPES: Final = ("none", "readOnly", "coding", "custom")


class Several:
    """Hands turns on. May be asked from several threads."""

    def __init__(
        self, default: str | None, by_materia: Mapping[str, str], by_scope: Mapping[str, str]
    ) -> None:
        self.spec = _written(default, by_materia, by_scope)
        self.default, self.by_materia, self.by_scope = default, by_materia, by_scope
        self._made: dict[str, Agent] = {}
        self._closed = False
        self._lock = threading.Lock()

    def of(self, materia: str, scope: str) -> Agent:
        """Who answers for a materia with a tool scope. Raises `AgentError`."""
        spec = self.by_materia.get(materia) or self.by_scope.get(scope) or self.default
        if spec is None:
            raise AgentError(f"nothing says who answers for the materia '{materia}' (tools '{scope}')")
        with self._lock:
            if self._closed:
                raise AgentError(f"'{spec}' was closed before it was asked for '{materia}'")
            if spec not in self._made:
                self._made[spec] = choose.make(spec)
            return self._made[spec]

    def make_all(self, needed: Iterable[tuple[str, str]]) -> None:
        """Make what answers for pairs of a materia and a scope, and nothing else. Raises `AgentError`."""
        try:
            for materia, scope in needed:
                self.of(materia, scope)
        except AgentError:
            self.close()
            raise

    def turn(self, request: Request) -> Reply:
        """One turn of the back end that answers for the request's materia."""
        return self.of(request.materia, request.scope).turn(request)

    def close(self) -> None:
        """End every back end that was made."""
        with self._lock:
            self._closed = True
            made = list(self._made.values())
        for agent in made:
            agent.close()


def _written(default: str | None, by_materia: Mapping[str, str], by_scope: Mapping[str, str]) -> str:
    """All that was chosen, as `make` reads it."""
    parts = {"default": default, "scopes": dict(by_scope), "materia": dict(by_materia)}
    chosen = {key: part for key, part in parts.items() if part}
    return f"{NAME}:{json.dumps(chosen, ensure_ascii=False)}"


def agent_for(agent: Agent, materia: str, scope: str) -> Agent:
    """The one back end that answers for a materia. Raises `AgentError`."""
    return agent.of(materia, scope) if isinstance(agent, Several) else agent


def specs_in(spec: str) -> Iterator[str]:
    """The texts of the single back ends that may answer where this one was chosen."""
    if not spec.startswith(f"{NAME}:"):
        yield spec
        return
    several = make(spec)
    yield from dict.fromkeys(
        filter(None, [several.default, *several.by_scope.values(), *several.by_materia.values()])
    )


def make(spec: str) -> Several:
    """The agent of `several:{…}`. Raises `AgentError` where that is none."""
    chosen = _parsed(spec)
    unknown = next((key for key in chosen if key not in _KEYS), None)
    if unknown is not None:
        raise AgentError(f"'{unknown}' means nothing in '{NAME}:…', expected {', '.join(_KEYS)}")
    default = chosen.get("default")
    if default is not None and not _is_spec(default):
        raise AgentError(f"the 'default' of '{NAME}:…' is no agent: {default!r}")
    scopes = _by(chosen, "scopes")
    strange = next((scope for scope in scopes if scope not in _SCOPES), None)
    if strange is not None:
        guess = suggestion(strange, _SCOPES) or f"expected {', '.join(_SCOPES)}"
        raise AgentError(f"'{strange}' in '{NAME}:…' is no tool scope: {guess}")
    return Several(default, _by(chosen, "materia"), scopes)


def _parsed(spec: str) -> dict[str, Any]:
    try:
        chosen = json.loads(spec.partition(":")[2])
    except (ValueError, RecursionError) as error:
        raise AgentError(f"'{NAME}:…' cannot be read: {error}") from error
    if not isinstance(chosen, dict):
        raise AgentError(f"'{NAME}:…' is no object of agents")
    return chosen


def _by(chosen: Mapping[str, Any], key: str) -> dict[str, str]:
    by = chosen.get(key, {})
    if not isinstance(by, dict) or not all(map(_is_spec, by.values())):
        raise AgentError(f"'{key}' of '{NAME}:…' is no object of agents by name: {by!r}")
    return by


def _is_spec(value: Any) -> bool:
    return isinstance(value, str) and value != ""
