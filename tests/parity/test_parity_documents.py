"""JSON and the language of our own are two spellings of one value: nothing is lost on any way."""

from __future__ import annotations

from typing import Any

import pytest
from documents import FILES, PROMPTS
from hypothesis import HealthCheck, given, settings
from spellings import read, same

from materiac import formatting, json_text
from materiac.source import Source

ROUNDS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def orders(data: Any, key: str = "") -> list[list[str]]:
    """The orders of keys in a value where they mean something."""
    if isinstance(data, list):
        return [order for part in data for order in orders(part)]
    if not isinstance(data, dict):
        return []
    named = key in ("sockets", "assign", "loadouts", "materia", "loops")  # a socket may be called `materia`
    inner = (order for name in sorted(data) for order in orders(data[name], "" if named else name))
    return [*([list(data)] if named else []), *inner]


@ROUNDS
@given(FILES)
def test_json_to_dsl_to_json(data: dict[str, Any]) -> None:
    text = formatting.written(data, "dsl")
    assert same(read(text), data)
    assert orders(read(text)) == orders(data)
    assert formatting.formatted(text, "dsl") == text


@ROUNDS
@given(FILES)
def test_json_is_written_in_its_layout(data: dict[str, Any]) -> None:
    text = formatting.written(data, "json")
    document, _ = json_text.read(Source("x.json", text))
    assert document is not None
    assert same(document.data, data)
    assert formatting.formatted(text, "json") == text


@ROUNDS
@given(PROMPTS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_any_prompt_with_any_line_ends(ends: str, prompt: str) -> None:
    text = formatting.written({"materia": {"A": {"prompt": prompt}}}, "dsl")
    assert read(text.replace("\n", ends)) == {"materia": {"A": {"prompt": prompt}}}
