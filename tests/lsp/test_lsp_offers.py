"""What is offered at a cursor: a text with a mark for it, and what may stand there."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from samples import Json
from talk import marked

from materiac import languages
from materiac.lsp.known import Known
from materiac.lsp.looks import Behaviour
from materiac.lsp.offers import MOST, Offers, offers
from materiac.source import Language, Source

LOADOUTS = [
    file
    for file in sorted((Path(__file__).resolve().parents[2] / "loadouts").rglob("*.*"))
    if file.suffix in (".json", ".materia")
]

SOUND = """
active Work
loadout Work {
  entry plan
  plan: Plan -> build
  build: Build json
    assign review = $.context
    satisfied -> end
    not_satisfied -> build max 2
  each: Water foreach state.plants as plant
    advance eachIndex over state.plants
    always -> each
  loop work (build, each) over plan.workItems as job cursor at { exit build -> plan }
}
loadout Rest { nap: Water -> end }
materia Plan generator { prompt "Plan." }
materia Build { prompt "Build." }
materia Water { command ["water"] writes [wet] }
"""

SOCKETS = ["plan", "build", "each"]
PARTS = ["advance", "assign", "bytes", "foreach", "json", "text", "visits"]


def known() -> Known:
    document = languages.read("known.materia", SOUND.encode(), None)[1]
    assert document is not None
    below = {"Ship": Behaviour({"prompt": "Ship."}, None)}
    return Known(document.data, below, ("Bundled",))


def offered(text: str, language: Language, name: str = "a") -> Offers:
    plain, offset = marked(text)
    suffix = "materia" if language == "dsl" else "json"
    return offers(Source(f"{name}.{suffix}", plain, language), offset, known())


def check(text: str, expected: list[str], language: Language, name: str = "a") -> None:
    """All that is expected comes first, in its order; what ends with `…` may have more behind it."""
    labels = [offer.label for offer in offered(text, language, name).offers]
    more = expected[-1:] == ["…"]
    wanted = expected[:-1] if more else expected
    assert (labels[: len(wanted)] if more else labels) == wanted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"loadouts": {"Work": {"entry": "|"}}}', SOCKETS),
        ('{"loadouts": {"Work": {"entry": "|', SOCKETS),
        ('{"loadouts": {"Work": {"entry": |', SOCKETS),
        ('{"loadouts": {"Work": {"entry": bu|', ["build"]),
        ('{"loadouts": {"Rest": {"entry": "|"}}}', ["nap"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"edges": [{"to": "|', [*SOCKETS, "end"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"edges": [{"to": "|" "when": 1 ]}', [*SOCKETS, "end"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"edges": [{"when": "|', ["always", "satisfied", "…"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"edges": [{"|", "to": "a"}]', ["when", "maxTraversals"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"materia": "|', ["Ship", "Plan", "Build", "Water"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"materia": "A", "par|', ["parse"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"advance": {"cursor": "|', ["at", "eachIndex", "…"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"assign": {"|', ["review", "wet", "…"]),
        ('{"loadouts": {"Work": {"sockets": {"x": {"assign": {"a": "$.|', ["$.context", "$.satisfied", "…"]),
        ('{"loadouts": {"Work": {"loops": {"w": {"sockets": ["plan", "|', SOCKETS),
        ('{"loadouts": {"Work": {"loops": {"w": {"consumes": {"from": "|', ["plan"]),
        ('{"loadouts": {"Work": {"loops": {"work": {"exits": [{"from": "|', ["build", "each"]),
        ('{"loadouts": {"Work": {"loops": {"work": {"exits": [{"targetSocketId": "|', [*SOCKETS, "end"]),
        ('{"loadouts": {"Work": {"properties": [{"never": "|', SOCKETS),
        ('{"loadouts": {"Work": {"properties": [{"every path": ["|', SOCKETS),
        ('{"activeLoadout": "|', ["Work", "Rest", "Bundled"]),
        ('{"activ|', ["activeLoadout"]),
        ('{"budget": {"maxTokens": 1, "|', ["maxCostUsd", "warnAtPercent", "stopAtLimit"]),
        ('{"budget": {"stopAtLimit": |', ["true", "false"]),
        ('{"materia": {"X": {"utility": "vcs|', ["vcs.detect", "vcs.checkpoint"]),
        ('{"materia": {"X": {"prompt": "p", "tool|', ["tools"]),
        ('{"materia": {"X": {"prompt": "p", "comm|', []),
        ('{"materia": {"X": {"tools": "|', ["none", "readOnly", "coding"]),
        ('{"materia": {"X": {"tools": {"type": "custom", "tools": ["read", "g|', ["grep"]),
        ('{"materia": {"X": {"parse": "|', ["text", "json"]),
        ('{"materia": {"Build": {"prompt": "of {{sta|', ["state", "stateJson", "state.review", "…"]),
        ('{"materia": {"Build": {"prompt": "of {{job.|', ["job.context", "job.title"]),
        ('{"materia": {"Build": {"prompt": "of |', []),
        ('{"agents": {"default": "scr|', ["scripted"]),
        ('{"agents": {"materia": {"B|', ["Build"]),
        ('{"scenarios": [{"expect": {"path": ["|', SOCKETS),
        ('{"scenarios": [{"expect": {"st|', ["status", "state", "visits"]),
        ('{"loadouts": {"Work": {"entry" |', []),
        ('{"loadouts": {"Work": {"entry": "plan" |', []),
        ("|", []),
        ("{} |", []),
    ],
)
def test_json(text: str, expected: list[str]) -> None:
    check(text, expected, "json")


def test_keys_of_a_scenario_alone() -> None:
    check('{"name": "x", "exp|', ["expect"], "json", "a.scenario")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|", ["about", "active", "agents", "…"]),
        ("load|", ["loadout"]),
        ("active |", ["Work", "Rest", "Bundled"]),
        ("loadout Work { entry |", SOCKETS),
        ("loadout Work { entry bu|", ["build"]),
        ('loadout Work { entry "b|', ["build"]),
        ("loadout Rest { entry |", ["nap"]),
        ("loadout Work { a: |", ["Ship", "Plan", "Build", "Water", "…"]),
        ("loadout Work { a: B|ui", ["Build", "bytes"]),
        ("loadout Work { a: Build -> |", [*SOCKETS, "end"]),
        ("loadout Work {\n  a: Build\n    satisfied -> b|\n  c: Build -> end\n}", ["build"]),
        ("loadout Work { a: Build satisfied |", []),
        ("loadout Work { a: Build js|", ["json"]),
        ("loadout Work { a: Build -> plan ma|", ["max"]),
        ("loadout Work { a: Build advance |", ["at", "eachIndex", "workItemIndex"]),
        ("loadout Work { a: Build advance at over |", ["state.workItems", "state.plants", "…"]),
        (
            "loadout Work { a: Build advance at over state.plants when |",
            ["always", "not_satisfied", "satisfied"],
        ),
        ("loadout Work { a: Build advance at over state.plants done |", [*SOCKETS, "end"]),
        ("loadout Work { a: Build assign |", ["review", "wet", "…"]),
        ("loadout Work { a: Build assign x = $.c|", ["$.context"]),
        ("loadout Work { loop w (|", SOCKETS),
        ("loadout Work { loop w (plan, |)", SOCKETS),
        ("loadout Work { loop w (plan) over |", ["plan"]),
        ("loadout Work { loop work (build) over plan.workItems { exit |", ["build", "each"]),
        ("loadout Work { loop work (build) over plan { exit build -> |", [*SOCKETS, "end"]),
        ("loadout Work { never |", SOCKETS),
        ("loadout Work { never plan before |", SOCKETS),
        ("loadout Work { every path plan to build passes |", SOCKETS),
        ("loadout Work { at most 3 of |", SOCKETS),
        ("loadout Work { oops oops oops\n  a: Build -> |", [*SOCKETS, "end"]),
        ("loadout Work { b: Build -> -> ( \n  a: Build -> |", [*SOCKETS, "end"]),
        ("loadout Work { b: Build -> {\nloadout Rest { a: Water -> |", ["nap", "end"]),
        ("materia X { tools |", ["none", "readOnly", "coding"]),
        ("materia X { tools [read, |", ["read", "grep", "find", "ls", "bash", "edit", "write"]),
        ("materia X { parse |", ["text", "json"]),
        ("materia X { utility vcs|", ["vcs.detect", "vcs.checkpoint"]),
        ("materia X gen|", ["generator", "agent"]),
        ('materia Build { prompt "{{sta|', ["state", "stateJson", "state.review", "…"]),
        ('materia Build { prompt """\n  Look: {{ request| }}\n  """ }', ["request"]),
        ("materia X { @col|", ["@color"]),
        ("materia X { writes [|", ["review", "wet", "…"]),
        ("budget { max|", ["maxTokens", "maxCostUsd"]),
        ("budget { maxTokens |", []),
        ('agents { "def|', ["default"]),
        ('agents { "materia": { "Bu|', ["Build"]),
        ("loadout Work { # a: Build -> |", []),
        ('scenario "s" { loadout |', ["Work", "Rest", "Bundled"]),
        ('scenario "s" { agent { pl|', ["plan"]),
        ('scenario "s" { expect { path plan -> |', SOCKETS),
        ('scenario "s" { expect com|', ["complete"]),
    ],
)
def test_dsl(text: str, expected: list[str]) -> None:
    if expected:
        check(text, expected, "dsl")
    else:
        names = {offer.label for offer in offered(text, "dsl").offers if offer.kind in ("name", "key")}
        assert names == set()


@pytest.mark.parametrize(
    ("text", "language", "after"),
    [
        ('{"loadouts": {"Work": {"entry": "b|"}}}', "json", '{"loadouts": {"Work": {"entry": "build"}}}'),
        ('{"loadouts": {"Work": {"entry": b|}}}', "json", '{"loadouts": {"Work": {"entry": "build"}}}'),
        ('{"loadouts": {"Work": {"entry": "b|ui', "json", '{"loadouts": {"Work": {"entry": "build"'),
        ('{"active|"', "json", '{"activeLoadout": '),
        ('{"active|": "Work"}', "json", '{"activeLoadout": "Work"}'),
        ('{"materia": {"B": {"prompt": "{{ req| }}"', "json", '{"materia": {"B": {"prompt": "{{ request }}"'),
        ('{"materia": {"B": {"prompt": "{{req|"', "json", '{"materia": {"B": {"prompt": "{{request}}"'),
        ("loadout Work { entry b|", "dsl", "loadout Work { entry build"),
        ('loadout Work { entry "b|" }', "dsl", 'loadout Work { entry "build" }'),
        ('loadout Work { entry "b|', "dsl", 'loadout Work { entry "build"'),
        ("materia X { @col|", "dsl", "materia X { @color"),
        ('scenario "s" { agent { pl| } }', "dsl", 'scenario "s" { agent { plan:  } }'),
        ('materia Build { prompt "{{req|" }', "dsl", 'materia Build { prompt "{{request}}" }'),
    ],
)
def test_what_is_typed_is_replaced(text: str, language: Language, after: str) -> None:
    plain, _ = marked(text)
    found = offered(text, language)
    start, end = found.span
    assert plain[:start] + found.offers[0].text + plain[end:] == after


def test_of_many_names_those_that_fit_are_offered() -> None:
    data: Json = {"loadouts": {"L": {"sockets": {f"s{number}": {} for number in range(2 * MOST)}}}}
    source = Source("a.materia", "loadout L { entry ", "dsl")
    found = offers(source, len(source.text), Known(data))
    assert (len(found.offers), found.whole) == (MOST, False)
    narrow = Source("a.materia", "loadout L { entry s39", "dsl")
    labels = [offer.label for offer in offers(narrow, len(narrow.text), Known(data)).offers]
    assert labels[:3] == ["s39", "s390", "s391"]


@pytest.mark.parametrize("file", LOADOUTS, ids=lambda file: file.name)
def test_half_typed_files_are_no_trouble(file: Path) -> None:
    text, name = file.read_text(encoding="utf-8"), file.name
    language: Language = "json" if file.suffix == ".json" else "dsl"
    chance = random.Random(name)  # noqa: S311 (a test that is the same each time)
    for _ in range(15):
        cut = chance.randrange(len(text) + 1)
        for damaged in (
            text[:cut],
            text[:cut] + chance.choice('"{}[]():=,@#\\→\n\0') + text[cut:],
            text[cut:],
        ):
            offset = chance.choice([min(cut, len(damaged)), chance.randrange(len(damaged) + 1)])
            found = offers(Source(name, damaged, language), offset, known())
            assert found.span.start <= max(offset, found.span.start)
            assert 0 <= found.span.start <= found.span.end <= len(damaged)
