"""One answer of a model in a file, as a program.

    python -P -m materiac.agents.local_model    the query as JSON on standard input, the answer on output

The query has `model`, `system`, `prompt`, `schema` and `max_tokens`; the answer is one of chat completions.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Final

import xllamacpp

_CONTEXT: Final = 8192
_MAX_THREADS: Final = 8
_QUIET: Final = -1


def main() -> int:
    """Answer the query."""
    query = json.load(sys.stdin.buffer)
    # What native code prints is no part of the answer.
    output = os.dup(1)
    os.dup2(2, 1)
    answer = _server(query["model"]).handle_chat_completions(_request(query))
    with os.fdopen(output, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    return 0


def _server(model: str) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = _CONTEXT
    params.n_parallel = 1
    params.warmup = False
    params.verbosity = _QUIET
    # Threads wait for one another by spinning: where one has to wait for a core, all are slow.
    params.cpuparams.n_threads = max(1, min(os.cpu_count() or 1, _MAX_THREADS) - 1)
    params.cpuparams_batch.n_threads = params.cpuparams.n_threads
    return xllamacpp.Server(params)


def _request(query: dict[str, Any]) -> dict[str, Any]:
    messages = [{"role": "user", "content": query["prompt"]}]
    if query["system"]:
        messages.insert(0, {"role": "system", "content": query["system"]})
    request = {
        "messages": messages,
        "max_tokens": query["max_tokens"],
        "temperature": 0,
        "repeat_penalty": 1.1,
        "seed": 1,
    }
    if query["schema"] is not None:
        form = {"name": "handoff", "schema": query["schema"]}
        request["response_format"] = {"type": "json_schema", "json_schema": form}
        # The object is short, and half of one would be of no use.
        request["max_tokens"] = 4 * query["max_tokens"]
    return request


if __name__ == "__main__":
    sys.exit(main())
