"""The model of pydantic-ai that an endpoint stands for."""

from __future__ import annotations

from typing import Final, get_args

from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings, ThinkingEffort, ThinkingLevel

from materiac.agents.llm.endpoint import Endpoint

_NO_KEY: Final = "none"
"""What is sent to a server that asks for no key: the libraries want one."""
_WHOLE: Final = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
"""A stream that ends without saying why was cut."""
_OFF: Final = ("off", "none")


def make(endpoint: Endpoint, name: str | None) -> Model:
    """The model, or another one of the same provider by its name. Raises `AgentError`."""
    name = name or endpoint.model
    if endpoint.provider == "anthropic":
        key = endpoint.secret() or _NO_KEY
        return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=endpoint.base_url))
    if endpoint.provider == "openai-responses":
        return OpenAIResponsesModel(name, provider=_openai(endpoint))
    return OpenAIChatModel(name, provider=_openai(endpoint), profile=_WHOLE)


def settings(endpoint: Endpoint, thinking: ThinkingLevel | None) -> ModelSettings:
    """What every request is asked with. Nothing is tried again here: whoever runs the cast does that."""
    chosen = ModelSettings(max_retries=0, cache=True, framing_announcement="never")
    if endpoint.max_tokens is not None:
        chosen["max_tokens"] = endpoint.max_tokens
    if thinking is not None:
        chosen["thinking"] = thinking
    return chosen


def thinking_of(word: str) -> ThinkingLevel | None:
    """The level that a word stands for; None where it stands for none."""
    if word in _OFF:
        return False
    efforts: dict[str, ThinkingEffort] = {effort: effort for effort in get_args(ThinkingEffort)}
    return efforts.get(word)


def _openai(endpoint: Endpoint) -> Provider[AsyncOpenAI]:
    if endpoint.base_url is None:
        return OpenAIProvider(api_key=endpoint.secret())
    return OpenAICompatibleProvider(
        "openai", base_url=endpoint.base_url, api_key=endpoint.secret() or _NO_KEY
    )
