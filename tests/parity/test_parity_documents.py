"""JSON and the language of our own are two spellings of one value: nothing is lost on any way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from documents import FILES, PROMPTS
from hypothesis import HealthCheck, given, settings

from materiac import dsl_text, formatting, json_text
from materiac.source import Source

ROUNDS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def in_order(data: Any) -> Any:
    """A value whose objects are equal only in the same order, where order means something."""
    if isinstance(data, dict):
        pairs = [(key, in_order(value)) for key, value in data.items()]
        return pairs if {"sockets", "assign"} & data.keys() else dict(pairs)
    return [in_order(part) for part in data] if isinstance(data, list) else data


def read(text: str) -> Any:
    document, findings = dsl_text.read(Source("x.materia", text))
    assert document is not None, (findings, text)
    return document.data


def same(one: Any, other: Any) -> bool:
    """Equal, and of equal kinds: true is not 1, and 2.0 is not 2."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@ROUNDS
@given(FILES)
def test_json_to_dsl_to_json(data: dict[str, Any]) -> None:
    text = formatting.written(data, "dsl")
    assert same(read(text), data)
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
