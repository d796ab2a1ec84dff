"""Requests to a webhook, one attempt each, and what came of it in our words. The only urllib3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import urllib3
from urllib3 import exceptions

from materiac import __version__
from materiac.eventing.sinks import Proxy, Sink

ID_HEADER: Final = "Materiac-Event-Id"

MAX_ANSWER: Final = 64 * 1024
"""As much of an answer is read, so that the connection can be used again; nothing looks at it."""

_TOO_MANY: Final = 429


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a request: the status, where there is one, and why it failed, where it did.

    `again` says that another attempt may do better, `after_s` how long the receiver asks to wait for it.
    """

    status: int | None = None
    why: str | None = None
    again: bool = False
    after_s: float | None = None


class Webhook:
    """A receiver over HTTP, asked by one thread."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._pool = _pool(sink.proxy)
        self._headers = {
            "Content-Type": "application/json",
            "User-Agent": f"materiac/{__version__}",
            **sink.headers,
        }

    def send(self, body: bytes, event_id: str) -> Attempt:
        """Send one event, once. Redirects are not followed."""
        try:
            answer = self._pool.request(
                self._sink.method,
                self._sink.url,
                body=body,
                headers=self._headers | {ID_HEADER: event_id},
                timeout=urllib3.Timeout(connect=self._sink.timeout_s, read=self._sink.timeout_s),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except Exception as error:  # noqa: BLE001 - whatever a request dies of, the next event is sent
            return self._fault(error)
        _leave(answer)
        return _judged(answer)

    def close(self) -> None:
        """Close connections that wait for a next request."""
        self._pool.clear()

    def _fault(self, error: Exception) -> Attempt:
        """A fault of the network, without what the library says of it: that may hold the address."""
        if isinstance(error, exceptions.LocationValueError | ValueError):
            return Attempt(why="the URL or a header cannot be sent")
        if isinstance(error, exceptions.NameResolutionError):
            return Attempt(why="the host is not known", again=True)
        if isinstance(error, exceptions.TimeoutError) and not isinstance(
            error, exceptions.NewConnectionError
        ):
            return Attempt(why=f"no answer within {self._sink.timeout_s * 1000:g} ms", again=True)
        for kind, words in _FAULTS:
            if isinstance(error, kind):
                return Attempt(why=words, again=True)
        return Attempt(why=f"the request failed ({type(error).__name__})", again=True)


_FAULTS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (exceptions.ProxyError, "the proxy cannot be reached"),
    (exceptions.NewConnectionError, "no connection"),
    (exceptions.SSLError, "no secure connection"),
    (exceptions.ProtocolError, "the connection broke before the answer"),
)


def _pool(proxy: Proxy | None) -> urllib3.PoolManager:
    if proxy is None:
        return urllib3.PoolManager(num_pools=1, maxsize=1)
    headers = dict(proxy.headers)
    return urllib3.ProxyManager(proxy.url, num_pools=1, maxsize=1, proxy_headers=headers)


def _leave(answer: urllib3.BaseHTTPResponse) -> None:
    """Read what else there is of an answer, so that its connection serves the next request; not for ever."""
    try:
        answer.read(MAX_ANSWER, decode_content=False)
    except (exceptions.HTTPError, OSError, ValueError):
        pass  # the status has come, and that is the answer
    finally:
        answer.close()


def _judged(answer: urllib3.BaseHTTPResponse) -> Attempt:
    status = answer.status
    if 200 <= status < 300:
        return Attempt(status)
    why = "a redirect, which is not followed" if 300 <= status < 400 else f"the answer was {status}"
    again = status >= 500 or status == _TOO_MANY
    return Attempt(status, why, again, _retry_after(answer.headers.get("Retry-After")) if again else None)


def _retry_after(value: str | None) -> float | None:
    try:
        return urllib3.Retry().parse_retry_after(value) if value else None
    except (exceptions.InvalidHeader, ValueError, OverflowError):
        return None
