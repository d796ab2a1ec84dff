"""What the page of scenarios has in both spellings says the same in both: its examples and its tables."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from doc_pages import read

from materiac import dsl_text, formatting
from materiac.source import Source

PAGE = read("docs/scenarios.md")
PAIRS = [
    (first, second)
    for first, second in pairwise(block for block in PAGE.blocks if "scenario" in block.words)
    if (first.language, second.language) == ("json", "materia")
]
AROUND = {
    "file": "{}",
    "scenario": 'scenario "s" {{ {} }}',
    "statement": 'scenario "s" {{ {} }}',
    "expectation": 'scenario "s" {{ expect {{ {} }} }}',
    "answer": 'scenario "s" {{ agent {{ {} }} }}',
}


def value(text: str, part: str) -> Any:
    """The value of what a piece of the DSL is a part of; None where it is no such part."""
    document, _ = dsl_text.read(Source("x.materia", AROUND[part].format(text)))
    if document is None:
        return None
    scenario = document.data.get("scenarios", [{}])[0]
    return {
        "file": scenario,
        "scenario": scenario,
        "statement": scenario.get("expect"),
        "expectation": scenario.get("expect"),
        "answer": scenario.get("agent", {}).get("sockets"),
    }[part]


def rows(*, answers: bool) -> list[Any]:
    """The first two columns of the tables that have both spellings: those of answers, or the others."""
    tables = re.findall(r"^\| JSON \| DSL \|.*\n\|[-| ]*\n((?:\|.*\n)+)", PAGE.prose, re.MULTILINE)
    cells = [
        [re.findall(r"`([^`]+)`", cell) for cell in row.split(" | ")[:2]]
        for table in tables
        for row in table.splitlines()
        if row.startswith('| `"') == answers
    ]
    return [pytest.param(*row, id=row[0][0]) for row in cells]


def test_each_example_is_there_in_both() -> None:
    assert len(PAIRS) == 2


@pytest.mark.parametrize(("in_json", "in_dsl"), PAIRS, ids=["alone", "a list"])
def test_the_spellings_of_an_example_are_one_value(in_json: Any, in_dsl: Any) -> None:
    document, findings = dsl_text.read(Source("x.materia", in_dsl.text))
    assert document is not None, findings
    assert json.loads(formatting.converted(document.data, "json")) == json.loads(in_json.text)


@pytest.mark.parametrize(("in_json", "in_dsl"), rows(answers=False))
def test_the_keys_of_the_tables(in_json: list[str], in_dsl: list[str]) -> None:
    found = [[value(text, part) or {} for part in AROUND] for text in in_dsl]
    assert found
    for values in found:
        assert any(in_json[0] in keys for keys in values)


@pytest.mark.parametrize(("in_json", "in_dsl"), rows(answers=True))
def test_the_answers_of_the_table(in_json: list[str], in_dsl: list[str]) -> None:
    assert value(in_dsl[0], "answer") == json.loads(f"{{{in_json[0]}}}")
