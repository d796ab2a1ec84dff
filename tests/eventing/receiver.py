"""A receiver of webhooks on a real socket, which answers as it is told, and a cast that tells it things."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from materiac.environment import Mask, secrets
from materiac.eventing import Dispatcher
from materiac.runtime.journal import Journal, Record

Json = dict[str, Any]

CAST_ID: Final = "20310504-102030-123456-3f9a"
PATIENCE_S: Final = 20.0
"""Far longer than anything takes here."""


@dataclass(frozen=True)
class Request:
    """What came: the method, the path, the headers in lower case, the body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """What is answered: after a while, or never (`status` 0), or only the beginning of it."""

    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    broken: bool = False


OK: Final = Answer()
NEVER: Final = Answer(0)
BROKEN: Final = Answer(broken=True)


@dataclass
class Receiver:
    """A receiver: `answers` are given in order, the last again and again."""

    answers: list[Answer]
    requests: list[Request] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def types(self) -> list[str]:
        return [request.body["type"] for request in self.requests]

    @property
    def ids(self) -> list[str]:
        return [request.body["id"] for request in self.requests]

    def take(self, request: Request) -> Answer:
        with self._changed:
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(request)
            self._changed.notify_all()
        return answer

    def wait(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, PATIENCE_S), self.requests


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.receiver = receiver
        receiver.port = self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True  # who asked did not wait for the answer

    def do_POST(self) -> None:
        self._take()

    def do_PUT(self) -> None:
        self._take()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        pass

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        receiver = self.server.receiver
        answer = receiver.take(Request(self.command, self.path, headers, json.loads(body)))
        receiver.closed.wait(answer.after_s if answer.status else PATIENCE_S)
        self.close_connection = answer.broken or answer.status == 0
        if answer.broken:
            self.wfile.write(b"HTTP/1.1 20")
        elif answer.status:
            self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def receiving(*answers: Answer) -> Iterator[Receiver]:
    receiver = Receiver(list(answers) or [OK])
    server = _Server(receiver)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Cast:
    """A cast whose journal is written by hand."""

    folder: Path
    journal: Journal
    dispatcher: Dispatcher

    def say(self, type_: str, **event: Any) -> Record:
        """Append an accepted event of a visit."""
        place = {"socket": "plan", "materia": "Planner", "visit": 1, "itemKey": None, "itemLabel": None}
        return self.journal.append("event", **place, event={"type": type_, **event}, sync=False)

    def append(self, kind: str, **fields: Any) -> Record:
        return self.journal.append(kind, **fields)


def sink(url: str, **fields: Any) -> Json:
    return {"url": url, "firstPauseMs": 1, **fields}


@contextmanager
def casting(
    folder: Path,
    sinks: Mapping[str, Json],
    environ: Mapping[str, str] | None = None,
    *,
    heartbeat_ms: int = 0,
    close_s: float = PATIENCE_S,
) -> Iterator[Cast]:
    """A cast in a folder: a new one, or the one that is there, gone on with."""
    environ = environ or {}
    path = folder / "events.jsonl"
    records: Iterable[Record] = ()
    if path.exists():
        journal, reading = Journal.reopen(path)
        records = reading.records
    else:
        journal = Journal.create(path)
    settings = {"enabled": True, "sinks": dict(sinks), "presets": [], "heartbeatIntervalMs": heartbeat_ms}
    mask = Mask(secrets(environ))
    with journal:
        dispatcher = Dispatcher.begin(settings, folder, CAST_ID, mask, environ, tuple(records))
        assert dispatcher is not None
        journal.subscribe(dispatcher)
        try:
            yield Cast(folder, journal, dispatcher)
        finally:
            dispatcher.close(close_s)
        assert journal.broken == []


def outcomes(folder: Path) -> list[Json]:
    text = (folder / "events" / "dispatch.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def brief(folder: Path) -> list[tuple[str, str, int]]:
    """What became of each event: its type, the outcome, how often it was tried."""
    return [(line["type"], line["outcome"], line["attempts"]) for line in outcomes(folder)]


def seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
