"""The tool that agents hand over with: a real process, spoken to by hand over its pipes."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from materiac import handoff_server
from materiac.handoff_server import REVISIONS, STATELESS, WITH_HANDSHAKE, calls_in, problems_of

Json = dict[str, Any]

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "satisfied": {"type": "boolean"},
        "context": {"type": ["string", "null"]},
        "workItems": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}},
                "required": ["title"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["satisfied"],
    "additionalProperties": False,
}
GOOD: Json = {"satisfied": True}


class Client:
    """An MCP client, written out by hand."""

    def __init__(self, folder: Path, *words: str) -> None:
        command = words or (sys.executable, "-I", handoff_server.__file__, str(folder))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.stdin: IO[bytes] = self.process.stdin  # type: ignore[assignment]
        self.stdout: IO[bytes] = self.process.stdout  # type: ignore[assignment]
        self._last = 0

    def send(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def hear(self) -> Any:
        return json.loads(self.stdout.readline())

    def ask(self, method: str, **params: Any) -> Json:
        """The whole answer to a request."""
        self._last += 1
        self.send(
            json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode()
        )
        answer: Json = self.hear()
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self._last)
        return answer

    def call(self, arguments: Any, **more: Any) -> tuple[bool, str]:
        """Call the tool: whether that was an error, and what it says."""
        result = self.ask("tools/call", name="handoff", arguments=arguments, **more)["result"]
        [part] = result["content"]
        assert part["type"] == "text"
        return result["isError"], part["text"]

    def close(self) -> int:
        self.stdin.close()
        code = self.process.wait(timeout=10)
        self.stdout.close()
        return code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tool = {"name": "handoff", "description": "Hand over.", "inputSchema": SCHEMA}
    (tmp_path / "tool.json").write_text(json.dumps(tool))
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    client = Client(folder)
    yield client
    client.process.kill()
    client.close()


def written(folder: Path) -> list[Json]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]


def shake_hands(client: Client, revision: str) -> Json:
    info = {"name": "test", "version": "1"}
    answer = client.ask("initialize", protocolVersion=revision, capabilities={}, clientInfo=info)
    client.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    result: Json = answer["result"]
    return result


@pytest.mark.parametrize("revision", WITH_HANDSHAKE)
def test_a_talk_with_a_handshake(client: Client, folder: Path, revision: str) -> None:
    began = shake_hands(client, revision)
    assert began["protocolVersion"] == revision
    assert began["capabilities"] == {"tools": {}}
    assert began["serverInfo"]["name"] == "materiac"
    assert client.ask("ping")["result"] == {}
    [tool] = client.ask("tools/list")["result"]["tools"]
    assert tool == {"name": "handoff", "description": "Hand over.", "inputSchema": SCHEMA}
    assert client.call(GOOD) == (False, "Accepted. This was the last thing to do: end your turn.")
    assert written(folder) == [{"outcome": "accepted", "arguments": GOOD, "problems": []}]
    assert client.close() == 0


@pytest.mark.parametrize("asked", [STATELESS, "2099-01-01", 7, None], ids=str)
def test_a_handshake_of_another_revision_is_answered_with_the_newest(client: Client, asked: Any) -> None:
    answer = client.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})
    assert answer["result"]["protocolVersion"] == WITH_HANDSHAKE[0]


def meta(revision: str = STATELESS) -> Json:
    prefix = "io.modelcontextprotocol/"
    return {f"{prefix}protocolVersion": revision, f"{prefix}clientCapabilities": {}}


def test_a_talk_without_one(client: Client, folder: Path) -> None:
    found = client.ask("server/discover", _meta=meta())["result"]
    assert found["supportedVersions"] == list(REVISIONS)
    listed = client.ask("tools/list", _meta=meta())["result"]
    assert [tool["name"] for tool in listed["tools"]] == ["handoff"]
    called = client.ask("tools/call", name="handoff", arguments=GOOD, _meta=meta())["result"]
    assert called["isError"] is False
    for result in (found, listed, called):
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "materiac"
    for result in (found, listed):
        assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert written(folder)[0]["arguments"] == GOOD


def test_a_revision_that_is_not_known(client: Client) -> None:
    error = client.ask("tools/list", _meta=meta("1900-01-01"))["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": list(REVISIONS), "requested": "1900-01-01"}


def test_it_is_a_module_too(folder: Path) -> None:
    client = Client(folder, sys.executable, "-m", "materiac.handoff_server", str(folder))
    assert client.call(GOOD)[0] is False
    assert client.close() == 0
    done = subprocess.run([sys.executable, "-m", "materiac.handoff_server"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"usage: python -m materiac.handoff_server FOLDER\n")


# Calls


def test_what_does_not_fit_can_be_mended(client: Client, folder: Path) -> None:
    failed, text = client.call({"satisfied": "yes", "workItems": [{"title": 1}, {}], "more": 0})
    assert failed
    assert text.splitlines() == [
        "Not accepted:",
        "- 'satisfied' is a string, expected true or false",
        "- 'workItems[0].title' is a whole number, expected a string",
        "- 'workItems[1].title' is missing, expected a string",
        "- 'more' is not known, expected 'satisfied', 'context', 'workItems'",
        "Call the tool again, with every field.",
    ]
    assert client.call(GOOD)[0] is False
    assert [call["outcome"] for call in written(folder)] == ["refused", "accepted"]


def test_a_second_result_changes_nothing(client: Client, folder: Path) -> None:
    client.call(GOOD)
    failed, text = client.call({"satisfied": False})
    assert failed
    assert text == "A result was accepted before, and this call changes nothing. End your turn."
    assert [call["outcome"] for call in written(folder)] == ["accepted", "repeated"]


def test_it_does_not_matter_which_process_is_called(client: Client, folder: Path) -> None:
    client.call(GOOD)
    other = Client(folder)
    assert other.call(GOOD)[0] is True
    other.close()


def test_of_many_processes_at_once_one_is_the_first(folder: Path) -> None:
    clients = [Client(folder) for _ in range(4)]
    outcomes: list[bool] = []
    threads = [
        threading.Thread(target=lambda one=one: outcomes.extend(one.call(GOOD)[0] for _ in range(5)))
        for one in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    assert sorted(outcomes) == [False] + [True] * 19
    assert len(written(folder)) == 20


@pytest.mark.parametrize(
    "text",
    [
        "\u2028 and \x85 and \x0b",
        "\ud800",
        "日本語 🎉",
        'a "quoted" \\ word',
        "x" * 300_000,
        "{{request}}\r\n",
    ],
    ids=["separators", "half a pair", "scripts", "quotes", "long", "braces"],
)
def test_texts_come_as_they_are(client: Client, folder: Path, text: str) -> None:
    assert client.call({**GOOD, "context": text})[0] is False
    [call] = calls_in((folder / "calls.jsonl").read_bytes())
    assert call["arguments"]["context"] == text


def test_calls_are_private_and_no_link_is_followed(client: Client, folder: Path, tmp_path: Path) -> None:
    client.call({})
    assert stat.S_IMODE((folder / "calls.jsonl").stat().st_mode) == 0o600
    (folder / "calls.jsonl").unlink()
    outside = tmp_path / "outside"
    outside.write_text("")
    (folder / "calls.jsonl").symlink_to(outside)
    failed, text = client.call(GOOD)
    assert (failed, "The result could not be kept: " in text) == (True, True)
    assert outside.read_text() == ""


def test_half_a_line_of_a_killed_process_is_passed_over(client: Client, folder: Path) -> None:
    (folder / "calls.jsonl").write_bytes(b'{"outcome": "accepted", "argum')
    assert client.call(GOOD)[0] is False
    assert [call["outcome"] for call in calls_in((folder / "calls.jsonl").read_bytes())] == ["accepted"]


# What is no request


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'{"a": NaN}', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": 1e999}}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"1", -32600, None),
        (b"[]", -32600, None),
        (b"{}", -32600, None),
        (b'{"id": true, "method": "ping"}', -32600, None),
        (b'{"id": null, "method": "ping"}', -32600, None),
        (b'{"id": [], "method": "ping"}', -32600, None),
        (b'{"id": 1, "method": 5}', -32601, 1),
        (b'{"id": 1, "method": "resources/list"}', -32601, 1),
        (b'{"id": "a", "method": "tools/call", "params": []}', -32602, "a"),
        (b'{"id": 1, "method": "tools/call", "params": {"name": "bash"}}', -32602, 1),
        (b'{"id": 1, "method": "tools/call"}', -32602, 1),
    ],
    ids=lambda value: value[:40].decode(errors="replace") if isinstance(value, bytes) else None,
)
def test_garbage_is_answered_and_ends_nothing(
    client: Client, folder: Path, line: bytes, code: int, id_: Any
) -> None:
    client.send(line)
    answer = client.hear()
    assert (answer["id"], answer["error"]["code"]) == (id_, code)
    assert client.call(GOOD)[0] is False
    assert len(written(folder)) == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}',
        b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "handoff", "arguments": {}}}',
        b'{"jsonrpc": "2.0", "id": 9, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 9, "error": {"code": 1}}',
        b'[{"jsonrpc": "2.0", "method": "notifications/initialized"}]',
    ],
    ids=["nothing", "blank", "notification", "call without an id", "result", "error", "batch of them"],
)
def test_what_wants_no_answer_gets_none(client: Client, line: bytes) -> None:
    client.send(line)
    assert client.ask("ping")["result"] == {}


def test_a_batch_is_answered_as_one(client: Client) -> None:
    client.send(b'[{"id": 1, "method": "ping"}, {"method": "x"}, {"id": 2, "method": "x"}]')
    first, second = client.hear()
    assert (first["id"], first["result"]) == (1, {})
    assert (second["id"], second["error"]["code"]) == (2, -32601)


@pytest.mark.parametrize("arguments", [[], "x", 1, True], ids=str)
def test_arguments_that_are_no_object(client: Client, arguments: Any) -> None:
    failed, text = client.call(arguments)
    assert failed
    assert re.search(r"^- the result is .*, expected an object$", text, re.MULTILINE)


def test_arguments_that_are_missing_are_an_empty_object(client: Client, folder: Path) -> None:
    assert client.call(None)[0] is True
    assert written(folder)[0]["arguments"] == {}


def test_arguments_of_great_depth(client: Client) -> None:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    client.send(
        b'{"id": 1, "method": "tools/call", "params": {"name": "handoff", "arguments": ' + deep + b"}}"
    )
    assert "error" in (answer := client.hear()) or answer["result"]["isError"]
    assert client.call(GOOD)[0] is False


@pytest.mark.parametrize("text", [None, "{", "[]", "{}"], ids=str)
def test_a_tool_that_is_not_described(client: Client, folder: Path, text: str | None) -> None:
    (folder / "tool.json").unlink()
    if text is not None:
        (folder / "tool.json").write_text(text)
    assert client.ask("tools/list")["error"]["code"] == -32603
    assert client.ask("ping")["result"] == {}


def test_nobody_reads_the_answers(folder: Path) -> None:
    client = Client(folder)
    client.stdout.close()
    client.send(b'{"id": 1, "method": "ping"}')
    client.process.wait(timeout=10)
    assert client.process.returncode == 0
    client.stdin.close()


def test_it_needs_nothing_but_the_standard_library(folder: Path) -> None:
    """What lies in the folder of an agent, or is called like a module of ours, is not imported."""
    for name in ("json.py", "fcntl.py", "path.py"):
        (folder / name).write_text("raise SystemExit(9)")
    code = "import sys; sys.argv = ['x', '.']; from materiac import handoff_server; print(*sys.modules)"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {name for name in names.split() if name.startswith("materiac")} == {
        "materiac",
        "materiac.handoff_server",
    }
    client = Client(folder)
    assert client.call(GOOD)[0] is False
    assert client.close() == 0


# Schemas


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ({}, {"any": ["thing"]}, []),
        ({"type": "integer"}, 2.0, []),
        ({"type": "integer"}, 2.5, ["the result is a number, expected a whole number"]),
        ({"type": "integer"}, True, ["the result is true or false, expected a whole number"]),
        ({"type": "number"}, 2, []),
        ({"type": ["string", "null"]}, None, []),
        ({"type": ["string", "null"]}, [], ["the result is a list, expected a string or null"]),
        ({"enum": [1]}, 1, []),
        ({"type": "integer", "enum": [1]}, 2, ["the result is not one of [1]"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "a", []),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            1,
            ["the result is a whole number, expected a string or null"],
        ),
        ({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, [["a"], []], []),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
            {"a": ["b", None]},
            ["'a[1]' is null, expected a string"],
        ),
        ({"type": "object", "required": ["a"]}, {}, ["'a' is missing, expected a value"]),
        (
            {"type": "object", "properties": {}, "additionalProperties": False},
            {"a": 1},
            ["'a' is not known, expected no field at all"],
        ),
    ],
)
def test_problems(schema: Json, value: Any, problems: list[str]) -> None:
    assert list(problems_of(value, schema)) == problems


def test_a_thousand_problems_are_not_all_told(client: Client) -> None:
    _, text = client.call({**GOOD, "workItems": [{}] * 1000})
    assert text.count("\n- ") == 20


def test_a_line_beyond_all_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoff_server, "_MAX_LINE", 64)
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b'{"id": 1, "method": "' + b"x" * 500 + b'"}\n{"id": 2, "method": "ping"}\n')
    with source.open("rb") as requests, sink.open("wb") as answers:
        handoff_server.serve(tmp_path, requests, answers)
    first, second = map(json.loads, sink.read_text().splitlines())
    assert (first["error"]["code"], second["id"]) == (-32700, 2)
