from __future__ import annotations

import json

import pytest

from materiac import json_print


@pytest.mark.parametrize(
    ("text", "laid_out"),
    [
        pytest.param("{}", "{}\n", id="nothing"),
        pytest.param('{"a":1}', '{\n  "a": 1\n}\n', id="outermost"),
        pytest.param('{"a":{"b":[1,2],"c":{}}}', '{\n  "a": { "b": [1, 2], "c": {} }\n}\n', id="short"),
        pytest.param(
            "[1.50,1e3,-0.0,1E+2]", "[\n  1.50,\n  1e3,\n  -0.0,\n  1E+2\n]\n", id="numbers as written"
        ),
        pytest.param(r'["\u00e9\/\u000a"]', '[\n  "é/\\n"\n]\n', id="strings in UTF-8"),
        pytest.param(r'["\ud83c\udf89\u202e"]', '[\n  "🎉\\u202e"\n]\n', id="what cannot be seen is escaped"),
        pytest.param('"a"', '"a"\n', id="scalar"),
    ],
)
def test_layout(text: str, laid_out: str) -> None:
    assert json_print.formatted(text) == laid_out
    assert json_print.formatted(laid_out) == laid_out


@pytest.mark.parametrize(("length", "lines"), [(82, 3), (83, 5)], ids=["fits", "does not fit"])
def test_a_line_has_100_columns(length: int, lines: int) -> None:
    text = json_print.formatted(json.dumps({"a": {"b": "x" * length}}))
    assert len(text.splitlines()) == lines
    assert max(map(len, text.splitlines())) <= 100


def test_a_comma_counts() -> None:
    text = json_print.formatted(json.dumps([["x" * 94], 1]))
    assert text.splitlines()[1] == "  ["


def test_keys_keep_their_order_and_lines_their_indent() -> None:
    data = {"b": {"z": "x" * 60, "a": ["y" * 60]}, "a": 1}
    text = json_print.written(data)
    assert list(json.loads(text)) == ["b", "a"]
    assert text.splitlines()[2:4] == [f'    "z": "{"x" * 60}",', f'    "a": ["{"y" * 60}"]']
    assert json_print.formatted(text) == text


def test_deep_values() -> None:
    text = "[" * 256 + "]" * 256
    assert json.loads(json_print.formatted(text)) == json.loads(text)
