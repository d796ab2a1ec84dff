from __future__ import annotations

import codecs
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from materiac.diagnostic import Finding, Severity
from materiac.json_reader import Reader
from materiac.json_text import decode, read
from materiac.source import KEY, Document, Pointer, Source, Span


def sound(text: str) -> Document:
    document, findings = read(Source("x.json", text))
    assert findings == []
    assert document is not None
    return document


def faults(text: str) -> list[Finding]:
    document, findings = read(Source("x.json", text))
    assert document is None
    assert {finding.severity for finding in findings} == {Severity.ERROR}
    return findings


def shown(text: str, at: Pointer | Span) -> str:
    assert isinstance(at, Span)
    assert 0 <= at.start <= at.end <= len(text)
    return text[at.start : at.end]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(b"", "", id="empty"),
        pytest.param(codecs.BOM_UTF8 + b"{}", "{}", id="byte-order-mark"),
        pytest.param('"é日\U0001f469"'.encode(), '"é日\U0001f469"', id="utf-8"),
    ],
)
def test_decode(raw: bytes, text: str) -> None:
    assert decode("x", raw) == (Source("x", text), [])


@pytest.mark.parametrize(
    ("raw", "words", "line", "column"),
    [
        pytest.param('{"a": 1}'.encode("utf-16"), "this looks like UTF-16", 1, 1, id="utf-16"),
        pytest.param('{"a": 1}'.encode("utf-16-le"), "this looks like UTF-16", 1, 1, id="utf-16-unmarked"),
        pytest.param('{"a": 1}'.encode("utf-16-be"), "this looks like UTF-16", 1, 1, id="utf-16-big-endian"),
        pytest.param(codecs.BOM_UTF16_BE + b"\0{\xd8", "this looks like UTF-16", 1, 1, id="utf-16-cut-short"),
        pytest.param('{"a": 1}'.encode("utf-32"), "this looks like UTF-32", 1, 1, id="utf-32"),
        pytest.param('{"a": 1}'.encode("utf-32-be"), "this looks like UTF-32", 1, 1, id="utf-32-big-endian"),
        pytest.param(
            b'{\n "caf\xe9": 1}', "byte 0xe9: this looks like Latin-1 or Windows-1252", 2, 6, id="latin-1"
        ),
        pytest.param(b'"\xc3\xa9 \xc3', "byte 0xc3: this looks like damaged UTF-8", 1, 4, id="cut-short"),
        pytest.param(b"[\xed\xa0\x80]", "byte 0xed: ", 1, 2, id="encoded-surrogate"),
        pytest.param(b'{"a":\n "b\0c"}', "byte 0x00: this looks like binary data", 2, 4, id="nul"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "this looks like binary data", 1, 1, id="picture"),
    ],
)
def test_other_encodings(raw: bytes, words: str, line: int, column: int) -> None:
    source, findings = decode("x", raw)
    [finding] = findings
    assert finding.rule == "encoding"
    assert words in finding.message
    assert finding.message.endswith("expected UTF-8")
    assert isinstance(finding.at, Span)
    position = source.position(finding.at.start)
    assert (position.line, position.column) == (line, column)
    assert source.line(line) or not source.text


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_can_be_shown(raw: bytes) -> None:
    source, findings = decode("x", raw)
    source.text.encode()
    for finding in findings:
        shown(source.text + " ", finding.at)
    assert bool(findings) != (source.text.encode() == raw.removeprefix(codecs.BOM_UTF8)) or b"\0" in raw


@pytest.mark.parametrize(
    ("text", "message", "place", "advice"),
    [
        ("", "found an empty file, expected a value", "", None),
        (" \n", "found an empty file, expected a value", "", None),
        ('{"a": 1,}', "trailing comma: JSON has none", ",", "remove it"),
        ("[1, 2,\n]", "trailing comma: JSON has none", ",", "remove it"),
        ("[,1]", "found ',', expected a value", ",", None),
        ("[1,,2]", "found ',', expected a value", ",", None),
        ('{,"a": 1}', "found ',', expected a key in double quotes", ",", None),
        ("[1] // one", "comments are not part of JSON", "// one", None),
        ("[1] # one\n", "comments are not part of JSON", "# one", None),
        ("[1, /* two\n */ 2]", "comments are not part of JSON", "/* two\n */", None),
        ("[1] /* two", "comment is not closed, and comments are not part of JSON", "/*", None),
        ("[1] /*/", "comment is not closed, and comments are not part of JSON", "/*", None),
        ("['a \"b\"']", "string in single quotes", "'a \"b\"'", "JSON strings have double quotes"),
        ("{'a': 1}", "string in single quotes", "'a'", "JSON strings have double quotes"),
        ("{a: 1}", "key 'a' has no quotes", "a", "put double quotes around it"),
        ("{1: 1}", "key '1' has no quotes", "1", "put double quotes around it"),
        ("[NaN]", "'NaN' is no number of JSON", "NaN", None),
        ("[Infinity]", "'Infinity' is no number of JSON", "Infinity", None),
        ("[-Infinity]", "'-Infinity' is no number of JSON", "-Infinity", None),
        ("[1e999]", "number '1e999' is too large", "1e999", None),
        ("[-1e309]", "number '-1e309' is too large", "-1e309", None),
        (f"[{'1' * 309}]", "whole number of 309 digits, 308 are allowed", "1" * 309, None),
        (f"[-{'1' * 5000}]", "whole number of 5000 digits, 308 are allowed", f"-{'1' * 5000}", None),
        ("[007]", "leading zero in '007'", "007", "write '7'"),
        ("[-00.50]", "leading zero in '-00.50'", "-00.50", "write '-0.50'"),
        ("[+1]", "plus sign before '1'", "+1", "leave it out"),
        ("[.5]", "'.5' is no number of JSON", ".5", None),
        ("[5.]", "'5.' is no number of JSON", "5.", None),
        ("[1e]", "'1e' is no number of JSON", "1e", None),
        ("[0x1F]", "'0x1F' is no number of JSON", "0x1F", None),
        ("[1_000]", "'1_000' is no number of JSON", "1_000", None),
        ("[٣]", "'٣' is no number of JSON", "٣", None),
        ("[-]", "found '-', expected a value", "-", "a string has double quotes"),
        ("[True]", "'True' is no value of JSON", "True", "did you mean 'true'?"),
        ("[None]", "'None' is no value of JSON", "None", "did you mean 'null'?"),
        ("[undefined]", "'undefined' is no value of JSON", "undefined", "did you mean 'null'?"),
        ("[yes]", "found 'yes', expected a value", "yes", "a string has double quotes"),
        (r'["a\ud800"]', r"lone surrogate '\ud800': it is half a character", r"\ud800", None),
        (r'["\uDC00\ud800"]', r"lone surrogate '\uDC00': it is half a character", r"\uDC00", None),
        (r'["\ud800\\udc00"]', r"lone surrogate '\ud800': it is half a character", r"\ud800", None),
        (r'{"\ud800": 1}', r"lone surrogate '\ud800': it is half a character", r"\ud800", None),
        (r'["\d"]', r"'\d' is no escape of JSON", r"\d", r"write a backslash as '\\'"),
        (r'["\u12"]', r"escape '\u12' is cut short", r"\u12", r"four hexadecimal digits follow '\u'"),
        ('["a\tb"]', "control character U+0009 in a string", "\t", r"write it as '\t'"),
        ('["a\x1bb"]', "control character U+001B in a string", "\x1b", r"write it as '\u001b'"),
        ('["a\n"]', "string is not closed", '"a', r"write a line break in a string as '\n'"),
        ('["a', "string is not closed", '"a', None),
        ('["a\\"]', "string is not closed", '"a\\"]', None),
        ("['a]", "string is not closed", "'a]", None),
        ('{"a" 1}', "found '1', expected ':' after the key", "1", None),
        ('{"a"}', "found '}', expected ':' after the key", "}", None),
        ('{"a": }', "found '}', expected a value", "}", None),
        ('{"a" = 1}', "found '=', expected ':' after the key", "=", None),
        ('{"a": 1 "b": 2}', "found a string, expected ',' or '}'", '"b"', "is a ',' missing before it?"),
        ("[1 {}]", "found '{', expected ',' or ']'", "{", "is a ',' missing before it?"),
        ('["a": 1]', "found ':', expected ',' or ']'", ":", None),
        ("[1\u00a0]", "found U+00A0 (no-break space), expected ',' or ']'", "\u00a0", None),
        ("\ufeff[]", "found U+FEFF (zero width no-break space), expected a value", "\ufeff", None),
        ("[\x00]", "found U+0000, expected a value", "\x00", None),
        ("[1] 2", "text after the value, expected the end of the file", "2", None),
        ("{}{}", "text after the value, expected the end of the file", "{", None),
        ("{}}", "found '}', expected the end of the file", "}", None),
        ("}", "found '}', expected a value", "}", None),
    ],
    ids=lambda part: ascii(part)[:30] if isinstance(part, str) else "",
)
def test_syntax(text: str, message: str, place: str, advice: str | None) -> None:
    finding = faults(text)[0]
    assert (finding.rule, finding.message, finding.help) == ("syntax", message, advice)
    assert shown(text, finding.at) == place


@pytest.mark.parametrize(
    ("text", "message", "opened"),
    [
        ('{"a": [1, 2', "found the end of the file, expected ',' or ']'", Span(6, 7)),
        ("[{}", "found the end of the file, expected ',' or ']'", Span(0, 1)),
        ('{"a": 1]', "found ']', expected ',' or '}'", Span(0, 1)),
        ("[[1}]", "found '}', expected ',' or ']'", Span(1, 2)),
    ],
)
def test_brackets_that_do_not_fit_show_where_they_opened(text: str, message: str, opened: Span) -> None:
    [finding] = faults(text)
    assert finding.message == message
    [related] = finding.related
    assert related.at == opened
    assert related.message == f"'{text[opened.start]}' is opened here"


def test_what_can_be_read_past_is_all_reported_in_order() -> None:
    text = '{// c\n a: [NaN, 01, \'x\', "\\q", True,], "b": 1e999, /**/ "c": "\\udfff",}'
    findings = faults(text)
    places = [shown(text, finding.at) for finding in findings]
    assert places == ["// c", "a", "NaN", "01", "'x'", r"\q", "True", ",", "1e999", "/**/", r"\udfff", ","]


def test_nothing_is_said_after_a_fault_that_stops() -> None:
    assert len(faults('{"a" 1, "a": NaN,}')) == 1


def test_every_repeated_key_is_reported() -> None:
    text = '{"a": 1, "b": [{"c": 1, "\\u0063": 2, "c": 3}], "a": {"a": 1}, "d": {"b": 0}}'
    findings = faults(text)
    assert [(finding.rule, finding.message) for finding in findings] == [
        ("duplicate-key", "repeated key 'c'"),
        ("duplicate-key", "repeated key 'c'"),
        ("duplicate-key", "repeated key 'a'"),
    ]
    assert [finding.at for finding in findings] == [Span(24, 32), Span(37, 40), Span(47, 50)]
    related = [finding.related[0] for finding in findings]
    assert [place.at for place in related] == [Span(16, 19), Span(16, 19), Span(1, 4)]
    assert {place.message for place in related} == {"first written here"}


def test_repeated_keys_are_reported_beside_other_faults() -> None:
    found = [finding.rule for finding in faults('{"a": NaN, "a": 1, "a" 2')]
    assert found == ["syntax", "duplicate-key", "duplicate-key", "syntax"]


def test_long_texts_are_cut_in_messages() -> None:
    for word in ("x" * 1000, "0" * 1000, "1" * 1000, "1e" + "9" * 1000, f"{{{'x' * 1000}: 1}}"):
        [finding] = faults(f"[{word}]")
        assert len(finding.message) + len(finding.help or "") < 150


HOSTILE = {
    "quotes": '"' * 100_000,
    "backslashes": '"' + "\\" * 100_001,
    "bad-escapes": '"' + r"\q" * 30_000 + '"',
    "comments": "/*" * 100_000,
    "slashes": "/" * 100_000,
    "zeros": "0" * 200_000 + "x",
    "exponents": "1e" * 100_000,
    "keys": '{"a"' * 50_000,
    "white-space": " " * 200_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_take_no_long_time(text: str) -> None:
    started = time.perf_counter()
    assert faults(text)
    assert time.perf_counter() - started < 3


@pytest.mark.parametrize("opening", ["[", '{"a":'], ids=["lists", "objects"])
@pytest.mark.parametrize("depth", [257, 2_000, 50_000])
def test_too_deep(opening: str, depth: int) -> None:
    text = opening * depth + "1" + ("]" if opening == "[" else "}") * depth
    [finding] = faults(text)
    assert finding.message == "nested more than 256 levels deep"
    assert finding.at == Span(256 * len(opening), 256 * len(opening) + 1)


def test_other_faults_of_a_deep_text() -> None:
    text = '{"x": 1, "x": ' + "[" * 100_000
    assert [finding.message for finding in faults(text)] == [
        "repeated key 'x'",
        "nested more than 256 levels deep",
        "found the end of the file, expected a value",
    ]


def test_256_levels_are_read_from_any_depth_of_calls() -> None:
    text = "[" * 256 + "]" * 256
    expected = json.loads(text)

    def deeper(frames: int) -> Document:
        return sound(text) if frames == 0 else deeper(frames - 1)

    # So few frames are left that the standard reader gives up and ours is asked.
    document = deeper(sys.getrecursionlimit() - 300)
    assert document.data == expected
    assert document.span((0,) * 255) == Span(255, 257)


@pytest.mark.parametrize("text", ['"a"', "1", "null", "[]", "{}", '"\\ud83d\\udc69"', "-0.5e+3", '""'])
def test_any_value_may_be_the_whole_text(text: str) -> None:
    document = sound(f" {text}\r\n")
    assert document.data == json.loads(text)
    assert dict(document.spans) == {(): Span(1, 1 + len(text))}


def test_spans() -> None:
    text = '{ "a b" : [ 10, {"\\u0063": "x\\"y"} ,true], "": {} }'
    places = {pointer: shown(text, span) for pointer, span in sound(text).spans.items()}
    assert places == {
        (): text,
        ("a b", KEY): '"a b"',
        ("a b",): '[ 10, {"\\u0063": "x\\"y"} ,true]',
        ("a b", 0): "10",
        ("a b", 1): '{"\\u0063": "x\\"y"}',
        ("a b", 1, "c", KEY): '"\\u0063"',
        ("a b", 1, "c"): '"x\\"y"',
        ("a b", 2): "true",
        ("", KEY): '""',
        ("",): "{}",
    }


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)
LAYOUTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 0, 3, "\t", "\r\n"]), "ensure_ascii": st.booleans()}
)


def nodes(value: Any, pointer: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    yield pointer, value
    for key, part in value.items() if isinstance(value, dict) else ():
        yield (*pointer, key, KEY), key
        yield from nodes(part, (*pointer, key))
    for index, part in enumerate(value) if isinstance(value, list) else ():
        yield from nodes(part, (*pointer, index))


@settings(deadline=None)
@given(VALUES, LAYOUTS)
def test_the_text_of_every_span_stands_for_its_value(value: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout)
    document = sound(text)
    assert document.data == value
    expected = dict(nodes(value))
    assert document.spans.keys() == expected.keys()
    reader = Reader(text)
    reader.run()
    assert (reader.root, reader.findings) == (value, [])
    for pointer, span in document.spans.items():
        assert json.loads(text[span.start : span.end]) == expected[pointer]


def strict(text: str) -> Any:
    """The standard reader, as strict as it can be made with its hooks. Raises `ValueError`."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    value = json.loads(text, parse_constant=refuse, object_pairs_hook=distinct)
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def agrees(text: str) -> None:
    document, findings = read(Source("x", text))
    assert (document is None) == bool(findings)
    for finding in findings:
        shown(text, finding.at)
    try:
        value = strict(text)
    except ValueError:
        assert findings
    else:
        assert document is not None
        assert document.data == value
        assert document.spans.keys() == dict(nodes(value)).keys()


MARKS = list("{}[]:,\"'\\/# \n\r\t\0-+.01eE\ufeff")
WORDS = [
    "\\u",
    "\\ud800",
    "\\udc00",
    "/*",
    "*/",
    "//",
    "e9999",
    "true",
    "null",
    "NaN",
    "Infinity",
    '"a"',
    '"b"',
]
PIECES = st.sampled_from(MARKS + WORDS)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20))
@example('"\\"')
@example("1.0e+05")
@example("-")
@example("[1.]")
@example('{"a":1}/')
def test_refuses_what_the_standard_reader_refuses(text: str) -> None:
    agrees(text)


@settings(max_examples=300, deadline=None)
@given(VALUES, LAYOUTS, st.data())
def test_mutated_json(value: Any, layout: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, **layout)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(begin + 3, len(text))))
    agrees(text[:begin] + data.draw(PIECES | st.just("")) + text[end:])


def test_big_files_are_indexed_in_about_linear_time() -> None:
    def seconds(sockets: int) -> float:
        edges = [
            {"when": "satisfied", "to": "next"},
            {"when": "not_satisfied", "to": "x", "maxTraversals": 3},
        ]
        text = json.dumps(
            {f"socket-{number}": {"materia": "Build", "edges": edges} for number in range(sockets)}
        )
        started = time.perf_counter()
        assert len(sound(text).spans) == 1 + 18 * sockets
        return time.perf_counter() - started

    assert seconds(10_000) < 40 * seconds(1_000) + 2
