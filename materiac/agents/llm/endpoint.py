"""Which model is asked, where, and by which key: what stands in `llm?option=value:PROVIDER:MODEL`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from materiac.agents.options import options
from materiac.agents.protocol import AgentError
from materiac.names import suggestion

KEYS: Final[Mapping[str, str]] = {
    "openai": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""The providers, and the variable that holds the key where none is named."""
OPTIONS: Final = ("base_url", "key", "max_tokens", "max_requests")

_FORM: Final = "llm:PROVIDER:MODEL"
_SPEC: Final = re.compile(rf"llm(?:\?(.*?))?:({'|'.join(KEYS)}):(.+)", re.DOTALL)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_REQUESTS: Final = 200
_COUNT: Final = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind one of the protocols. `key` is the name of the variable that holds the key.

    `max_tokens` bounds one answer of the model, `max_requests` how often it is asked in a turn.
    """

    provider: str
    model: str
    base_url: str | None = None
    key: str | None = None
    max_tokens: int | None = None
    max_requests: int = _MAX_REQUESTS

    def secret(self) -> str | None:
        """The key; None where none is needed. Raises `AgentError` where it is missing."""
        if self.key is None:
            return None
        value = os.environ.get(self.key, "").strip()
        if not value:
            raise AgentError(
                f"the variable '{self.key}' is not set, which holds the key of '{self.provider}': set it, or "
                "name another with 'llm?key=NAME:…', or a server of your own with 'llm?base_url=http://…:…'"
            )
        return value


def read(spec: str) -> Endpoint:
    """What a spec says. Raises `AgentError`."""
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise AgentError(_misspelt(spec))
    options = _options(match[1] or "")
    base_url = options.get("base_url")
    if base_url is not None and not re.match(r"https?://[^/]", base_url):
        raise AgentError(f"'{base_url}' is no 'base_url', expected something like 'http://127.0.0.1:8080/v1'")
    return Endpoint(
        provider=match[2],
        model=match[3],
        base_url=base_url,
        # The key of a provider is for its own server alone.
        key=_key(options) or (KEYS[match[2]] if base_url is None else None),
        max_tokens=_count(options, "max_tokens"),
        max_requests=_count(options, "max_requests") or _MAX_REQUESTS,
    )


def _misspelt(spec: str) -> str:
    parts = spec.split(":")
    if "?" not in spec and len(parts) >= 3 and parts[2]:
        guess = suggestion(parts[1], KEYS) or f"expected one of {', '.join(KEYS)}"
        return f"there is no provider '{parts[1]}': {guess}"
    return f"'{spec}' names no model, expected '{_FORM}' with one of {', '.join(KEYS)}"


def _options(text: str) -> dict[str, str]:
    return dict(options(text, OPTIONS, "'llm'"))


def _key(options: Mapping[str, str]) -> str | None:
    name = options.get("key")
    if name is not None and not _VARIABLE.fullmatch(name):
        # It may be the key itself: it is not shown.
        raise AgentError(
            "the option 'key' is no name of a variable: the key itself stands in the environment"
        )
    return name


def _count(options: Mapping[str, str], name: str) -> int | None:
    value = options.get(name)
    if value is not None and not _COUNT.fullmatch(value):
        raise AgentError(f"'{value}' is no '{name}', expected a whole number from 1")
    return None if value is None else int(value)
