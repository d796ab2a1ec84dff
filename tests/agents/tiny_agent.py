"""A small agent as a program, for tests: chat completions, two tools, sessions in files.

tiny_agent.py URL FOLDER    the prompt on standard input, one JSON object on standard output
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PARAMETERS = {"write": ("path", "content"), "bash": ("command",)}


def main(url: str, folder: Path) -> Json:
    session = os.environ.get("MATERIAC_SESSION") or uuid.uuid4().hex
    file = folder / f"{session}.json"
    messages: list[Json] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    messages.append({"role": "user", "content": sys.stdin.buffer.read().decode()})
    usage = {"in": 0, "out": 0}
    while True:
        answer = _asked(url, messages)
        if "error" in answer:
            return {"error": answer["error"]["message"], "usage": usage}
        usage["in"] += answer["usage"]["prompt_tokens"]
        usage["out"] += answer["usage"]["completion_tokens"]
        message = answer["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            break
        messages += [_called(call) for call in message["tool_calls"]]
    file.write_text(json.dumps(messages), encoding="utf-8")
    return {"text": message["content"] or "", "session": session, "usage": usage}


def _asked(url: str, messages: list[Json]) -> Json:
    names = [name for name in PARAMETERS if name in os.environ["MATERIAC_TOOLS"].split(",")]
    body = {"model": "fake-1", "messages": messages, "tools": [_declared(name) for name in names]}
    asked = urllib.request.Request(  # noqa: S310 - the address is that of a fake
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(asked) as response:  # noqa: S310
            return dict(json.load(response))
    except urllib.error.HTTPError as error:
        return dict(json.load(error))
    except (OSError, ValueError) as error:
        return {"error": {"message": f"no answer: {error}"}}


def _declared(name: str) -> Json:
    properties = {parameter: {"type": "string"} for parameter in PARAMETERS[name]}
    return {"type": "function", "function": {"name": name, "parameters": {"properties": properties}}}


def _called(call: Json) -> Json:
    name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
    if name not in os.environ["MATERIAC_TOOLS"].split(","):
        result = f"there is no tool {name}"
    elif name == "write":
        Path(arguments["path"]).write_text(arguments["content"], encoding="utf-8")
        result = "written"
    else:
        done = subprocess.run(
            ["bash", "-c", arguments["command"]], capture_output=True, text=True, check=False
        )
        result = done.stdout + done.stderr
    return {"role": "tool", "tool_call_id": call["id"], "content": result}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))  # noqa: T201 - this is its answer
