"""A collector of traces on a real socket, which decodes what comes."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Sent

ERROR = 2
"""The code of the status of a span that failed."""


@dataclass(frozen=True)
class Got:
    """A span that came, with what its process says of itself."""

    span: Sent
    resource: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.span.name)

    @property
    def id(self) -> str:
        return bytes(self.span.span_id).hex()

    @property
    def parent(self) -> str:
        return bytes(self.span.parent_span_id).hex()

    @property
    def trace(self) -> str:
        return bytes(self.span.trace_id).hex()

    @property
    def failed(self) -> bool:
        return bool(self.span.status.code == ERROR)

    @property
    def attributes(self) -> dict[str, Any]:
        return {one.key: _value(one.value) for one in self.span.attributes}


@dataclass
class Collector:
    """What came, in the order in which the spans ended; `raw` are the bodies."""

    port: int = 0
    got: list[Got] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)
    silent: bool = False

    @property
    def environ(self) -> dict[str, str]:
        """What has spans sent here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}"}

    def named(self, name: str) -> list[Got]:
        return [one for one in self.got if one.name == name]

    def one(self, name: str) -> Got:
        [found] = self.named(name)
        return found

    def tree(self) -> list[str]:
        """Each span as its way from the root, sorted."""
        known = {one.id: one for one in self.got}

        def way(one: Got) -> str:
            above = known.get(one.parent)
            return one.name if above is None else f"{way(above)} / {one.name}"

        return sorted(map(way, self.got))

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        assert path == "/v1/traces", path
        raw = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        self.raw.append(raw)
        self.headers.append(headers)
        for part in ExportTraceServiceRequest.FromString(raw).resource_spans:
            resource = {one.key: _value(one.value) for one in part.resource.attributes}
            self.got += [Got(span, resource) for scope in part.scope_spans for span in scope.spans]


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return None if kind is None else getattr(value, kind)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, collector: Collector) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.collector = collector
        collector.port = self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.collector.silent:
            self.server.collector.closed.wait(30)
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.collector.take(self.path, headers, body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        pass


@contextmanager
def collecting(*, silent: bool = False) -> Iterator[Collector]:
    collector = Collector(silent=silent)
    server = _Server(collector)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield collector
    finally:
        collector.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()
