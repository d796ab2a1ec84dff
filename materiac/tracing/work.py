"""What spans tell of turns of agents and of commands."""

from __future__ import annotations

import re
from typing import Any, Final

from materiac.tracing.contents import Contents

Json = dict[str, Any]

FAILED_TURNS: Final = ("error", "aborted")
_PROVIDERS: Final = {
    "azure-openai-responses": "azure.ai.openai",
    "amazon-bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "google": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "xai": "x_ai",
}
"""What the conventions call providers that agents call otherwise."""


def turn_attributes(fields: Json, agent: str, asked: Any, contents: Contents | None) -> Json:
    """The attributes of a turn; `asked` is the model that its materia names, `agent` who answers."""
    provider = fields.get("provider") or re.split("[:?]", agent, maxsplit=1)[0] or "_OTHER"
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.agent.name": fields.get("materia"),
        "gen_ai.request.model": asked,
        "gen_ai.response.model": fields.get("model"),
        "gen_ai.response.finish_reasons": (str(fields.get("stop")),),
        "gen_ai.conversation.id": fields.get("session"),
        "materiac.turn": fields.get("turn"),
        **_usage(fields.get("usage")),
    }
    if contents is not None:
        told["gen_ai.input.messages"] = contents.message(fields, "context", "user")
        stop = str(fields.get("stop"))
        told["gen_ai.output.messages"] = contents.message(fields, "output", "assistant", stop)
    return told


def _usage(usage: Json | None) -> Json:
    """The tokens of a turn. By the conventions those of the input count what a cache had of it too."""
    if usage is None:
        return {}
    read, written = usage.get("cacheRead", 0), usage.get("cacheWrite", 0)
    return {
        "gen_ai.usage.input_tokens": usage.get("input", 0) + read + written,
        "gen_ai.usage.output_tokens": usage.get("output", 0),
        "gen_ai.usage.cache_read.input_tokens": read or None,
        "gen_ai.usage.cache_creation.input_tokens": written or None,
        "materiac.usage.cost_usd": float(usage.get("cost", 0)) or None,
    }


def command_attributes(fields: Json, contents: Contents | None) -> Json:
    """The attributes of a command of a utility."""
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": fields.get("materia"),
        "gen_ai.tool.type": "function",
        "process.exit.code": fields.get("code"),
        "materiac.signal": fields.get("signal"),
        "materiac.timed_out": fields.get("timedOut"),
    }
    if contents is not None:
        told["gen_ai.tool.call.arguments"] = contents.text(fields, "stdin")
        told["gen_ai.tool.call.result"] = contents.text(fields, "stdout")
    return told
