"""What is offered in a text that was never sound: the names of its own words, and of the layers below."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from talk import Json, Talk, marked, talking

from materiac import languages
from materiac.lsp.glance import names_now
from materiac.lsp.known import Known
from materiac.lsp.offers import offers
from materiac.source import Language, Source

TYPED = """loadout Work {
  entry plan
  plan: Plan -> build
  build: Build json
    assign review = $.context
    satisfied -> end
  loop work (build) over plan.workItems as job cursor at
"""
"""A file that is typed from top to bottom, as far as that has come."""

TWO = '"K":{"sockets":{"b":{}}},"L":{"id":"l-1","sockets":{"a":{}}}'
JSON = '{"loadouts":{"L":{"sockets":{"a":{}}}}}'


def offered(text: str, language: Language, before: str | None = None) -> list[str]:
    plain, offset = marked(text)
    source = Source(f"a.{language}", plain, language)
    document = languages.read(source.name, before.encode(), language)[1] if before is not None else None
    names = names_now(source, offset, document)
    known = Known(names, sockets={"Ship": {"sail": "Hand", "land": "Hand"}})
    return [offer.label for offer in offers(source, offset, known).offers if offer.kind != "word"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"loadouts":{"L":{"sockets":{"b":{},"a":{"edges":[{"to":"|', ["b", "a", "end"]),
        ('{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":"|}]},"b":{}}}}}', ["a", "b", "end"]),
        ('{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":|}]},"b":{}}}}}', ["a", "b", "end"]),
        ('{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":"|\n}]},"b":{}}}}}', ["a", "b", "end"]),
        (
            '{"loadouts":{"L":{"sockets":{"a":{"edges":[{"to":|\n"b":{},"c":{"edges":[]}',
            ["a", "b", "c", "end"],
        ),
        ('{"loadouts":{"L":{"entry":"|","sockets":{"a":{},"b":{}', ["a", "b"]),
        ('{"loadouts":{"L":{"sockets":{"a":{},"b":{}},"entry":"|', ["a", "b"]),
        ('{"loadouts":{"L":{"entry":"|"},"M":{"sockets":{"a":{}}}', []),
        ('{"loadouts":{"L":{"sockets":{"a":{"materia":"|"}}}}, "materia":{"M":{}, "N":{', ["M", "N"]),
        ('{"loadouts":{"L":{"sockets":{"a":{"materia":"|\n "materia":{"M":{}, "N":{', ["M", "N"]),
        ('{"loadouts":{"L":{"sockets":{"a":{}},"loops":{"w":{"sockets":["a","|', ["a"]),
        (
            '{"loadouts":{"L":{"sockets":{"a":{},"b":{}},"loops":{"w":{"sockets":["b"],"exits":[{"from":"|',
            ["b"],
        ),
        ('{"materia":{"M":{}},"activeLoadout":"|","loadouts":{"L":{},"M":{', ["L", "M"]),
        ('{"materia":{"M":{}},"agents":{"materia":{"|', ["M"]),
        ('{"pipeline":{"sockets":{"a":{},"b":{"edges":[{"to":"|', ["a", "b", "end"]),
        ('{"roles":{"R":{}},"pipeline":{"sockets":{"a":{"materia":"|', ["R"]),
        ('{"pipeline":{"sockets":{"a":{"edges":[{"wh|', ["when"]),
        ('{"loadouts":{"Ship":{"entry":"|', ["sail", "land"]),
        ('{"scenarios":[{"loadout":"Ship","expect":{"path":["|', ["sail", "land"]),
        ('{"loadouts":{"L":{"sockets":{"a":{}}}},"scenarios":[{"expect":{"path":["|', ["a"]),
        (
            f'{{"loadouts":{{{TWO}}},"scenarios":[{{"loadout":"l-1","expect":{{"path":["|',
            ["a"],
        ),
        (
            '{"materia":{"M":{"prompt":"so {{|}} it is, all","writes":["k"]},"N":{"writes":["q"]}}',
            ["cursor", "item"],
        ),
    ],
)
def test_json(text: str, expected: list[str]) -> None:
    assert offered(text, "json")[: max(len(expected), 1)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loadout L { a: A  b: B  entry |", ["a", "b"]),
        ("loadout L { entry |\n a: A -> b\n b: B -> end }", ["a", "b"]),
        ("loadout L { a: A -> |\n b: B -> end }", ["a", "b", "end"]),
        ('loadout L { "a b": A  b = { "materia": "B" }  c: C -> |', ["a b", "b", "c", "end"]),
        (TYPED + "loop other (|", ["plan", "build"]),
        (TYPED + "loop other (\n  next: Build -> |", ["plan", "build", "next", "end"]),
        (TYPED + "loop other (|\n  next: Build -> end", ["plan", "build", "next"]),
        (TYPED + "{ exit |", ["build"]),
        (TYPED + "{ exit |\n  next: Build -> end", ["build"]),
        (TYPED + "never |", ["plan", "build"]),
        (TYPED + "never plan before |", ["plan", "build"]),
        (TYPED + "next: Next assign x = state.|", ["state.review", "state.x"]),
        (TYPED + "next: |\n}\nmateria Plan {}\nmateria Build {", ["Plan", "Build"]),
        (TYPED + '}\nmateria Build { prompt "of {{job.|', ["job.context", "job.title"]),
        (
            TYPED + '}\nmateria Build { prompt """\nmateria Next { prompt "x" }\nloadout R { a: |',
            ["Build", "Next"],
        ),
        (TYPED + "}\nactive |", ["Work"]),
        (TYPED + "}\nactive |\nloadout Rest {", ["Work", "Rest"]),
        (TYPED + '}\nscenario "s" { loadout Work agent {|', ["plan", "build"]),
        (TYPED + '}\nscenario "s" { loadout |', ["Work"]),
        (TYPED + '}\nscenario "s" { loadout Ship agent { |', ["sail", "land"]),
        (
            TYPED + '}\nscenario "s" { loadout Ship }\nscenario "t" { loadout Work expect { path |',
            ["plan", "build"],
        ),
        (TYPED + '}\nscenarios of Ship\nscenario "s" { utilities {|', ["sail", "land"]),
        ("loadout Ship { entry |", ["sail", "land"]),
        ("loadout L { a: A  b|", []),
    ],
)
def test_dsl(text: str, expected: list[str]) -> None:
    found = [label for label in offered(text, "dsl") if label not in ("json", "text", "bytes", "visits")]
    assert found[: max(len(expected), 1)] == expected


@pytest.mark.parametrize(
    ("before", "text", "language", "expected"),
    [
        ("loadout L { a: A }", "loadout L { a: A  b: B  entry |", "dsl", ["a", "b"]),
        ("loadout L { a: A  c: C }", "loadout L { b: B  entry |", "dsl", ["b", "a", "c"]),
        ("loadout L { a: A  c: C }", "loadout L { a: A -> -> |", "dsl", ["a", "c", "end"]),
        (JSON, '{"loadouts":{"L":{"sockets":{"b":{}},"entry":"|', "json", ["b", "a"]),
        (JSON, '{"loadouts":{"L":{"entry":"|', "json", ["a"]),
    ],
)  # fmt: skip
def test_names_of_before_and_of_now(before: str, text: str, language: Language, expected: list[str]) -> None:
    assert offered(text, language, before) == expected


def test_a_text_nested_without_end_is_no_trouble() -> None:
    for text in ('{"loadouts":' * 5000 + "|", "[" * 5000 + "|", "loadout L { a: A " + "{ " * 5000 + "|"):
        assert isinstance(offered(text, "dsl" if "loadout L" in text else "json"), list)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """One talk for many tests: it takes long to begin one."""
    with talking(tmp_path_factory.mktemp("work")) as talk:
        yield talk


@pytest.fixture
def talk(shared: Talk) -> Iterator[Talk]:
    """The talk, with no file open, none in the folder, and no message left."""
    yield shared
    shared.clear()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.materia", "loadout L {\n  a: Far -> end\n  b: |"),
        ("a.json", '{"loadouts":{"L":{"sockets":{"a":{"materia":"|'),
    ],
)
def test_materia_of_all_layers_while_one_types(talk: Talk, name: str, text: str) -> None:
    folder = talk.folder
    (folder / ".materia").mkdir(exist_ok=True)
    (folder / ".materia" / "loadout.json").write_text('{"materia": {"Low": {"prompt": "x"}}}')
    plain, offset = marked(text)
    lines = plain[:offset].split("\n")
    uri = talk.open(name, plain)
    for version in (2, 3, 4):
        found: Json = {"isIncomplete": True}
        while found["isIncomplete"]:
            found = talk.at("completion", uri, len(lines) - 1, len(lines[-1]))
        assert {"Low", "Build"} <= {item["label"] for item in found["items"]}
        talk.change(uri, version, {"text": f"{plain[:offset]}{' ' * version}"})
