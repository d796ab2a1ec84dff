"""What went wrong between us and a model, in the words of a reply."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UsageLimitExceeded,
)

from materiac.agents.llm.endpoint import Endpoint
from materiac.agents.protocol import Fault

_FAULTS: Final[tuple[tuple[type[ModelAPIError], Fault], ...]] = (
    (ModelRateLimitError, "rate"),
    (ModelContextWindowExceededError, "context"),
    (ModelConnectionError, "transport"),
    (ModelRequestTimeout, "transport"),
    (ModelServerError, "transport"),
    (ModelUnavailableError, "transport"),
)
_TOO_LONG: Final = re.compile(
    r"context.{0,20}(length|window|size)|prompt is too long|too many (input )?tokens", re.IGNORECASE
)
"""What servers say of a full context that have no code for it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What is said of an error: the message, what it came from, how long to wait."""

    message: str
    fault: Fault = "provider"
    retry_after_s: float | None = None


def failure(error: AgentRunError, endpoint: Endpoint) -> Failure:
    """What is said of an error that ended a turn."""
    if isinstance(error, UsageLimitExceeded):
        return Failure(f"the turn came to {endpoint.max_requests} requests, which is 'max_requests'")
    if not isinstance(error, ModelAPIError):
        return Failure(f"'{endpoint.provider}' failed: {error}")
    return Failure(_message(error, endpoint), _fault(error), error.retry_after)


def _fault(error: ModelAPIError) -> Fault:
    found = next((fault for kind, fault in _FAULTS if isinstance(error, kind)), None)
    if type(error) is ModelAPIError:  # of a stream that ends too early nothing more is known
        return "transport"
    if found is None and isinstance(error, ModelHTTPError) and _TOO_LONG.search(_said(error.body) or ""):
        return "context"
    return found or "provider"


def _message(error: ModelAPIError, endpoint: Endpoint) -> str:
    name = f"'{endpoint.provider}:{error.model_name}'"
    if isinstance(error, ModelConnectionError):
        return f"the connection to {name} failed: {_cause(error)}"
    if not isinstance(error, ModelHTTPError):
        return f"{name} failed: {error}"
    said = _said(error.body) or str(error)
    refused = isinstance(error, ModelAuthenticationError) and endpoint.key is not None
    key = f" (the key is from '{endpoint.key}')" if refused else ""
    return f"{name} answered with {error.status_code}: {said}{key}"


def _cause(error: BaseException) -> str:
    """What the innermost of an error's causes says, which is the one that knows."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return str(error) or type(error).__name__


def _said(body: Any) -> str | None:
    """The message in the body of an error, which providers nest differently."""
    while isinstance(body, dict):
        body = next((body[key] for key in ("message", "error", "detail") if body.get(key)), None)
    return body if isinstance(body, str) else None
