"""Spans, handed to OpenTelemetry's SDK, which sends them over OTLP or prints them."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from materiac import __version__
from materiac.environment import Mask
from materiac.tracing.spans import CAST, Span, Value

OTLP: Final = "otlp"
CLOSE_S: Final = 2.0
"""How long the end of a cast waits for what is not yet sent."""

_KINDS: Final = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN: Final = "http/protobuf"
_SILENT: Final = logging.CRITICAL + 1
"""Nothing is told while a cast is shown: what was lost is told at its end."""


class SendingError(Exception):
    """Spans cannot be sent as the environment says."""


class Sender:
    """Sends the spans of one cast. What goes where is told by the OTEL_ variables, which the SDK reads."""

    def __init__(self, kind: str, mask: Mask) -> None:
        """Make ready to send, over OTLP or to the standard error. Raises `SendingError`."""
        _refuse_protocol(os.environ)
        self._mask = mask
        self._ids = _Ids()
        self._counting = _Counting(_exporter(kind))
        logging.getLogger("opentelemetry").setLevel(_SILENT)
        self._provider = TracerProvider(
            resource=Resource.create(_resource(os.environ)), id_generator=self._ids, shutdown_on_exit=False
        )
        processor = BatchSpanProcessor if kind == OTLP else SimpleSpanProcessor
        self._provider.add_span_processor(processor(self._counting))
        self._tracer = self._provider.get_tracer("materiac", __version__)
        self._flags = TraceFlags()

    def begin(self, cast_id: str) -> None:
        """Say which cast it is, before its first span."""
        self._ids.cast_id = cast_id
        decided = self._provider.sampler.should_sample(None, self._ids.generate_trace_id(), CAST)
        if decided.decision is Decision.RECORD_AND_SAMPLE:
            self._flags = TraceFlags(TraceFlags.SAMPLED)

    def send(self, span: Span) -> None:
        """Hand over a span that has ended. Never waits for a collector."""
        self._ids.key = span.key
        made = self._tracer.start_span(
            self._mask.text(span.name),
            None if span.parent is None else self._below(span.parent),
            kind=_KINDS[span.kind],
            start_time=span.began,
            attributes=self._masked(span.attributes),
        )
        for one in span.happenings:
            made.add_event(one.name, self._masked(one.attributes), one.at)
        if span.error is not None:
            made.set_status(Status(StatusCode.ERROR, self._mask.text(span.error) or None))
        made.end(span.ended)
        self._counting.made += made.get_span_context().trace_flags.sampled

    def close(self, timeout_s: float = CLOSE_S) -> str | None:
        """Give what waits this long to be sent; says what was not. May be called once."""
        worker = threading.Thread(target=self._provider.shutdown, name="trace-end", daemon=True)
        worker.start()
        worker.join(timeout_s)
        lost = self._counting.made - self._counting.sent
        return f"{lost} of {self._counting.made} spans of the trace could not be sent" if lost else None

    def _below(self, key: str) -> Context:
        ids = self._ids.generate_trace_id(), self._ids.of(key)
        parent = SpanContext(*ids, is_remote=True, trace_flags=self._flags)
        return trace.set_span_in_context(NonRecordingSpan(parent))

    def _masked(self, attributes: Mapping[str, Value]) -> dict[str, Value]:
        return {name: self._hidden(value) for name, value in attributes.items()}

    def _hidden(self, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(self._mask.text, value))
        return self._mask.text(value) if isinstance(value, str) else value


class _Ids(IdGenerator):
    """Ids that follow from the id of the cast, so that a process that goes on with it knows them too.

    `key` is the one of the span that comes next.
    """

    def __init__(self) -> None:
        self.cast_id = self.key = ""

    def of(self, key: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.cast_id}:{key}".encode()).digest()[:8]) or 1

    def generate_span_id(self) -> int:
        return self.of(self.key)

    def generate_trace_id(self) -> int:
        return int.from_bytes(hashlib.sha256(self.cast_id.encode()).digest()[:16]) or 1


class _Counting(SpanExporter):
    """An exporter that counts what it has sent of what was `made`."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self.made = self.sent = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self.sent += len(spans)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _refuse_protocol(environ: Mapping[str, str]) -> None:
    name = next((name for name in _PROTOCOLS if environ.get(name)), None)
    if name is not None and environ[name] != _SPOKEN:
        raise SendingError(f"'{name}' is '{environ[name]}', a trace is sent over '{_SPOKEN}' alone")


def _exporter(kind: str) -> SpanExporter:
    if kind != OTLP:
        return ConsoleSpanExporter(out=sys.stderr)
    try:
        return OTLPSpanExporter()
    except (ValueError, OSError) as error:
        raise SendingError(f"a trace cannot be sent as the OTEL_ variables say: {error}") from error


def _resource(environ: Mapping[str, str]) -> dict[str, str]:
    """The service is materiac, unless a variable says otherwise."""
    own = {"service.version": __version__}
    named = "OTEL_SERVICE_NAME" in environ or "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return own if named else {"service.name": "materiac", **own}
