"""What a fake model answers: texts, calls of tools, and all that can go wrong between it and a program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fake_models.asked import Asked
from materiac.agents.protocol import Usage

USAGE: Final = Usage(input=100, output=10)
"""What an answer costs that does not say it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. Arguments that are a string are sent as they are, JSON or not."""

    name: str
    arguments: dict[str, Any] | str

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: `delay_s` before it begins, `pause_s` before each further piece of a stream.

    The `input` of the usage leaves out what came from the cache and what was written to it.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    usage: Usage = USAGE
    stop: Literal["stop", "length"] = "stop"
    delay_s: float = 0.0
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error by HTTP; `kind` is what each protocol has its own words for."""

    status: int
    message: str = ""
    kind: Literal["server", "overloaded", "rate", "key", "context", "request"] = "request"
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """An answer that stops in the middle: the connection breaks, or the stream ends as if it were whole."""

    answer: Answer
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """A connection that is closed without a byte."""


@dataclass(frozen=True, slots=True)
class Never:
    """No answer, until the program gives up or the server ends."""


Step = str | Call | Answer | Refusal | Cut | Closed | Never
Script = Sequence[Step] | Callable[[Asked], Step]

SERVER_ERROR: Final = Refusal(500, "the server had an error", "server")
OVERLOADED: Final = Refusal(503, "the server is overloaded", "overloaded")
UNAUTHORIZED: Final = Refusal(401, "the API key is not valid", "key")
CONTEXT_FULL: Final = Refusal(400, "", "context")
CLOSED: Final = Closed()
NEVER: Final = Never()


def rate_limit(retry_after_s: int | None = 1) -> Refusal:
    return Refusal(429, "too many requests", "rate", retry_after_s)


@dataclass(frozen=True)
class Dialogues:
    """A script without a memory: the first key that the prompt has in it leads to the answers to it.

    They are given one by one as the model is asked again with what the tools gave, so a request that is
    repeated is answered the same. What no key fits gets `otherwise`.
    """

    answers: Mapping[str, Sequence[Step] | Step]
    otherwise: Step = Refusal(400, "the script has no such prompt")

    def __call__(self, asked: Asked) -> Step:
        prompt = asked.prompt
        steps = next((steps for key, steps in self.answers.items() if key in prompt), self.otherwise)
        if isinstance(steps, str) or not isinstance(steps, Sequence):
            return steps
        if asked.step < len(steps):
            return steps[asked.step]
        return Refusal(400, f"the script has {len(steps)} answers, and was asked for one more")


def with_faults(script: Callable[[Asked], Step], faults: Mapping[int, Step]) -> Callable[[Asked], Step]:
    """The script, but for the requests with these numbers."""
    return lambda asked: faults[asked.number] if asked.number in faults else script(asked)


def as_answer(step: str | Call | Answer) -> Answer:
    if isinstance(step, str):
        return Answer(step)
    return Answer(calls=(step,)) if isinstance(step, Call) else step
