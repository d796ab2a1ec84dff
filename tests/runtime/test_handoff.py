from __future__ import annotations

import json
import string
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from materiac.runtime.handoff import MAX_DEPTH, HandoffError, excerpt, find_object, kind_of

FOUND: list[tuple[str, str, Any]] = [
    ("alone", '{"a": 1}', {"a": 1}),
    ("empty", " {} ", {}),
    ("byte-order mark", '\ufeff{"a": 1}', {"a": 1}),
    ("fence", '```json\n{"a": 1}\n```', {"a": 1}),
    ("fence of another language", '```python\n{"a": 1}\n```', {"a": 1}),
    ("fence in a string", '{"a": "use ```json x``` ok"}', {"a": "use ```json x``` ok"}),
    ("object in a string", '{"a": "{\\"b\\": 2}"}', {"a": '{"b": 2}'}),
    ("prose", 'Sure! {"a": 1} hope it helps', {"a": 1}),
    ("brace before", 'Use {braces} wisely. {"a": 1}', {"a": 1}),
    ("brace behind", '{"a": 1}}', {"a": 1}),
    ("double braces", '{{"a": 1}}', {"a": 1}),
    ("bracket before", '[note] {"a": 1}', {"a": 1}),
    ("open brackets before", "[" * 20 + ' x {"a": 1}', {"a": 1}),
    ("list before", '[1, 2] {"a": 1}', {"a": 1}),
    ("list of objects beside", '[{"b": 2}] {"a": 1} [[{"c": 3}]]', {"a": 1}),
    ("braces in a list of strings", '["see {} there"] {"a": 1}', {"a": 1}),
    ("bracket that goes wrong early", '["x", see {"a": 1}]', {"a": 1}),
    ("no number in a bracket", '[NaN] [1e999] {"a": 1}', {"a": 1}),
    ("white space behind the brace", '{ \n "a": 1}', {"a": 1}),
    ("equal objects", '{"a": 1, "b": [2]} or {"b": [2.0], "a": 1.0}', {"a": 1, "b": [2]}),
    ("reasoning", '<think>{"a": 2}</think>{"a": 1}', {"a": 1}),
    ("reasoning in capitals", '<THINKING >[{</thinking >{"a": 1}<Reasoning>{"b": 2}', {"a": 1}),
    ("reasoning in a string", '{"a": "<think>"} {"a": "<think>"}', {"a": "<think>"}),
    ("closed reasoning tag in prose", '</think>{"a": 1}', {"a": 1}),
    ("surrogate pair", '{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    ("as deep as allowed", '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH, ...),
]

REFUSED = [
    ("nothing", "", "the answer is empty, expected a JSON object"),
    ("white space", " \n\ufeff", "the answer is empty, expected a JSON object"),
    ("prose", "I think it is good.", "no JSON object was found"),
    ("null", "null", "the answer is null, expected a JSON object"),
    ("true", " true", "the answer is true, expected a JSON object"),
    ("number", "3", "the answer is a number, expected a JSON object"),
    ("string", '"{}"', "the answer is a string, expected a JSON object"),
    ("list", '[{"a": 1}]', "the answer is a list, expected a JSON object"),
    ("list in a fence", '```\n[{"a": 1}]\n```', "objects in a list are not looked at"),
    ("list with a trailing comma", '[{"a": 1},]', "the JSON list at line 1, column 1 is not sound"),
    ("list that is cut off", 'x [1, {"a": 1},', "it is cut off"),
    ("two objects", '{"a": 1}\n{"a": 2}', "two different JSON objects"),
    ("one and true", '{"a": 1} {"a": true}', "two different JSON objects"),
    ("zero and false", '{"a": [0]} {"a": [false]}', "two different JSON objects"),
    ("fewer keys", '{"a": 1} {"a": 1, "b": 1}', "two different JSON objects"),
    ("longer list", '{"a": [1]} {"a": [1, 1]}', "two different JSON objects"),
    ("sound, then not", '{"a": 1} {"a": ', "line 1, column 10 is not sound"),
    ("nothing inside is tried", '{"a": x, "b": {"c": 1}}', "a value is missing at line 1, column 7"),
    ("repeated key", '{"a": {"b": 1, "b": 1}}', "the key 'b' is repeated"),
    ("cut off in a string", '{"a": "cut', "it is cut off inside the string that begins at line 1, column 7"),
    ("cut off", '{"a": {"b": 1} ', "it is cut off at line 1, column 16"),
    ("cut off behind the key", '{"a"', "it is cut off"),
    ("trailing comma", '\n{"a": 1, }', "there is a trailing comma at line 2"),
    ("single quotes", "{'a': 'x'}", "keys and strings are written in double quotes"),
    ("curly quotes", "{“a”: 1}", "keys and strings are written in double quotes"),
    ("no quotes", "Here: { a: 1 }", "keys and strings are written in double quotes"),
    ("single quotes inside", "{\"a\": 'x'}", "a string is not in double quotes"),
    ("comment", '{"a": 1, // one\n"b": 2}', "a key in double quotes is missing"),
    ("no colon", '{"a" 1}', "a ':' is missing at line 1, column 6"),
    ("no comma", '{"a": 1 "b": 2}', "a ',' or a closing bracket is missing"),
    ("line break in a string", '{"a": "x\ny"}', "is not escaped at line 1, column 9"),
    ("bad escape", '{"a": "\\q"}', "a backslash in a string begins no escape"),
    ("python's true", '{"a": True}', "a value is missing"),
    ("NaN", '{"a": NaN}', "'NaN' is no JSON value"),
    ("infinity", '{"a": [-Infinity]}', "'-Infinity' is no JSON value"),
    ("overflow", '{"a": 1e999}', "the number 1e999 is too big"),
    ("too many digits", '{"a": ' + "9" * 5000 + "}", "a number has too many digits"),
    ("lone surrogate", '{"a": "\\ud800"}', "half of a surrogate pair"),
    ("too deep", '{"a":' * 257 + "1" + "}" * 257, "nested more than 256 levels deep"),
    ("far too deep", '{"a":' * 100_000, "nested more than 256 levels deep"),
    ("in reasoning alone", '<think>{"a": 1}</think>', "no JSON object was found"),
    ("in reasoning that has no end", 'so <reasoning>{"a": 1}</think>', "no JSON object was found"),
]


@pytest.mark.parametrize(("text", "value"), [pytest.param(t, v, id=i) for i, t, v in FOUND])
def test_finds_the_object(text: str, value: Any) -> None:
    assert find_object(text) == (json.loads(text) if value is ... else value)


@pytest.mark.parametrize(("text", "reason"), [pytest.param(t, r, id=i) for i, t, r in REFUSED])
def test_refuses_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(HandoffError) as caught:
        find_object(text)
    assert reason in str(caught.value)


MEGABYTE = 1_000_000
BIG = {
    "braces": "{" * MEGABYTE,
    "brackets": "[" * MEGABYTE,
    "brackets that begin a list": "[1 x " * (MEGABYTE // 5),
    "lists that go wrong deep inside": ("[" * 200 + "x") * (MEGABYTE // 201),
    "brackets and quotes": '["\\"' * (MEGABYTE // 4),
    "reasoning": "<think>" * (MEGABYTE // 7),
    "white space": "{" + " " * MEGABYTE,
}


@pytest.mark.parametrize("text", BIG.values(), ids=BIG.keys())
def test_a_megabyte_of_brackets_is_no_work(text: str) -> None:
    start = time.process_time()
    with pytest.raises(HandoffError):
        find_object(text)
    assert time.process_time() - start < 8


def test_many_braces_in_prose_hide_nothing() -> None:
    assert find_object("{x} [y] " * 10_000 + '{"a": 1}' + " {z" * 10_000) == {"a": 1}


@given(st.text(alphabet='{}[]",:\\ \n1a-.NtrueĀ😀<think>/', max_size=60) | st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = find_object(text)
    except HandoffError:
        return
    assert isinstance(found, dict)


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
# Double quotes around an object would make a string of the whole answer, which is refused.
prose = st.text(alphabet=string.ascii_letters + " .,:;'`\n()</>é", max_size=30).filter(
    lambda text: "<" not in text
)


@settings(max_examples=60)
@given(st.dictionaries(st.text(), values), prose, prose, st.sampled_from([None, 1]))
def test_finds_any_object_in_any_prose(
    value: dict[str, Any], before: str, after: str, indent: int | None
) -> None:
    assert find_object(before + json.dumps(value, indent=indent) + after) == value


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=5), values, min_size=1, max_size=4), st.data())
def test_a_truncated_object_is_refused(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    with pytest.raises(HandoffError):
        find_object(text[: data.draw(st.integers(1, len(text) - 1))])


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "null"), (True, "true"), (1.5, "a number"), ("x", "a string"), ([], "a list"), ({}, "an object")],
)
def test_says_what_a_value_is(value: Any, words: str) -> None:
    assert kind_of(value) == words


def test_an_excerpt_is_as_long_as_allowed() -> None:
    assert excerpt("abcd", 4) == "abcd"
    assert excerpt("abcde", 4) == "abc…"
