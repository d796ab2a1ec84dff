"""A model server on loopback, which answers as a test tells it, in the protocols that agents speak.

with FakeModels([Call("read", {"path": "a.txt"}), "done"]) as fake:
    ...  # point a program at `fake.v1` (OpenAI) or `fake.url` (Anthropic, Gemini)
assert fake.requests[0].tools == ("read",)
"""

from __future__ import annotations

from fake_models.asked import Asked, Message
from fake_models.script import (
    CLOSED,
    CONTEXT_FULL,
    NEVER,
    OVERLOADED,
    SERVER_ERROR,
    UNAUTHORIZED,
    USAGE,
    Answer,
    Call,
    Closed,
    Cut,
    Dialogues,
    Never,
    Refusal,
    Script,
    Step,
    rate_limit,
    with_faults,
)
from fake_models.server import FakeModels

__all__ = [
    "CLOSED",
    "CONTEXT_FULL",
    "NEVER",
    "OVERLOADED",
    "SERVER_ERROR",
    "UNAUTHORIZED",
    "USAGE",
    "Answer",
    "Asked",
    "Call",
    "Closed",
    "Cut",
    "Dialogues",
    "FakeModels",
    "Message",
    "Never",
    "Refusal",
    "Script",
    "Step",
    "rate_limit",
    "with_faults",
]
