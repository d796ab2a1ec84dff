"""Half-typed and damaged texts: every request has an answer, and the server goes on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from talk import Talk, talking

from materiac.cli.lsp_check import look
from materiac.lsp.looks import Job
from materiac.source import Language

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    ROOT / "loadouts" / "full-auto.materia",
    ROOT / "loadouts" / "templates" / "parallel.json",
    ROOT / "loadouts" / "scenarios" / "hello.scenario.json",
    ROOT / "tests" / "lsp" / "everything.txt",
]
NOISE = (
    '"',
    "{",
    "}",
    "[",
    "(",
    ")",
    ":",
    "=",
    "->",
    "@",
    "#",
    '"""',
    "\\",
    "\r",
    "\0",
    "😀",
    "\u2028",
    "loop ",
    "-",
)
REFUSED = -32803

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    with talking(tmp_path_factory.mktemp("work")) as talk:
        yield talk


def damaged(text: str, count: int, chance: random.Random) -> Iterator[tuple[str, int]]:
    """Beginnings of a text, and the text with noise in it or a part gone; and a place of interest."""
    for number in range(count):
        cut = len(text) * number // count
        yield text[:cut], cut
        at = chance.randrange(len(text) + 1)
        yield text[:at] + chance.choice(NOISE) + text[at:], at
        yield text[:at] + text[at + chance.randrange(40) :], at


def questions(uri: str, place: dict[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    here = {"textDocument": {"uri": uri}, "position": place}
    yield "textDocument/completion", here
    yield "textDocument/hover", here
    yield "textDocument/definition", here
    yield "textDocument/references", {**here, "context": {"includeDeclaration": True}}
    yield "textDocument/prepareRename", here
    yield "textDocument/rename", {**here, "newName": "other"}
    yield "textDocument/documentSymbol", {"textDocument": {"uri": uri}}
    yield (
        "textDocument/formatting",
        {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}},
    )
    whole = {"start": {"line": 0, "character": 0}, "end": place}
    yield (
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}},
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_request_has_an_answer(talk: Talk, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    uri = talk.open(file.name.replace(".txt", ".materia"), text)
    before, version = talk.findings(uri, 1), 1
    for after, at in damaged(text, 40, random.Random(file.name)):  # noqa: S311 (the same each time)
        version += 1
        talk.change(uri, version, {"text": after})
        lines = after[:at].split("\n")
        place = {"line": len(lines) - 1, "character": len(lines[-1])}
        for method, params in questions(uri, place):
            answer = talk.ask(method, params)
            wrong = isinstance(answer, dict) and "code" in answer and answer["code"] != REFUSED
            assert not wrong, (method, after, answer)
    talk.change(uri, version + 1, {"text": text})
    assert talk.findings(uri, version + 1) == before


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_checks_come_to_an_end(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    language: Language = "json" if file.suffix == ".json" else "dsl"
    for after, _ in damaged(text, 15, random.Random(file.name)):  # noqa: S311 (the same each time)
        told = look(Job(file.name, after.encode(), language, tmp_path))
        for part in told.found:
            assert part.place is None or 0 <= part.place.span.start <= part.place.span.end <= len(after)
