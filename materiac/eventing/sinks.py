"""The sinks of a configuration, with what they take from the environment."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from materiac.environment import MASK, MIN_LENGTH, looks_secret
from materiac.eventing.patterns import Filter
from materiac.web_names import is_url

Json = dict[str, Any]

_PROXY: Final = "_proxy"
_LONGEST_MS: Final = 3_600_000
"""Sockets refuse times that are much longer."""
_NO_SECRETS: Final = frozenset({"accept", "content-type", "user-agent"})
"""Headers whose values are the same everywhere."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy. `url` is without user and password, which are in `headers`."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Sink:
    """A webhook, ready for use. `url` is without user and password, which are in `headers`."""

    name: str
    url: str = field(repr=False)
    method: str
    headers: Mapping[str, str] = field(repr=False)
    form: Any = None
    filter: Filter = field(default_factory=Filter)
    timeout_s: float = 10.0
    retries: int = 3
    first_pause_s: float = 1.0
    queue: int = 1_000
    proxy: Proxy | None = None


def resolve(settings: Json, environ: Mapping[str, str]) -> tuple[list[Sink], list[str]]:
    """The enabled sinks that can be used, and in words what is wrong with the others, without any value."""
    sinks: list[Sink] = []
    notes = [
        f"the preset '{name}' of eventing means nothing in this version"
        for name in settings.get("presets") or ()
    ]
    for name, data in (settings.get("sinks") or {}).items():
        if isinstance(data, dict) and data.get("enabled", True):
            try:
                sinks.append(_sink(name, data, environ, notes))
            except _UnusableError as error:
                notes.append(f"nothing is sent to the sink '{name}': {error}")
    return sinks, notes


def secrets(settings: Json, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What of the sinks no file and no message may show: keys in headers and in addresses.

    Of an address that a variable holds that is all of it; of one in the file the password, and what
    stands in a query under a name that looks like a secret.
    """
    found: set[str] = set()
    for data in (settings.get("sinks") or {}).values():
        if isinstance(data, dict):
            found.update(_of_headers(data, environ))
            found.update(_of_address(data, environ))
    found.update(part for name, url in _proxies(environ).items() if name != "no" for part in _of_url(url))
    return tuple(sorted(part for part in found if len(part) >= MIN_LENGTH and part != MASK))


class _UnusableError(Exception):
    """A sink cannot be used; the message says why."""


def _sink(name: str, data: Json, environ: Mapping[str, str], notes: list[str]) -> Sink:
    url = _address(data, environ)
    parts = _split(url)
    if MASK in parts.netloc:
        raise _UnusableError("its password was masked when the cast was written down: use 'urlFromEnv'")
    headers = dict(_authorization(parts, "Authorization"))
    for header, value in _headers(name, data, environ, notes):
        headers = {key: kept for key, kept in headers.items() if key.lower() != header.lower()}
        headers[header] = value
    return Sink(
        name=name,
        url=_bare(parts),
        method=data.get("method", "POST"),
        headers=headers,
        form=data.get("map"),
        filter=Filter(tuple(data.get("include", ())), tuple(data.get("exclude", ()))),
        timeout_s=min(data.get("timeoutMs", 10_000), _LONGEST_MS) / 1000,
        retries=data.get("retries", 3),
        first_pause_s=min(data.get("firstPauseMs", 1_000), _LONGEST_MS) / 1000,
        queue=data.get("queue", 1_000),
        proxy=_proxy(parts, environ),
    )


def _address(data: Json, environ: Mapping[str, str]) -> str:
    variable = data.get("urlFromEnv")
    url = data.get("url") if variable is None else environ.get(variable, "").strip()
    if not url:
        raise _UnusableError(f"the variable '{variable}' with its URL is not set")
    return str(url)


def _split(url: str) -> SplitResult:
    if not is_url(url):
        raise _UnusableError("its URL is none of 'http://' or 'https://' with a host")
    return urlsplit(url)


def _bare(parts: SplitResult) -> str:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


def _authorization(parts: SplitResult, header: str) -> Iterator[tuple[str, str]]:
    """User and password of an address, as a header of basic authentication."""
    if "@" in parts.netloc:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        yield header, f"Basic {base64.b64encode(pair.encode()).decode()}"


def _headers(
    sink: str, data: Json, environ: Mapping[str, str], notes: list[str]
) -> Iterator[tuple[str, str]]:
    for header, variable in (data.get("headersFromEnv") or {}).items():
        value = environ.get(variable, "").strip()
        if not value:
            notes.append(f"the sink '{sink}' gets no header '{header}': the variable '{variable}' is not set")
        elif not (value.isprintable() and value.isascii()):
            what = f"the variable '{variable}' holds what no header can"
            notes.append(f"the sink '{sink}' gets no header '{header}': {what}")
        else:
            yield header, value


def _of_headers(data: Json, environ: Mapping[str, str]) -> Iterator[str]:
    """Values of headers, and the parts of such as `Bearer …`."""
    for header, variable in (data.get("headersFromEnv") or {}).items():
        if header.lower() not in _NO_SECRETS:
            value = environ.get(variable, "")
            yield from (value, value.strip(), *value.split())


def _of_address(data: Json, environ: Mapping[str, str]) -> Iterator[str]:
    variable = data.get("urlFromEnv")
    if variable is None:
        yield from _of_url(str(data.get("url") or ""))
        return
    url = environ.get(variable, "").strip()
    yield from (url, *_of_url(url))
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    inner = (parts._replace(scheme="", netloc="").geturl(), *parts.path.split("/"))
    yield from (
        part for part in inner if len(part) >= 2 * MIN_LENGTH
    )  # shorter ones are words, like 'webhooks'


def _of_url(url: str) -> Iterator[str]:
    """What of an address is meant for nobody: the password, and what a query holds under such a name."""
    try:
        parts = urlsplit(url)
        password = parts.password or ""
    except ValueError:
        return
    if password:
        yield from (password, unquote(password), parts.netloc.rpartition("@")[0])
        yield from (value.partition(" ")[2] for _, value in _authorization(parts, ""))
    yield from (value for name, value in parse_qsl(parts.query) if looks_secret(name))


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """What the standard variables say, by scheme; lower case wins, as everywhere."""
    names = sorted((name for name in environ if name.lower().endswith(_PROXY)), key=str.islower)
    return {name.lower().removesuffix(_PROXY): environ[name] for name in names if environ[name]}


def _proxy(parts: SplitResult, environ: Mapping[str, str]) -> Proxy | None:
    proxies = _proxies(environ)
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or _is_direct(parts, proxies.get("no", "")):
        return None
    try:
        address = _split(proxy if "://" in proxy else f"http://{proxy}")
    except _UnusableError as error:
        raise _UnusableError("the proxy for it is none of 'http://' or 'https://' with a host") from error
    return Proxy(_bare(address), dict(_authorization(address, "Proxy-Authorization")))


def _is_direct(parts: SplitResult, exempt: str) -> bool:
    """Whether `no_proxy` names a host, or a domain that it is in, with or without the port."""
    host = parts.hostname or ""
    names = (name.strip().lower().lstrip(".") for name in exempt.split(","))
    return any(
        name == "*" or (name and f".{at}".endswith(f".{name}"))
        for name in names
        for at in (host, f"{host}:{parts.port}")
    )
