from __future__ import annotations

import time
from typing import Any

import pytest

from materiac.path import MISSING
from materiac.template import Reference, fill, references, shown

VALUES: dict[str, Any] = {
    "request": "tidy {{state.x}}",
    "state.x": 7,
    "item": {"title": "é", "list": [1]},
    "known": None,
    "flag": True,
    "empty": "",
}


def look_up(name: str) -> Any:
    return VALUES.get(name, MISSING)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        pytest.param("no braces { } }} {{", "no braces { } }} {{", id="none"),
        pytest.param("<{{state.x}}>", "<7>", id="number"),
        pytest.param("<{{  state.x\n}}>", "<7>", id="spaces-inside"),
        pytest.param("<{{flag}}>", "<true>", id="true"),
        pytest.param("<{{known}}|{{empty}}>", "<|>", id="known-without-a-value"),
        pytest.param("<{{unknown}}>", "<{{unknown}}>", id="unknown-stays"),
        pytest.param("<{{ unknown }}>", "<{{ unknown }}>", id="unknown-stays-with-its-spaces"),
        pytest.param("<{{}}>", "<{{}}>", id="nothing-inside"),
        pytest.param("<{{request}}>", "<tidy {{state.x}}>", id="not-expanded-again"),
        pytest.param("<{{{state.x}}}>", "<{7}>", id="three-braces"),
        pytest.param("<{{ a {{state.x}} b }}>", "<{{ a 7 b }}>", id="innermost"),
        pytest.param(r"<\{{state.x}}>", "<{{state.x}}>", id="escaped"),
        pytest.param(r"\{{state.x}} {{state.x}}", "{{state.x}} 7", id="escape-does-not-reach-on"),
        pytest.param(r"\{ \x {{state.x}}", r"\{ \x 7", id="other-backslashes-stay"),
        pytest.param("{{state.x}}{{state.x}}", "77", id="side-by-side"),
        pytest.param(
            "{{item}}", '{\n  "title": "é",\n  "list": [\n    1\n  ]\n}', id="objects-are-indented-json"
        ),
    ],
)
def test_fill(text: str, filled: str) -> None:
    assert fill(text, look_up) == filled


def test_references() -> None:
    text = r"{{ a }} \{{b}} {{c {{d.e}} }} {f} {{}}"
    assert list(references(text)) == [
        Reference("a", 0, 7),
        Reference("d.e", 19, 26),
        Reference("", 34, 38),
    ]


@pytest.mark.parametrize(
    "text", ["{{" * 200_000, "{{a" * 100_000, r"\{" * 200_000], ids=["open", "names", "escapes"]
)
def test_hostile_texts_take_no_long_time(text: str) -> None:
    started = time.perf_counter()
    assert fill(text, look_up).count("{") >= 200_000
    assert time.perf_counter() - started < 2


def test_values_as_deep_as_a_file_may_be_are_shown() -> None:
    value: Any = 1
    for _ in range(256):
        value = [value]
    assert shown(value).count("[") == 256
