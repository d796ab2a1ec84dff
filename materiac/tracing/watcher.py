"""A reader of a cast's journal that traces it, and never holds it up."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import unquote

from materiac.environment import MIN_LENGTH, Mask, looks_secret
from materiac.program import Materia
from materiac.tracing.contents import Contents
from materiac.tracing.spans import Record, Span, Spans

if TYPE_CHECKING:
    from materiac.tracing.sending import Sender

OFF: Final = "off"
KINDS: Final = ("otlp", "console", OFF)
KIND: Final = "MATERIAC_TRACE"
CONTENT: Final = "MATERIAC_TRACE_CONTENT"
_HEADERS: Final = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
_LONG: Final = 20


class TraceError(Exception):
    """A cast cannot be traced as it was asked for. The message says what would help."""


def secrets(environ: Mapping[str, str]) -> list[str]:
    """The keys among the headers for a collector: what is called so, or long enough to be one."""
    found: set[str] = set()
    for pair in ",".join(environ.get(name, "") for name in _HEADERS).split(","):
        name, _, quoted = pair.partition("=")
        least = MIN_LENGTH if looks_secret(name) or "auth" in name.lower() else _LONG
        value = unquote(quoted).strip()
        found.update(part for part in (value, *value.split()) if len(part) >= least)
    return sorted(found)


class Watcher:
    """Traces a cast. Subscribe it to the journal from the first record on, and close it."""

    def __init__(
        self,
        sender: Sender,
        artifacts: Path,
        materia: Mapping[str, Materia],
        mask: Mask | None,
    ) -> None:
        """The folders of casts lie in `artifacts`; prompts and answers are sent where there is a `mask`."""
        self._sender = sender
        self._artifacts, self._materia, self._mask = artifacts, materia, mask
        self._spans: Spans | None = None
        self._lock = threading.Lock()

    @classmethod
    def begin(
        cls,
        artifacts: Path,
        materia: Mapping[str, Materia],
        mask: Mask,
        environ: Mapping[str, str],
        records: Sequence[Record] = (),
        *,
        asked: bool = False,
    ) -> Self | None:
        """Begin to trace, where that is `asked` for or the environment says so.

        `records` are those so far of a cast that goes on, whose spans have been sent. Raises `TraceError`.
        """
        kind = _kind(environ, asked=asked)
        if kind == OFF:
            return None
        content = mask if environ.get(CONTENT) == "1" else None
        watcher = cls(_sender(kind, mask), artifacts, materia, content)
        for record in records:
            watcher._ended(record)
        return watcher

    def __call__(self, record: Record) -> None:
        """Take a record; the spans that end with it are sent later."""
        with self._lock:
            for span in self._ended(record):
                self._sender.send(span)

    def close(self) -> str | None:
        """End it, and wait a little for what is not yet sent; says what could not be."""
        return self._sender.close()

    def _ended(self, record: Record) -> list[Span]:
        if self._spans is None:
            cast_id = str(record.fields["castId"])
            self._sender.begin(cast_id)
            contents = None if self._mask is None else Contents(self._artifacts / cast_id, self._mask)
            self._spans = Spans(self._materia, contents)
        return self._spans.take(record)


def _kind(environ: Mapping[str, str], *, asked: bool) -> str:
    kind = environ.get(KIND) or OFF
    if kind not in KINDS:
        raise TraceError(f"'{KIND}' is '{kind}', expected 'otlp', 'console' or 'off'")
    if asked and kind == OFF:
        kind = KINDS[0]
    return OFF if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" else kind


def _sender(kind: str, mask: Mask) -> Sender:
    try:
        from materiac.tracing.sending import Sender, SendingError  # noqa: PLC0415 - brings the SDK along
    except ImportError as error:
        raise TraceError("tracing needs OpenTelemetry: pip install 'materiac[otel]'") from error
    try:
        return Sender(kind, mask)
    except SendingError as error:
        raise TraceError(str(error)) from error
