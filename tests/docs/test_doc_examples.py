"""Every JSON example of the pages, checked and run as its fence says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doc_dsl import dsl_value
from doc_pages import PAGES, Block, Page

from materiac import pipeline
from materiac.agents.scripted import Script, Scripted
from materiac.runtime.run import Order, run
from materiac.scenario import read as scenarios

KINDS = {
    "json": ("loadout", "fragment", "script", "scenario", "result"),
    "materia": ("loadout", "fragment", "scenario"),
}
EXAMPLES = [
    pytest.param(page, block, id=f"{page.name}:{block.line}")
    for page in PAGES
    for block in page.blocks
    if block.language in KINDS
]


@pytest.mark.parametrize(("page", "block"), EXAMPLES)
def test_an_example_is_what_its_fence_says(page: Page, block: Block) -> None:
    expected = KINDS[block.language]
    kinds = [kind for kind in expected if kind in block.words]
    assert len(kinds) == 1, f"expected one of {', '.join(expected)} behind the fence in {page.name}"
    value = value_of(block)
    if kinds == ["loadout"]:
        assert found(block) == wanted(block)
    if kinds == ["script"]:
        Script.model_validate(value)
    if kinds == ["scenario"]:
        assert scenarios.read(f"x.scenario.{block.language}", block.text.encode())[1] == []


def value_of(block: Block) -> Any:
    return (
        json.loads(block.text)
        if block.language == "json"
        else dsl_value(block.text, block.options.get("in", "file"))
    )


def found(block: Block) -> set[tuple[str, str]]:
    findings = pipeline.check([*shipped(), text_of(block)])
    return {(part.finding.severity.word, part.finding.rule) for part in findings}


def wanted(block: Block) -> set[tuple[str, str]]:
    return {
        (severity, rule)
        for severity in ("error", "warning", "info")
        for rule in filter(None, block.options.get(severity, "").split(","))
    }


def shipped() -> list[pipeline.Text]:
    from materiac.cli.loading import bundled  # noqa: PLC0415 - the command line imports what it needs late

    return list(bundled())


def text_of(block: Block) -> pipeline.Text:
    return pipeline.Text(f"loadout.{block.language}", block.text.encode())


def casts(page: Page) -> Iterator[tuple[Block, Block | None, Block, list[Block]]]:
    """Each `result` of a page, with the loadout and the script before it, and the files shown after it."""
    loadout = script = None
    for at, block in enumerate(page.blocks):
        if block.is_json("loadout"):
            loadout, script = block, None
        elif block.is_json("script"):
            script = block
        elif block.is_json("result"):
            assert loadout is not None, f"there is no loadout before line {block.line} of {page.name}"
            yield loadout, script, block, list(shown_after(page.blocks[at + 1 :]))


def shown_after(blocks: tuple[Block, ...]) -> Iterator[Block]:
    for block in blocks:
        if block.language == "json":
            return
        if "made" in block.options:
            yield block


@pytest.mark.parametrize(
    ("page", "loadout", "script", "result", "shown"),
    [pytest.param(page, *cast, id=f"{page.name}:{cast[2].line}") for page in PAGES for cast in casts(page)],
)
def test_a_cast_comes_out_as_shown(
    page: Page,
    loadout: Block,
    script: Block | None,
    result: Block,
    shown: list[Block],
    tmp_path: Path,
    *,
    bless: bool,
) -> None:
    outcome = cast(loadout, script, tmp_path)
    assert_has(outcome, json.loads(result.text))
    for block in shown:
        made = (Path(outcome["artifacts"]) / block.options["made"]).read_text(encoding="utf-8")
        if bless:
            page.bless(block, made)
        else:
            assert made == block.text


def cast(loadout: Block, script: Block | None, folder: Path) -> dict[str, Any]:
    image = pipeline.compile_loadout([text_of(loadout)]).image
    assert image is not None
    answers = Script.model_validate(json.loads(script.text) if script else {})
    order = Order(
        image=image,
        request=(script and script.options.get("request")) or "tidy the shed",
        agent=Scripted("scripted:answers.json", answers),
        cwd=folder,
        artifacts=folder / "casts",
        environ={},
    )
    return run(order).as_data()


def assert_has(value: Any, expected: Any, where: str = "the result") -> None:
    """Objects may have more members than is expected of them; nothing else may differ."""
    if not isinstance(expected, dict) or not isinstance(value, dict):
        assert value == expected, where
        return
    for key, part in expected.items():
        assert key in value, f"'{key}' of {where}"
        assert_has(value[key], part, f"'{key}' of {where}")
