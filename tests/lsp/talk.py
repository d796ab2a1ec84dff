"""An editor that talks with `materiac lsp` over real pipes; and texts with a mark where the cursor is."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0
MARK = "|"

Json = dict[str, Any]


class Talk:
    """Messages to the server and from it; `folder` is that of the workspace."""

    def __init__(self, folder: Path, process: int | None = None, **capabilities: Any) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("MATERIA")}
        own = {"HOME": str(folder.parent), "XDG_CONFIG_HOME": str(folder.parent / "config")}
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "materiac", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**inherited, **own},
        )
        self._messages: queue.Queue[Json | None] = queue.Queue()
        self._kept: list[Json] = []
        self._open: set[str] = set()
        self._last = 0
        threading.Thread(target=self._read, daemon=True).start()
        root = {"uri": folder.as_uri(), "name": folder.name}
        self.server = self.ask(
            "initialize",
            {
                "processId": process or os.getpid(),
                "workspaceFolders": [root],
                "capabilities": capabilities,
            },
        )
        self.tell("initialized", {})

    def _read(self) -> None:
        assert self.process.stdout is not None
        while head := self.process.stdout.readline():
            assert head.startswith(b"Content-Length: "), head
            while self.process.stdout.readline() != b"\r\n":
                pass
            self._messages.put(json.loads(self.process.stdout.read(int(head.split(b":")[1]))))
        self._messages.put(None)

    def send(self, message: Json) -> None:
        raw = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request; the error, where it has none."""
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        answer = self.until(lambda message: message.get("id") == self._last and "method" not in message)
        return answer["result"] if "result" in answer else answer.get("error")

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        """The first message of a kind that has come, or will come; the others are kept."""
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while (came := self._messages.get(timeout=PATIENCE_S)) is not None:
            if wanted(came):
                return came
            self._kept.append(came)
        raise AssertionError("the server has gone")

    # Files.

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, version: int = 1) -> str:
        language = "materia" if name.endswith(".materia") else "json"
        item = {"uri": self.uri(name), "languageId": language, "version": version, "text": text}
        self._open.add(self.uri(name))
        self.tell("textDocument/didOpen", {"textDocument": item})
        return self.uri(name)

    def close(self, uri: str) -> None:
        self._open.discard(uri)
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def clear(self) -> None:
        """Close all files, take them away, and forget what was told of them."""
        for uri in sorted(self._open):
            self.close(uri)
        assert self.ask("workspace/symbol", {"query": ""})["code"] == -32601
        self._kept.clear()
        for file in sorted(self.folder.rglob("*"), reverse=True):
            if file.is_file():
                file.unlink()
            else:
                file.rmdir()

    def change(self, uri: str, version: int, *changes: Json) -> None:
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def findings(self, uri: str, version: int | None = None) -> list[Json]:
        """The findings that are published for a file, and a version of it, if one is given."""

        def wanted(message: Json) -> bool:
            params = message.get("params", {})
            published = message.get("method") == "textDocument/publishDiagnostics"
            return published and params["uri"] == uri and version in (None, params.get("version"))

        found: list[Json] = self.until(wanted)["params"]["diagnostics"]
        return found

    def at(self, method: str, uri: str, line: int, column: int, **rest: Any) -> Any:
        """The result of a request about a place."""
        place = {"line": line, "character": column}
        params = {"textDocument": {"uri": uri}, "position": place, **rest}
        return self.ask(f"textDocument/{method}", params)

    def end(self) -> int:
        """End the talk as it is due; the exit code."""
        assert self.ask("shutdown", None) is None
        self.tell("exit", None)
        return self.process.wait(PATIENCE_S)


@contextmanager
def talking(folder: Path, **capabilities: Any) -> Iterator[Talk]:
    """A talk that is ended, and had nothing to say but messages."""
    talk = Talk(folder, **capabilities)
    try:
        yield talk
        assert talk.end() == 0
        assert talk.process.stderr is not None
        assert talk.process.stderr.read() == b""
    finally:
        talk.process.kill()
        talk.process.communicate()


def marked(text: str) -> tuple[str, int]:
    """A text without the mark in it, and where it was."""
    assert text.count(MARK) == 1, text
    return text.replace(MARK, ""), text.index(MARK)


def rules(found: list[Json]) -> list[str]:
    return [part["code"] for part in found]


def applied(text: str, edits: list[Json]) -> str:
    """A text of ASCII after the edits of an editor."""
    lines = text.splitlines(keepends=True)

    def offset(place: Json) -> int:
        return sum(map(len, lines[: place["line"]])) + int(place["character"])

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text
