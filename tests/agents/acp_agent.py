"""A small agent for tests that speaks the Agent Client Protocol: chat completions, tools, sessions in files.

acp_agent.py URL FOLDER

It asks before it uses a tool, and writes files through whoever asked it. It is written without the library
that we speak the protocol with, so that both do not err alike, and starts in no time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException
from pathlib import Path
from queue import Queue
from typing import Any

Json = dict[str, Any]

KINDS = {"write": "edit", "bash": "execute", "handoff": "other"}
PARAMETERS = {"write": ("path", "content"), "bash": ("command",)}
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class RefusalError(Exception):
    """What a request is answered with that fails."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Agent:
    """The agent's side of the protocol: a thread for each request."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.cwd = Path()
        self.servers: dict[str, list[Json]] = {}
        self.asked: dict[str, Queue[Json]] = {}
        self.lock = threading.Lock()

    def serve(self) -> None:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" not in message:
                self.asked[message["id"]].put(message)
            elif "id" in message:
                threading.Thread(target=self.answer, args=[message], daemon=True).start()

    def answer(self, message: Json) -> None:
        methods = {
            "initialize": self.initialize,
            "session/new": self.new,
            "session/load": self.load,
            "session/prompt": self.prompt,
        }
        try:
            result = {"result": methods[message["method"]](message["params"])}
        except RefusalError as refusal:
            result = {"error": {"code": refusal.code, "message": str(refusal)}}
        self.send({"id": message["id"], **result})

    def initialize(self, params: Json) -> Json:
        can = {"loadSession": True}
        return {"protocolVersion": params["protocolVersion"], "agentCapabilities": can}

    def new(self, params: Json) -> Json:
        session = uuid.uuid4().hex
        self.cwd, self.servers[session] = Path(params["cwd"]), params["mcpServers"]
        self.keep(session, [])
        return {"sessionId": session}

    def load(self, params: Json) -> Json:
        session = params["sessionId"]
        self.cwd, self.servers[session] = Path(params["cwd"]), params["mcpServers"]
        if not (self.folder / f"{session}.json").exists():
            raise RefusalError(-32002, "Resource not found")
        for message in self.messages(session):
            self.say(session, f"before: {message.get('content')}")
        return {}

    def prompt(self, params: Json) -> Json:
        session = params["sessionId"]
        said = "".join(block["text"] for block in params["prompt"])
        messages = [*self.messages(session), {"role": "user", "content": said}]
        spent = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
        while True:
            answer = self.model(messages, session)
            spent["inputTokens"] += answer["usage"]["prompt_tokens"]
            spent["outputTokens"] += answer["usage"]["completion_tokens"]
            message = answer["choices"][0]["message"]
            messages.append(message)
            self.say(session, message["content"] or "")
            if not message.get("tool_calls"):
                break
            messages += [self.called(session, call) for call in message["tool_calls"]]
        self.keep(session, messages)
        return {"stopReason": "end_turn", "usage": spent}

    def say(self, session: str, text: str) -> None:
        for start in range(0, len(text), 50_000):
            content = {"type": "text", "text": text[start : start + 50_000]}
            self.update(session, sessionUpdate="agent_message_chunk", content=content)

    def called(self, session: str, call: Json) -> Json:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        tool = {"toolCallId": call["id"], "title": f"{name} it", "kind": KINDS[name]}
        self.update(session, sessionUpdate="tool_call", status="pending", **tool)
        asked = self.ask("session/request_permission", sessionId=session, toolCall=tool, options=OPTIONS)
        allowed = asked["result"]["outcome"].get("optionId") == "yes"
        result = self.done(session, name, arguments) if allowed else f"{name} is not allowed"
        content = [{"type": "content", "content": {"type": "text", "text": result}}]
        status = "completed" if allowed else "failed"
        over = {"toolCallId": call["id"], "status": status, "content": content}
        self.update(session, sessionUpdate="tool_call_update", **over)
        return {"role": "tool", "tool_call_id": call["id"], "content": result}

    def done(self, session: str, name: str, arguments: Json) -> str:
        if name == "write":
            path = str(self.cwd / arguments["path"])
            self.ask("fs/write_text_file", sessionId=session, path=path, content=arguments["content"])
            return "written"
        if name == "handoff":
            return handed_over(self.servers[session][0], arguments)
        shell = ["bash", "-c", arguments["command"]]
        ran = subprocess.run(shell, cwd=self.cwd, stdin=-3, stdout=-1, stderr=-2, text=True, check=False)
        return str(ran.stdout)

    def model(self, messages: list[Json], session: str) -> Json:
        tools = [declared(name) for name in [*PARAMETERS, *(["handoff"] if self.servers[session] else [])]]
        body = json.dumps({"model": "fake-1", "messages": messages, "tools": tools}).encode()
        request = urllib.request.Request(  # noqa: S310 - the address is that of a fake
            f"{self.url}/chat/completions", body, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request) as response:  # noqa: S310
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            raise RefusalError(error.code, json.load(error)["error"]["message"]) from error
        except (OSError, HTTPException, ValueError) as error:
            raise RefusalError(-32603, f"the connection broke: {error}") from error

    def messages(self, session: str) -> list[Json]:
        return list(json.loads((self.folder / f"{session}.json").read_text(encoding="utf-8")))

    def keep(self, session: str, messages: list[Json]) -> None:
        (self.folder / f"{session}.json").write_text(json.dumps(messages), encoding="utf-8")

    def update(self, session: str, **update: Any) -> None:
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def ask(self, method: str, **params: Any) -> Json:
        id_ = uuid.uuid4().hex
        self.asked[id_] = Queue()
        self.send({"id": id_, "method": method, "params": params})
        return self.asked[id_].get()

    def send(self, message: Json) -> None:
        with self.lock:
            sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            sys.stdout.buffer.flush()


def declared(name: str) -> Json:
    properties = {parameter: {"type": "string"} for parameter in PARAMETERS.get(name, ())}
    return {"type": "function", "function": {"name": name, "parameters": {"properties": properties}}}


def handed_over(server: Json, arguments: Json) -> str:
    """Call the tool of an MCP server."""
    calls = [
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "tools/call", "params": {"name": "handoff", "arguments": arguments}},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": id_, **call}) + "\n" for id_, call in enumerate(calls)]
    command = [server["command"], *server["args"]]
    ran = subprocess.run(command, input="".join(lines), capture_output=True, text=True, check=True)
    return str(json.loads(ran.stdout.splitlines()[-1])["result"]["content"][0]["text"])


if __name__ == "__main__":
    Agent(sys.argv[1], Path(sys.argv[2])).serve()
