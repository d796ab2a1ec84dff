"""Another name for a socket: all its places, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import Json
from talk import marked

from materiac import formatting, languages
from materiac.lsp.reading import Reading
from materiac.lsp.refusals import RefusedError
from materiac.lsp.renaming import applied, inside, renamable, rename
from materiac.source import Language

FILE = (Path(__file__).parent / "everything.txt").read_text(encoding="utf-8")
"""A file that names its sockets in all ways."""


def reading(text: str, language: Language) -> Reading:
    document, findings = languages.document(f"a.{language}", text.encode(), language)
    assert document is not None, findings
    return Reading(document)


def renamed(text: str, offset: int, new: str, language: Language) -> str:
    here = reading(text, language)
    mention = here.at(offset)
    assert mention is not None
    return applied(text, rename(here, mention, new))


def as_json(text: str) -> str:
    document = languages.document("a.materia", text.encode(), "dsl")[0]
    assert document is not None
    return formatting.converted(document.data, "json")


def expected(new: str) -> str:
    """The file with all that means the socket of the first loadout written by hand."""
    work, other, rest = FILE.partition("loadout Other")
    materia, play, scenarios = rest.partition('scenario "a play"')
    first, another, second = scenarios.partition('scenario "another"')
    kept = {'"build"\n': "\1", '"build" ': "\2", "Build": "\3"}
    for old, sign in kept.items():
        first = first.replace(old, sign)
    work = work.replace("Build", "\3").replace("build", new)
    first = first.replace("build", new)
    changed = work + other + materia + play + first + another + second
    for old, sign in kept.items():
        changed = changed.replace(sign, old)
    return changed.replace('prompt make 2 has "make"', 'prompt make 2 has "build"')


@pytest.mark.parametrize(
    "place", ["entry |build", "|build: Build", "(build|,", "over b|uild.", "path build -> c"]
)
def test_a_socket_has_another_name_at_all_places(place: str) -> None:
    if "|" not in place:
        place = "path |build -> c"
    plain, within = marked(place)
    offset = FILE.index(plain) + within
    after = renamed(FILE, offset, "make", "dsl")
    assert after == expected("make")
    before = as_json(FILE)
    at = before.index('"entry": "build"') + len('"entry": "b')
    assert renamed(before, at, "make", "json") == as_json(after)


def test_the_cursor_of_a_foreach_has_the_name_of_its_socket() -> None:
    after = renamed(FILE, FILE.index("each: Build"), "all", "dsl")
    assert after == (
        FILE.replace("each: Build", "all: Build")
        .replace("-> each", "-> all")
        .replace("to each", "to all")
        .replace("eachIndex", "allIndex")
    )
    before = as_json(FILE)
    assert renamed(before, before.index('"each"') + 1, "all", "json") == as_json(after)


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("", "socket name '' is empty"),
        ("end", "socket name 'end' is taken: it means the end of a cast"),
        ("a b", "socket name 'a b' has ' ' in it: letters, digits, '.', '_' and '-' are allowed"),
        ("check", "loadout 'Work' has a socket 'check'"),
        ("x" * 65, f"socket name '{'x' * 65}' is 65 characters long, 64 are allowed"),
    ],
)
@pytest.mark.parametrize("language", ["json", "dsl"])
def test_names_that_are_refused(new: str, why: str, language: Language) -> None:
    text = FILE if language == "dsl" else as_json(FILE)
    with pytest.raises(RefusedError) as error:
        renamed(text, text.index("build", text.index("entry")), new, language)
    assert str(error.value) == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("loadout L { a: |Agent }", "'Agent' is a materia: sockets alone can be renamed"),
        ("loadout |L { a: Agent }", "'L' is a loadout: sockets alone can be renamed"),
        ("loadout L { a: Agent -> |end }", "'end' is the end of a cast, and no socket"),
        ("loadout L { entry |b }", "no socket 'b' is written in this file"),
    ],
)
def test_what_cannot_be_renamed(text: str, why: str) -> None:
    plain, offset = marked(text)
    here = reading(plain, "dsl")
    mention = here.at(offset)
    assert mention is not None
    with pytest.raises(RefusedError) as error:
        renamable(here, mention)
    assert str(error.value) == why


@pytest.mark.parametrize(
    "new", ["entry", "max", "satisfied", "2", "a.workItems", "-x", "日本", "नमस्ते", "x->"[:2]]
)
@pytest.mark.parametrize("language", ["json", "dsl"])
def test_odd_names_are_written_so_that_they_can_be_read(new: str, language: Language) -> None:
    text = FILE if language == "dsl" else as_json(FILE)
    try:
        after = renamed(text, text.index("build", text.index("entry")), new, language)
    except RefusedError as error:
        assert "would say something else" in str(error)  # noqa: PT017 (either is right)
        return
    document = reading(after, language).document
    assert document.data["loadouts"]["Work"]["entry"] == new
    assert new in document.data["loadouts"]["Work"]["sockets"]


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ('{"loadouts": {"L": {"entry": "|a", "sockets": {"a": {}}}}}', "json", "a"),
        ("loadout L { entry |a a: Agent }", "dsl", "a"),
        ('loadout L { entry "|a" a: Agent }', "dsl", "a"),
        ('loadout L { a: Agent }\nscenario "s" { loadout L expect { prompt |a 2 has "x" } }', "dsl", "a"),
    ],
)
def test_the_name_alone_is_offered_for_change(text: str, language: Language, name: str) -> None:
    plain, offset = marked(text)
    here = reading(plain, language)
    mention = here.at(offset)
    assert mention is not None
    start, end = inside(here, mention)
    assert plain[start:end] == name


def test_a_foreign_loadout_of_scenarios_is_left_alone() -> None:
    data: Json = languages.document("a.materia", FILE.encode(), "dsl")[0].data  # type: ignore[union-attr]
    text = FILE + 'scenarios of Work in "other.json"\n'
    assert data["scenarios"]
    after = renamed(text, text.index("build"), "make", "dsl")
    assert 'scenarios of Work in "other.json"' in after
