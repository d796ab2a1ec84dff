from __future__ import annotations

import json
from typing import Any

import pytest

from materiac import pipeline
from materiac.program import image_data, image_from_data

Fields = dict[str, Any]

URL = "http://h/"


def text_of(sinks: Any) -> pipeline.Text:
    data = {
        "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "M"}}}},
        "materia": {"M": {"prompt": "p"}},
        "eventing": {"enabled": True, "sinks": sinks},
    }
    return pipeline.Text("loadout.json", json.dumps(data).encode())


def said(sinks: Any) -> list[tuple[str, str, str]]:
    """What is found: the rule, the message, and the text that it is about."""
    told = []
    for part in pipeline.check([text_of(sinks)]):
        assert part.place is not None
        span = part.place.span
        told.append((part.finding.rule, part.finding.message, part.place.source.text[span.start : span.end]))
    return told


SOUND: dict[str, Fields] = {
    "the least": {"url": URL},
    "everything": {
        "type": "webhook", "id": "x", "enabled": True, "url": URL, "method": "PUT", "body": "mapped",
        "headersFromEnv": {"Authorization": "HOOK_AUTH"}, "map": {"text": "{{message}}"}, "queue": 5,
        "include": ["result.*", "lifecycle.**"], "exclude": ["**.started"], "timeoutMs": 1, "retries": 0,
        "firstPauseMs": 1,
    },
    "from a variable": {"urlFromEnv": "HOOK_URL"},
    "switched off": {"enabled": False},
}  # fmt: skip


@pytest.mark.parametrize("sink", SOUND.values(), ids=SOUND)
def test_a_sound_sink(sink: Fields) -> None:
    assert said({"s": sink}) == []
    image = pipeline.compile_loadout([text_of({"s": sink})]).image
    assert image is not None
    compiled = image.settings.eventing["sinks"]["s"]
    assert {key: compiled[key] for key in sink if key != "id"} == {k: v for k, v in sink.items() if k != "id"}
    assert image_from_data(json.loads(json.dumps(image_data(image)))) == image


URLS = "a URL that begins with 'http://' or 'https://' and names a host"
PATTERNS = "names with dots between them, '*' for any part of a name and '**' for any number of names"
FAULTY: dict[str, tuple[Any, str, str, str]] = {
    "no object": (3, "3 for 's' of 'sinks'", "an object", "3"),
    "no url": (
        {},
        "an empty object for 's' of 'sinks'",
        "exactly one of 'url' and 'urlFromEnv' in it",
        "{}",
    ),
    "another scheme": ({"url": "ftp://h/"}, "the string \"ftp://h/\" for 'url'", URLS, '"ftp://h/"'),
    "a method that sends nothing": (
        {"url": URL, "method": "GET"},
        "the string \"GET\" for 'method'",
        "'POST' or 'PUT'",
        '"GET"',
    ),
    "a value of a header": (
        {"url": URL, "headersFromEnv": {"X-A": "Bearer x"}},
        "an object for 'headersFromEnv'",
        "the name of a variable for each header, not its value",
        '{"X-A": "Bearer x"}',
    ),
    "a header of HTTP": (
        {"url": URL, "headersFromEnv": {"Content-Length": "A"}},
        "an object for 'headersFromEnv'",
        "names of headers, other than those that HTTP sets itself",
        '{"Content-Length": "A"}',
    ),
    "no pattern": (
        {"url": URL, "include": ["a", "a..b"]},
        "the string \"a..b\" for an entry of 'include'",
        PATTERNS,
        '"a..b"',
    ),
    "a map that nothing reads": (
        {"url": URL, "map": {}},
        "an object for 's' of 'sinks'",
        "a 'map' in it where 'body' is 'mapped', and only there",
        '{"url": "http://h/", "map": {}}',
    ),
}


@pytest.mark.parametrize(("sink", "found", "expected", "where"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_sink(sink: Any, found: str, expected: str, where: str) -> None:
    assert said({"s": sink}) == [("invalid-value", f"found {found}, expected {expected}", where)]


def test_a_limit_of_nothing() -> None:
    words = "found 0 for 'timeoutMs', expected a whole number of at least 1"
    assert said({"s": {"url": URL, "timeoutMs": 0}}) == [("invalid-limit", words, "0")]


def test_headers_are_not_written_into_the_file() -> None:
    words = "unknown key 'headers' in 's' of 'sinks'"
    assert said({"s": {"url": URL, "headers": {}}}) == [("unknown-key", words, '"headers"')]
