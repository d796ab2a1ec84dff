"""What is said about texts that are none: the place, what was found, what could stand there, and advice."""

from __future__ import annotations

import pytest

from materiac.diagnostic import Finding
from materiac.dsl_text import read
from materiac.source import Source, Span


def fault(text: str) -> tuple[Finding, str]:
    """The first finding on a text, and the text at its place."""
    document, findings = read(Source("x.materia", text))
    assert document is None
    at = findings[0].at
    assert isinstance(at, Span)
    return findings[0], text[at.start : at.end]


@pytest.mark.parametrize(
    ("text", "found", "message", "advice"),
    [
        pytest.param("loadot X { }", "loadot", "found 'loadot'", "did you mean 'loadout'?", id="statement"),
        pytest.param(
            "materia X { promt 1 }", "promt", "a part of the materia", "did you mean 'prompt'?", id="part"
        ),
        pytest.param(
            "loadout X { a: B satisfid -> c }",
            "satisfid",
            "an edge",
            "did you mean 'satisfied'?",
            id="verdict",
        ),
        pytest.param("loadout X\n  a: B", "a", "expected '=' or '{'", "'loadout Name { … }'", id="no brace"),
        pytest.param("materia X prompt", "prompt", "'{'", "'materia Name { … }'", id="no brace of a materia"),
        pytest.param("loadout X { a: B => c }", "=>", "found '=>'", "'->'", id="another arrow"),
        pytest.param("loadout X { a: B → c }", "→", "found '→'", "'->'", id="a drawn arrow"),
        pytest.param("loadout X { a: B -> c, -> d }", ",", "found ','", "nothing between them", id="comma"),
        pytest.param("loadout X { a: B; }", ";", "found ';'", "nothing between them", id="semicolon"),
        pytest.param(
            "loadout X { a: B satisfied c }", "c", "expected '->'", "'when -> target'", id="no arrow"
        ),
        pytest.param(
            "scenario x { expect { prompt a 1 = 5 } }", "1", "a number", "the id of a socket", id="sign"
        ),
        pytest.param("loadout X { a: B -> }", "}", "expected a name", None, id="no target"),
        pytest.param("loadout X { build Build }", "build", "a socket", "'id: Materia'", id="no colon"),
        pytest.param("loadout X { -> c }", "->", "a socket", "an edge stands in a socket", id="edge alone"),
        pytest.param("a: B", "a", "'loadout'", "a socket stands in a loadout", id="socket alone"),
        pytest.param("loadout X { loop w { a } }", "{", "'('", "'loop name (socket, socket)'", id="loop"),
        pytest.param("loadout X { loop w (a b) }", "b", "expected ',' or ')'", None, id="members"),
        pytest.param('{ "loadouts": {} }', "{", "found '{'", "looks like JSON", id="json"),
        pytest.param("// words", "/", "found '/'", "begins with '#'", id="comment"),
        pytest.param("materia X { prompt 'x' }", "'", "a text", "double quotes", id="single quotes"),
        pytest.param("materia X { prompt “x” }", "“", "a text", "double quotes", id="curly quotes"),
        pytest.param(
            'materia X { prompt "x }\n', '"x }', "string is not closed", "three double quotes", id="string"
        ),
        pytest.param(
            'materia X { prompt """\n x\n }', '"""', "block is not closed", "of their own", id="block"
        ),
        pytest.param(
            'materia X { prompt """x\n"""\n}', '"""', "words beside", "the next line", id="late block"
        ),
        pytest.param(
            'materia X { params { "a": 1, } }', "}", "a string", "remove the comma", id="last comma"
        ),
        pytest.param(
            'materia X { params { "a": yes } }', "yes", "found 'yes'", "double quotes", id="bare word"
        ),
        pytest.param("materia X { params 01 }", "01", "leading zero", "write '1'", id="leading zero"),
        pytest.param("materia X { params NaN }", "NaN", "no number of JSON", None, id="nan"),
        pytest.param("materia X { params 1e999 }", "1e999", "too large", None, id="overflow"),
        pytest.param(r'materia X { prompt "\ud800" }', r"\ud800", "lone surrogate", None, id="surrogate"),
        pytest.param(r'materia X { prompt "\q" }', r"\q", "no escape", r"'\\'", id="escape"),
        pytest.param("materia X { timeout 30 }", "30", "such as '30s'", None, id="time without a unit"),
        pytest.param("loadout X { a: B visits ten }", "ten", "expected a number", None, id="number"),
        pytest.param("loadout X { a: B -> c max true }", "true", "expected a number", None, id="no number"),
        pytest.param("loadout X { a: B -> c } }", "}", "found '}'", None, id="brace too many"),
        pytest.param("import", "", "found the end of the file", None, id="end"),
        pytest.param("budget { maxTokens }", "}", "expected a value", None, id="no value"),
        pytest.param(
            "loadout X { a: B -> c\n@x 1 } @y", "", "expected a value", None, id="end in an attribute"
        ),
        pytest.param("loadout X {\u00a0}", "\u00a0", "U+00A0 (no-break space)", None, id="unseen character"),
        pytest.param('scenari "x" { }', "scenari", "'scenario'", "did you mean 'scenario'?", id="scenario"),
        pytest.param(
            'scenario "x" { agnt { } }', "agnt", "a part of the scenario", "'agent'?", id="part of a scenario"
        ),
        pytest.param(
            'scenario "x" { expect { pth a } }', "pth", "an expectation", "'path'?", id="expectation"
        ),
        pytest.param(
            'scenario "x" { expect complet }', "complet", "'complete', 'failed'", "'complete'?", id="status"
        ),
        pytest.param(
            'scenario "x" { agent { a "x" } }', "a", "a socket", """'socket: "text"'""", id="answer"
        ),
        pytest.param(
            'scenario "x" { expect { path a, b } }', ",", "'->'", "'path one -> two'", id="path with commas"
        ),
        pytest.param(
            'scenario "x" { expect { prompt a has "x" } }', "has", "expected a number", None, id="no visit"
        ),
        pytest.param(
            'scenario "x" { expect { prompt a 0 has "x" } }', "0", "number of a visit", "is 1", id="visit 0"
        ),
        pytest.param(
            'scenario "x" { agent { a: "x" a: item 1 "y" } }', 'a: item 1 "y"', "by item", None, id="items"
        ),
        pytest.param('scenario "x" { state a..b = 1 }', "a..b", "a path", "has quotes", id="path of a state"),
        pytest.param('scenario "x" { agent { a: "x" after 5 } }', "5", "'30s'", None, id="time of an answer"),
        pytest.param("loadout X { a: B parse json }", "parse", "socket", "behind the materia", id="parse"),
        pytest.param('materia X { prompt: "x" }', ":", "a text", "without a colon", id="colon"),
        pytest.param("loadout X { a:: B }", ":", "a name", None, id="two colons"),
        pytest.param("import ./x.materia", "/", "found '/'", "double quotes", id="bare path"),
        pytest.param("materia X { timeout 3 s }", "s", "a part", "written '3s'", id="space in a time"),
        pytest.param(
            'scenario "x" { agent { a: "x" after 5 ms } }', "ms", "a socket", "'5ms'", id="space in a delay"
        ),
        pytest.param("loadout X { a: B passed -> c }", "passed", "an edge", "'not_satisfied'", id="passed"),
        pytest.param("loadout X { passed -> c }", "passed", "a socket", "'id: Materia'", id="no socket yet"),
        pytest.param(
            'scenario "x" { expect { prompt a#2 has "x"\n no "y" } }',
            "no",
            "number",
            "'prompt a 2'",
            id="visit",
        ),
        pytest.param("\tloadout X {\n\ta:\tB\n\t\tnever -> c }", "->", "a name", "in a socket", id="tabs"),
    ],
)
def test_the_first_fault(text: str, found: str, message: str, advice: str | None) -> None:
    finding, at = fault(text)
    assert finding.rule == "syntax"
    assert at == found
    assert message in finding.message
    assert (finding.help is None) if advice is None else (advice in (finding.help or ""))


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        pytest.param("loadout X {\n  a: B\n", 10, id="loadout"),
        pytest.param('# {\nmateria X { prompt "{" params { "a": [1 } }', 41, id="list"),
        pytest.param('materia X { prompt """\n  {\n  """\n', 10, id="braces in a text"),
    ],
)
def test_an_open_bracket_is_shown(text: str, opened: int) -> None:
    finding, _ = fault(text)
    assert [related.at for related in finding.related] == [Span(opened, opened + 1)]


@pytest.mark.parametrize(
    ("text", "key", "places"),
    [
        pytest.param("loadout X { aa: A\n aa: B }", "aa", (19, 12), id="sockets"),
        pytest.param("materia X { @a 1 @a 2 }", "a", (18, 13), id="attributes"),
        pytest.param("materia X { parse json parse text }", "parse", (23, 12), id="settings"),
        pytest.param("loadout X { a: B @edges [] -> c }", "edges", (27, 18), id="two ways to say it"),
        pytest.param('agents { "a": 1, "a": 2 }', "a", (17, 9), id="in JSON"),
        pytest.param("materia X { } materia X { }", "X", (22, 8), id="materia"),
        pytest.param('scenario "x" { state a = 1 state a.b = 2 }', "a", (27, 21), id="in a state"),
        pytest.param('scenario "x" { expect waiting expect waiting }', "expect", (30, 15), id="expect"),
        pytest.param('scenario "x" { agent { a = 1 a: "x" } }', "a", (29, 23), id="answers"),
        pytest.param("loadout X { a: B visits 1 visits 2 }", "maxVisits", (26, 17), id="limits"),
    ],
)
def test_repeated_keys_have_both_places(text: str, key: str, places: tuple[int, int]) -> None:
    finding, _ = fault(text)
    assert finding.rule == "duplicate-key"
    assert finding.message == f"repeated key '{key}'"
    assert isinstance(finding.at, Span)
    assert isinstance(finding.related[0].at, Span)
    assert (finding.at.start, finding.related[0].at.start) == places


@pytest.mark.parametrize("brackets", ["[]", '{"a":}'], ids=["lists", "objects"])
@pytest.mark.parametrize("depth", [300, 10_000])
def test_deep_nesting_is_refused(brackets: str, depth: int) -> None:
    opening, closing = brackets[:-1], brackets[-1]
    finding, at = fault(f"agents {opening * depth}1{closing * depth}")
    assert finding.message == "nested more than 256 levels deep"
    assert at == opening[0]


def test_depth_is_that_of_the_value() -> None:
    text = f"agents {'[' * 255}{']' * 255}"
    assert read(Source("x", text))[0] is not None
    assert read(Source("x", text.replace("[", "[[", 1).replace("]", "]]", 1)))[0] is None
