"""docs/architecture.md shows the layers that import-linter keeps, and names every module of the runtime."""

from __future__ import annotations

import re
import tomllib

from doc_pages import ROOT, Page, read

PAGE: Page = read("docs/architecture.md")


def test_the_layers_are_those_of_the_contract(*, bless: bool) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [re.findall(r"\w+", layer) for layer in settings["contracts"][0]["layers"]]
    text = "".join(f"{'   '.join(layer)}\n" for layer in layers)
    shown = next(block for block in PAGE.blocks if "layers" in block.words)
    if bless:
        PAGE.bless(shown, text)
    else:
        assert shown.text == text


def test_the_runtime_is_told_in_full() -> None:
    section = PAGE.text.partition("| module of `runtime/` |")[2].partition("\n\n")[0]
    named = {name for row in section.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    modules = {path.stem for path in (ROOT / "materiac" / "runtime").glob("*.py")} - {"__init__"}
    assert named == modules
