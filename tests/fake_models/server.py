"""The server: which protocol a request speaks, what the script says to it, and how that goes out."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from contextlib import suppress
from dataclasses import fields, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

from fake_models.asked import Asked
from fake_models.chat import CHAT
from fake_models.gemini import GEMINI
from fake_models.messages import MESSAGES, count
from fake_models.responses import RESPONSES
from fake_models.script import Answer, Closed, Cut, Never, Refusal, Script, Step, as_answer
from fake_models.wire import Json, Protocol
from materiac.agents.protocol import Usage

MODELS: Final = ("fake-1", "fake-2")
PATIENCE_S: Final = 20.0
"""Far longer than anything takes on loopback."""
_POLL_S: Final = 0.01


class FakeModels:
    """A server that answers by a list, each step once, or by a function of what is asked.

    `requests` are all that were asked for an answer; `served` is the usage of those that were given whole;
    `paths` has the other requests too, and `dropped` the numbers of those whose program went away.
    What the script has no answer to is refused with 400; a script that raises also ends the `with` block so.
    """

    def __init__(self, script: Script) -> None:
        self.requests: list[Asked] = []
        self.served = Usage()
        self.paths: list[str] = []
        self.dropped: list[int] = []
        self.closed = threading.Event()
        self._script = script
        self._error: Exception | None = None
        self._changed = threading.Condition()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_S,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def v1(self) -> str:
        """The address for clients of OpenAI."""
        return f"{self.url}/v1"

    def wait(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, PATIENCE_S), self.requests

    def wait_dropped(self, count: int = 1) -> None:
        """Wait until the programs that made so many of the requests have gone away."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.dropped) >= count, PATIENCE_S), self.requests

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._error is not None and error is None:
            raise self._error

    def take(self, asked: Asked) -> tuple[Asked, Step]:
        """Note what is asked, and say what the script answers."""
        with self._changed:
            asked = replace(asked, number=len(self.requests) + 1)
            self.requests.append(asked)
            self._changed.notify_all()
        if not callable(self._script):
            return asked, _nth(self._script, asked.number)
        try:
            return asked, self._script(asked)
        except Exception as error:  # noqa: BLE001 - told to the test when the server ends
            self._error = error
            return asked, Refusal(400, f"the script raised {error!r}")

    def count(self, usage: Usage) -> None:
        """Add to what is served."""
        with self._changed:
            names = [field.name for field in fields(Usage)]
            sums = {name: getattr(self.served, name) + getattr(usage, name) for name in names}
            self.served = Usage(**sums)

    def drop(self, number: int) -> None:
        """Note that nobody waits for this answer any more."""
        with self._changed:
            self.dropped.append(number)
            self._changed.notify_all()


def _nth(script: Script, number: int) -> Step:
    steps = list(script) if not callable(script) else []
    if number <= len(steps):
        return steps[number - 1]
    return Refusal(400, f"the script has {len(steps)} answers, and this is request {number}")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, fake: FakeModels) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fake = fake


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        with suppress(OSError):  # who asked did not wait for the answer
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        pass

    def do_HEAD(self) -> None:
        self._plain(200, {})

    def do_GET(self) -> None:
        if self._path().endswith("/models"):
            models = [{"id": name, "object": "model", "type": "model"} for name in MODELS]
            self._plain(200, {"object": "list", "data": models, "has_more": False})
        else:
            self._plain(404, {"error": {"message": f"no {self.path}"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, protocol = self._path(), _protocol(self.path)
        if path.endswith((":countTokens", "/count_tokens")):
            counted = count(json.loads(raw))
            self._plain(200, counted | {"totalTokens": counted["input_tokens"]})
        elif protocol is None:
            self._plain(404, {"error": {"message": f"no {self.path}"}})
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = replace(protocol.parse(self.path, json.loads(raw)), path=self.path, headers=headers)
            self._respond(protocol, *self.server.fake.take(asked))

    def _path(self) -> str:
        self.server.fake.paths.append(f"{self.command} {self.path}")
        return self.path.partition("?")[0]

    def _respond(self, protocol: Protocol, asked: Asked, step: Step) -> None:
        try:
            if isinstance(step, Closed | Never):
                self._wait(0.0 if isinstance(step, Closed) else float("inf"))
                self.close_connection = True
            elif isinstance(step, Refusal):
                retry = {} if step.retry_after_s is None else {"Retry-After": str(step.retry_after_s)}
                self._plain(step.status, protocol.error(step), retry)
            elif isinstance(step, Cut):
                self._cut(protocol, asked, step)
            else:
                self._answer(protocol, asked, as_answer(step))
        except OSError:
            self.server.fake.drop(asked.number)
            raise

    def _answer(self, protocol: Protocol, asked: Asked, answer: Answer) -> None:
        self._wait(answer.delay_s)
        if asked.stream:
            self._stream(list(protocol.stream(asked, answer)), answer)
        else:
            self.server.fake.count(answer.usage)
            self._plain(200, protocol.whole(asked, answer))

    def _stream(self, chunks: list[bytes], answer: Answer) -> None:
        self._begin()
        self._send(chunks[:-1], answer.pause_s)
        # Before it is sent: who has read it may ask for the sum at once.
        self.server.fake.count(answer.usage)
        self._send(chunks[-1:])
        self._end()

    def _cut(self, protocol: Protocol, asked: Asked, cut: Cut) -> None:
        self._wait(cut.answer.delay_s)
        self.close_connection = not (asked.stream and cut.quiet)
        if asked.stream:
            chunks = list(protocol.stream(asked, cut.answer))
            self._begin()
            self._send(chunks[: len(chunks) // 2], cut.answer.pause_s)
        else:
            body = json.dumps(protocol.whole(asked, cut.answer)).encode()
            self._body(200, body[: len(body) // 2], len(body))
        if not self.close_connection:
            self._end()

    def _plain(self, status: int, data: Json, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(data, ensure_ascii=False).encode()
        self._body(status, body, len(body), headers)

    def _body(self, status: int, body: bytes, size: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _send(self, chunks: list[bytes], pause_s: float = 0.0) -> None:
        for chunk in chunks:
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self._wait(pause_s)

    def _end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float) -> None:
        """Wait, unless the program goes away or the server ends."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.connection], [], [], min(left, 0.05))[0]:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    raise ConnectionAbortedError
                time.sleep(_POLL_S)  # it has sent the next request already
            if self.server.fake.closed.is_set():
                raise ConnectionAbortedError


def _protocol(path: str) -> Protocol | None:
    plain = path.partition("?")[0]
    ends = {"/chat/completions": CHAT, "/responses": RESPONSES, "/messages": MESSAGES}
    for end, protocol in ends.items():
        if plain.endswith(end):
            return protocol
    return GEMINI if plain.endswith((":generateContent", ":streamGenerateContent")) else None
