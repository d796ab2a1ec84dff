"""`# materiac: ignore[rule] reason` says what `x-materiac` says in JSON."""

from __future__ import annotations

from typing import Any

import pytest

from materiac import formatting
from materiac.dsl_directives import FORM
from materiac.dsl_text import read
from materiac.source import Document, Pointer, Source, Span

LOADOUT = ("loadouts", "L")
SOCKET = (*LOADOUT, "sockets", "a")


def document(text: str) -> Document:
    found, findings = read(Source("x.materia", text))
    assert found is not None, findings
    return found


def ignored(data: Any, at: Pointer = ()) -> dict[Pointer, Any]:
    """What is ignored, by where."""
    found: dict[Pointer, Any] = {}
    if isinstance(data, dict):
        for key, value in data.items():
            found |= {at: value} if key == "x-materiac" else ignored(value, (*at, key))
    if isinstance(data, list):
        for index, value in enumerate(data):
            found |= ignored(value, (*at, index))
    return found


@pytest.mark.parametrize(
    ("text", "at"),
    [
        pytest.param("# materiac: ignore[r] why\nloadout L { a: A }", LOADOUT, id="before a loadout"),
        pytest.param("loadout L { # materiac: ignore[r] why\na: A }", LOADOUT, id="line of a loadout"),
        pytest.param("loadout L {\n# materiac: ignore[r] why\n\n# x\na: A }", SOCKET, id="before a socket"),
        pytest.param("loadout L {\na: A -> b # materiac: ignore[r] why\n}", SOCKET, id="line of a socket"),
        pytest.param(
            "loadout L {\na: A\nvisits 1 # materiac: ignore[r] why\n}", SOCKET, id="part of a socket"
        ),
        pytest.param("loadout L {\na = {} # materiac: ignore[r] why\n}", SOCKET, id="a socket as JSON"),
        pytest.param(
            "loadout L { a: A\n# materiac: ignore[r] why\n-> b }", (*SOCKET, "edges", 0), id="before an edge"
        ),
        pytest.param(
            "loadout L { a: A\n-> b #materiac:ignore[r]  why \n}", (*SOCKET, "edges", 0), id="line of an edge"
        ),
        pytest.param(
            "loadout L { a: A\n# materiac: ignore[r] why\nloop w (a) }",
            (*LOADOUT, "loops", "w"),
            id="before a loop",
        ),
        pytest.param(
            "loadout L { a: A\nnever a before b # materiac: ignore[r] why\n}",
            (*LOADOUT, "properties", 0),
            id="line of a property",
        ),
        pytest.param(
            'loadout L { a: A\n# materiac: ignore[r] why\nproperty { "of": 1 } }',
            (*LOADOUT, "properties", 0),
            id="before a property as JSON",
        ),
        pytest.param("# materiac: ignore[r] why\nmateria M { }", ("materia", "M"), id="before a materia"),
        pytest.param("# materiac: ignore[r] why\r\nmateria M { }", ("materia", "M"), id="crlf"),
    ],
)
def test_where_a_directive_belongs(text: str, at: Pointer) -> None:
    read_ = document(text)
    assert ignored(read_.data) == {at: {"ignore": [{"rule": "r", "reason": "why"}]}}
    for key, words in (("rule", "r"), ("reason", "why")):
        span = read_.spans[*at, "x-materiac", "ignore", 0, key]
        assert text[span.start : span.end] == words


def test_several_directives_are_a_list() -> None:
    text = "# materiac: ignore[a-b]\n# materiac: ignore[c] d\nmateria M { }\n"
    data = document(text).data
    assert data["materia"]["M"]["x-materiac"] == {"ignore": [{"rule": "a-b"}, {"rule": "c", "reason": "d"}]}
    assert formatting.written(data, "dsl") == text.replace("{ }", "{}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("materia M { }\n# materiac: ignore[a]", "belongs to no statement", id="at the end"),
        pytest.param("# materiac: ignore[a]\nbudget { }", "belongs to no statement", id="before a setting"),
        pytest.param(
            "# materiac: ignore[a]\nmateria M { @x-materiac {} }",
            "beside '@x-materiac'",
            id="said in another way",
        ),
        pytest.param("# materiac: ignore[a]\nmateria M = 5", "at no object", id="no object"),
    ],
)
def test_directives_that_say_nothing(text: str, message: str) -> None:
    (slip,) = document(text).slips
    assert message in slip.message
    start = text.index("#")
    assert slip.span == Span(start, (text + "\n").index("\n", start))


@pytest.mark.parametrize(
    "comment",
    [
        "# materiac: ignore x",
        "# materiac: ignore",
        "# materiac: ignore why not",
        "# materiac: ignore[a, b] why",
        "# materiac: ignore[] why",
        "# materiac: ignore [a] why",
        "# materiac: ignore[a]why",
        "# materiac: ignore[ a ] why",
        "# materiac: ignore[a why",
        "# materiac: ignore(a) why",
        "# materiac: ignore: a",
        "# materiac: Ignore[a] why",
        "# materiac: ignroe[a] why",
        "# materiac: disable[a] why",
        "# materiac: off",
        "# materiac:",
        "# Materiac: ignore[a] why",
        "# MATERIAC: IGNORE[a] why",
        "## materiac: ignore[a] why",
        "#! materiac: ignore[a] why",
        "# # materiac: ignore[a] why",
        "# materiac ignore[a] why",
        "# materiac ignore [a] why",
        "# materiac : ignore[a] why",
        "# materiac - ignore[a] why",
    ],
)
def test_what_looks_like_a_directive_is_told(comment: str) -> None:
    found = document(f"{comment}\nmateria M {{ }}")
    assert [(slip.span, slip.help) for slip in found.slips] == [(Span(0, len(comment)), FORM)]
    assert ignored(found.data) == {}


@pytest.mark.parametrize(
    "comment",
    [
        "# materiac: the loadouts of our team",
        "# materiac: ignores blanks in prompts",
        "# materiac: review (see the page) and send",
        "# Materiac: what the letters are made with",
        "# Materiac: Ignore the critic when it repeats itself",
        "# materiac ignores what is in these brackets (here)",
        "# materiac",
        "# see https://materiac.example/ignore[a]",
        "# as it was: -> end  # materiac: ignore[a] why",
        "# ignore[a] why",
        "# the comment '# materiac: ignore[a] why' is a suppression",
    ],
)
def test_what_is_an_ordinary_comment_is_not(comment: str) -> None:
    assert document(f"{comment}\nmateria M {{ }}").slips == ()


def test_a_comment_in_a_text_is_text() -> None:
    data = document('materia M { prompt """\n  # materiac: ignore[a]\n  """\nmodel "# materiac: x" }').data
    assert data["materia"]["M"] == {"prompt": "# materiac: ignore[a]", "model": "# materiac: x"}
