"""What the pages have in both spellings says the same in both: example by example, and in the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from doc_dsl import dsl_value, dsl_values
from doc_pages import PAGES, Block, Page, read

from materiac import formatting, pipeline

LANGUAGE = read("docs/language.md")
PAGES_WITH_BOTH = (read("README.md"), LANGUAGE, read("docs/dsl.md"))


def pairs(page: Page) -> Iterator[tuple[Block, Block]]:
    """The examples that stand below one another in JSON and in the DSL, the one in JSON first."""
    blocks = iter(pairwise(page.blocks))
    for first, second in blocks:
        if {first.language, second.language} == {"json", "materia"} and first.words == second.words:
            yield (first, second) if first.language == "json" else (second, first)
            next(blocks, None)


PAIRS = [(f"{page.name}:{pair[0].line}", pair) for page in PAGES_WITH_BOTH for pair in pairs(page)]


def test_every_loadout_is_there_in_both_spellings() -> None:
    in_json = [block for block in LANGUAGE.blocks if block.is_json("loadout")]
    assert in_json == [first for first, _ in pairs(LANGUAGE) if first.is_json("loadout")]
    assert len(in_json) > 5


@pytest.mark.parametrize(("in_json", "in_dsl"), [pytest.param(*pair, id=name) for name, pair in PAIRS])
def test_the_spellings_of_an_example_are_one_value(in_json: Block, in_dsl: Block) -> None:
    assert json.loads(in_json.text) == dsl_value(in_dsl.text, in_dsl.options.get("in", "file"))


@pytest.mark.parametrize(
    ("in_json", "in_dsl"),
    [pytest.param(*pair, id=name) for name, pair in PAIRS if pair[0].is_json("loadout")],
)
def test_the_spellings_of_a_loadout_are_one_program(in_json: Block, in_dsl: Block) -> None:
    texts = [pipeline.Text(f"loadout.{block.language}", block.text.encode()) for block in (in_json, in_dsl)]
    first, second = (pipeline.compile_loadout([text]) for text in texts)
    assert words(first) == words(second)
    assert digest(first) == digest(second)


def digest(compiled: pipeline.Compiled) -> str | None:
    return compiled.image.program.digest() if compiled.image else None


def words(compiled: pipeline.Compiled) -> list[tuple[str, str]]:
    return [(part.finding.rule, part.finding.message) for part in compiled.findings]


def rows(page: Page) -> Iterator[tuple[list[str], list[str]]]:
    """What the tables with a column for each spelling have in these columns, row by row: the code in them."""
    for table in re.findall(r"^\| JSON[^|]*\| DSL \|.*\n\|[-| ]*\n((?:\|.*\n)+)", page.prose, re.MULTILINE):
        for row in table.splitlines():
            in_json, in_dsl = (re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[1:3])
            yield in_json, in_dsl


ROWS = [pytest.param(*row, id=row[1][0]) for row in rows(LANGUAGE)]


@pytest.mark.parametrize(("in_json", "in_dsl"), ROWS)
def test_the_spellings_in_a_table_are_of_the_same(in_json: list[str], in_dsl: list[str]) -> None:
    """What stands for more is left out of them: the texts are whole without their `…`."""
    found = [values for text in in_dsl if (values := dsl_values(text.replace("…", "")))]
    assert len(found) == len(in_dsl)
    for said in in_json:
        assert any(has(value, said) for values in found for value in values), said


def has(value: Any, said: str) -> bool:
    """Whether a value has a key of this name, or this very object, somewhere in it."""
    here = value == json.loads(said) if said.startswith("{") else isinstance(value, dict) and said in value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return here or any(has(part, said) for part in parts)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=f"{page.name}:{block.line}")
        for page in PAGES
        for block in page.blocks
        if block.language == "materia" and "in" not in block.options
    ],
)
def test_an_example_is_laid_out(block: Block) -> None:
    assert formatting.formatted(block.text, "dsl") == block.text
