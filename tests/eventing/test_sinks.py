from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from receiver import CAST_ID, brief, casting, outcomes, receiving, sink

from materiac.environment import Mask
from materiac.eventing import Dispatcher
from materiac.eventing.sinks import resolve, secrets
from materiac.runtime.journal import Record

AUTH = "HOOK_AUTH"


def settings(**fields: Any) -> dict[str, Any]:
    return {"enabled": True, "sinks": {"hook": fields}}


UNUSABLE = {
    "a variable that is not set": (
        {"urlFromEnv": "HOOK_URL"},
        {},
        "the variable 'HOOK_URL' with its URL is not set",
    ),
    "a variable with something else": (
        {"urlFromEnv": "HOOK_URL"},
        {"HOOK_URL": "file:///etc/passwd"},
        "its URL is none of 'http://' or 'https://' with a host",
    ),
    "a password that was masked": (
        {"url": "https://ann:***@h/"},
        {},
        "its password was masked when the cast was written down: use 'urlFromEnv'",
    ),
    "a proxy of another kind": (
        {"url": "https://h/"},
        {"HTTPS_PROXY": "socks5://h:1"},
        "the proxy for it is none of 'http://' or 'https://' with a host",
    ),
}


@pytest.mark.parametrize(("fields", "environ", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_sink_that_cannot_be_used_is_a_note(
    fields: dict[str, Any], environ: dict[str, str], why: str
) -> None:
    assert resolve(settings(**fields), environ) == ([], [f"nothing is sent to the sink 'hook': {why}"])


def test_a_cast_goes_on_without_its_sinks(tmp_path: Path) -> None:
    with casting(tmp_path, {"hook": {"urlFromEnv": "HOOK_URL"}, "off": {"enabled": False}}) as cast:
        cast.say("a.b")
    assert len(cast.dispatcher.notes) == 1
    assert not (tmp_path / "events").exists()


@pytest.mark.parametrize(
    "odd",
    [
        {"sinks": 3},
        {"sinks": {"a": sink("http://h/", timeoutMs="x")}},
        {"sinks": {"a": {"url": {}}}},
        {"presets": 1},
    ],
    ids=["sinks", "a time", "a url", "presets"],
)
def test_what_no_check_has_seen_is_a_note(tmp_path: Path, odd: dict[str, Any]) -> None:
    dispatcher = Dispatcher.begin({"enabled": True, **odd}, tmp_path, CAST_ID, Mask(()), {})
    assert dispatcher is not None
    (note,) = dispatcher.notes
    assert note.startswith("nothing is sent")
    dispatcher.close()


@pytest.mark.parametrize("value", ["", " \n", "two\nlines", "emoji 🙂"])
def test_a_header_that_cannot_be_sent_is_left_out(value: str) -> None:
    sinks, notes = resolve(settings(url="http://h/", headersFromEnv={"X-A": "A"}), {"A": value})
    assert dict(sinks[0].headers) == {}
    assert len(notes) == 1
    assert "'A'" in notes[0]


def test_presets_mean_nothing_and_that_is_said() -> None:
    data = {"enabled": True, "presets": ["agent-controller"]}
    assert resolve(data, {}) == (
        [],
        ["the preset 'agent-controller' of eventing means nothing in this version"],
    )


def test_a_header_wins_over_the_password_of_a_url() -> None:
    data = settings(url="http://ann:secret@h/", headersFromEnv={"authorization": AUTH})
    (one,), notes = resolve(data, {AUTH: " Bearer x\n"})
    assert (one.url, dict(one.headers), notes) == ("http://h/", {"authorization": "Bearer x"}, [])


PROXIED: dict[str, tuple[str, dict[str, str], str | None]] = {
    "none": ("http://a.b/", {}, None),
    "by scheme": ("http://a.b/", {"HTTP_PROXY": "http://p:1", "https_proxy": "http://q:1"}, "http://p:1"),
    "lower case first": ("http://a.b/", {"http_proxy": "http://p:1", "HTTP_PROXY": "http://q"}, "http://p:1"),
    "for all": ("https://a.b/", {"ALL_PROXY": "p:1"}, "http://p:1"),
    "but for a host": ("http://a.b/", {"http_proxy": "http://p:1", "no_proxy": "x, a.b"}, None),
    "but for a domain": ("http://a.b/", {"http_proxy": "http://p:1", "NO_PROXY": ".b"}, None),
    "but for a port": ("http://a.b:8/", {"http_proxy": "http://p:1", "no_proxy": "a.b:8"}, None),
    "not for a name that ends alike": (
        "http://xa.b/",
        {"http_proxy": "http://p:1", "no_proxy": "a.b"},
        "http://p:1",
    ),
    "for none": ("http://a.b/", {"http_proxy": "http://p:1", "no_proxy": "*"}, None),
}


@pytest.mark.parametrize(("url", "environ", "proxy"), PROXIED.values(), ids=PROXIED)
def test_the_standard_variables_name_a_proxy(url: str, environ: dict[str, str], proxy: str | None) -> None:
    (one,), notes = resolve(settings(url=url), environ)
    assert (one.proxy and one.proxy.url, notes) == (proxy, [])


def test_a_proxy_is_asked(tmp_path: Path) -> None:
    with receiving() as proxy:
        environ = {"http_proxy": f"http://ann:secret99@127.0.0.1:{proxy.port}"}
        with casting(tmp_path, {"hook": sink("http://hooks.example/x")}, environ) as cast:
            cast.say("a.b")
        (request,) = proxy.requests
    assert request.path == "http://hooks.example/x"
    assert request.headers["proxy-authorization"] == "Basic YW5uOnNlY3JldDk5"


def test_a_receiver_without_tls_is_no_secure_one(tmp_path: Path) -> None:
    with receiving() as receiver:
        url = receiver.url.replace("http:", "https:")
        with casting(tmp_path, {"hook": sink(url, retries=0)}) as cast:
            cast.say("a.b")
    assert brief(tmp_path) == [("a.b", "failed", 1)]
    assert outcomes(tmp_path)[0]["why"] == "no secure connection"


SECRETS = {
    "a header": ({"url": "http://h/", "headersFromEnv": {"X-A": AUTH}}, {"Bearer abcdefgh", "abcdefgh"}),
    "a header that is no secret": ({"url": "http://h/", "headersFromEnv": {"Content-Type": AUTH}}, set()),
    "a password": (
        {"url": "https://ann:p%40ssword@h/x?y=12345678"},
        {"p%40ssword", "p@ssword", "ann:p%40ssword", "YW5uOnBAc3N3b3Jk"},
    ),
    "a key in a query": ({"url": "https://h/?api_key=12345678&channel=deployments"}, {"12345678"}),
    "an address in a variable": (
        {"urlFromEnv": "HOOK_URL"},
        {"https://hooks.example/T1/abcdefghijklmnop", "/T1/abcdefghijklmnop", "abcdefghijklmnop"},
    ),
}


@pytest.mark.parametrize(("fields", "expected"), SECRETS.values(), ids=SECRETS)
def test_secrets_of_a_sink(fields: dict[str, Any], expected: set[str]) -> None:
    environ = {AUTH: "Bearer abcdefgh", "HOOK_URL": "https://hooks.example/T1/abcdefghijklmnop"}
    assert set(secrets(settings(**fields), environ)) == expected


def test_no_secret_of_a_sink_is_shown_or_sent(tmp_path: Path) -> None:
    hidden = ["hunter2-of-ann", "header-value-77", "in-environment-42"]
    environ = {AUTH: f"Bearer {hidden[1]}", "API_TOKEN": hidden[2]}
    with receiving() as receiver:
        url = receiver.url.replace("//", f"//ann:{hidden[0]}@")
        fields = {"headersFromEnv": {"X-Auth": AUTH}, "retries": 0}
        sinks = {
            "hook": sink(url, **fields),
            "gone": sink(f"http://ann:{hidden[0]}@127.0.0.1:1/{hidden[2]}", **fields),
        }
        with casting(tmp_path, sinks, environ) as cast:
            cast.append("cast_started", castId=CAST_ID)
            event = {"type": f"a.{hidden[1]}", "message": " ".join(hidden)}
            cast.dispatcher(Record(2, "2031-05-04T10:20:30Z", "event", {"event": event}))
        assert receiver.requests[1].headers["x-auth"] == f"Bearer {hidden[1]}"
        assert receiver.requests[1].body["message"] == "*** *** ***"
        assert receiver.requests[1].body["type"] == "a.***"
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 2
    for file in files:
        assert not [secret for secret in hidden if secret.encode() in file.read_bytes()]
    assert {line["sink"] for line in outcomes(tmp_path)} == {"hook", "gone"}
