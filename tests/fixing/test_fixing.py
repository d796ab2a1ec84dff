"""Single edits, in either language: what is written before, and what after."""

from __future__ import annotations

import pytest

from materiac.diagnostic import Edit, Fix, Insertion, Move, Removal, Replacement
from materiac.fixing import fixed, text_edits
from materiac.source import KEY, Language, Source


def made(text: str, *edits: Edit, language: Language = "json") -> str | None:
    return fixed(Source("x", text, language), Fix("", edits))


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        pytest.param('{"a": 1, "b": 2}', ("a",), '{"b": 2}', id="first on a line"),
        pytest.param('{"a": 1, "b": 2}', ("b",), '{"a": 1}', id="last on a line"),
        pytest.param('{"a": 1, "b": 2, "c": 3}', ("b",), '{"a": 1, "c": 3}', id="between"),
        pytest.param('{ "a": 1 }', ("a",), "{}", id="only one"),
        pytest.param('{\n  "a": 1\n}', ("a",), "{}", id="only one in lines"),
        pytest.param('{\n\t"a": 1,\n\t"b": 2\n}\n', ("a",), '{\n\t"b": 2\n}\n', id="first line"),
        pytest.param('{\r\n "a": 1,\r\n "b": 2\r\n}', ("b",), '{\r\n "a": 1\r\n}', id="last line, CRLF"),
        pytest.param('{"a": 1, "b": 2,\n "c": 3}', ("b",), '{"a": 1,\n "c": 3}', id="at the end of a line"),
        pytest.param('{"a": 1,\n "b": 2, "c": 3}', ("b",), '{"a": 1,\n "c": 3}', id="at the start of a line"),
        pytest.param("[1, [2, 3], 4]", (1,), "[1, 4]", id="an entry"),
        pytest.param("[1 ,2 ,3]", (2,), "[1 ,2]", id="spaces before commas"),
        pytest.param('{"a": ",}", "b": 2}', ("b",), '{"a": ",}"}', id="marks in strings"),
        pytest.param('{"a": 1}', ("b",), None, id="not there"),
    ],
)
def test_removals_from_json(text: str, at: tuple[str | int, ...], expected: str | None) -> None:
    assert made(text, Removal(at)) == expected


A = "loadout L {\n  a: M\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(A + "    -> b\n    -> c\n}\n", A + "    -> b\n}\n", id="a line"),
        pytest.param("loadout L { a: M -> b -> c }", "loadout L { a: M -> b }", id="in a line"),
        pytest.param(
            A + "    -> b\n    -> c  # why\n}\n", A + "    -> b\n    # why\n}\n", id="a comment stays"
        ),
        pytest.param(
            A + "    -> b\n    -> c  # materiac: ignore[dead-edge] why\n}\n",
            A + "    -> b\n}\n",
            id="its directive goes",
        ),
        pytest.param(
            A + "    -> b\n    # why\n    # materiac: ignore[dead-edge] why\n    -> c\n\n  b: M\n}\n",
            A + "    -> b\n    # why\n\n  b: M\n}\n",
            id="its directive above goes",
        ),
        pytest.param(
            A + '    -> b\n    -> c max 3 @label "x"\n  d: M\n}\n', A + "    -> b\n  d: M\n}\n", id="whole"
        ),
        pytest.param(
            'loadout L {\n  a = {"edges": [{"to": "b"}, {"to": "c"}]}\n}\n',
            'loadout L {\n  a = {"edges": [{"to": "b"}]}\n}\n',
            id="written as JSON",
        ),
    ],
)
def test_removal_of_an_edge_from_the_dsl(text: str, expected: str) -> None:
    assert made(text, Removal(("loadouts", "L", "sockets", "a", "edges", 1)), language="dsl") == expected


@pytest.mark.parametrize(
    ("text", "at", "value", "expected"),
    [
        pytest.param('{"a": "x"}', ("a",), "y", '{"a": "y"}', id="a string"),
        pytest.param('{"a": 0}', ("a",), 1, '{"a": 1}', id="a number"),
        pytest.param('{"a" : 0}', ("a", KEY), "é\n", '{"é\\n" : 0}', id="a key"),
        pytest.param('{"a": 0, "b": 1}', ("a", KEY), "b", None, id="a key that is there"),
        pytest.param(
            '{"a": 0, "b": {"c": 1}}', ("a",), {"d": 1}, '{"a": {"d": 1}, "b": {"c": 1}}', id="tight"
        ),
        pytest.param('{ "a": 0 }', ("a",), {"d": 1}, '{ "a": { "d": 1 } }', id="wide"),
    ],
)
def test_replacements_in_json(
    text: str, at: tuple[str | int, ...], value: object, expected: str | None
) -> None:
    assert made(text, Replacement(at, value)) == expected


@pytest.mark.parametrize(
    ("text", "at", "value", "expected"),
    [
        pytest.param(
            "loadout L { entry a }", ("loadouts", "L", "entry"), "b", "loadout L { entry b }", id="bare"
        ),
        pytest.param(
            'loadout L { entry "a" }', ("loadouts", "L", "entry"), "b", 'loadout L { entry "b" }', id="quoted"
        ),
        pytest.param("active a", ("activeLoadout",), "b c", 'active "b c"', id="with a space"),
        pytest.param(
            "materia U { utility noop timeout 0s }",
            ("materia", "U", "timeoutMs"),
            1500,
            "materia U { utility noop timeout 1500ms }",
            id="a time",
        ),
        pytest.param(
            "limits { maxItms 3 }", ("limits", "maxItms", KEY), "maxItems", "limits { maxItems 3 }", id="key"
        ),
        pytest.param('@x {"a": "b"}', ("x", "a"), "c", '@x {"a": "c"}', id="in JSON"),
    ],
)
def test_replacements_in_the_dsl(text: str, at: tuple[str | int, ...], value: object, expected: str) -> None:
    assert made(text, Replacement(at, value), language="dsl") == expected


def test_edits_one_after_the_other_are_of_the_first_text() -> None:
    source = Source("x", '{"a": 1, "b": 2, "c": 3}')
    edits = Removal(("a",)), Removal(("c",)), Replacement(("b", KEY), "d")
    assert text_edits(source, Fix("", edits)) == [(1, 12, '"d"'), (15, 23, "")]


ROOT: tuple[str | int, ...] = ()


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        pytest.param('{"a": 1}', Insertion(ROOT, 2, "b"), '{"a": 1, "b": 2}', id="on a line"),
        pytest.param('{"a": 1}', Insertion(ROOT, 2, "b", first=True), '{"b": 2, "a": 1}', id="first"),
        pytest.param('{"a":1,"c":3}', Insertion(ROOT, 2, "b"), '{"a":1,"c":3,"b":2}', id="without spaces"),
        pytest.param(
            '{\n\t"a": 1\n}\n',
            Insertion(ROOT, 2, "b"),
            '{\n\t"a": 1,\n\t"b": 2\n}\n',
            id="in lines with tabs",
        ),
        pytest.param(
            '{\r\n "a": 1\r\n}',
            Insertion(ROOT, 2, "b", first=True),
            '{\r\n "b": 2,\r\n "a": 1\r\n}',
            id="first in lines, CRLF",
        ),
        pytest.param("{}", Insertion(ROOT, [1], "b"), '{ "b": [1] }', id="into an empty object"),
        pytest.param(
            '{ "a": {} }', Insertion(("a",), {"c": 1}, "b"), '{ "a": { "b": { "c": 1 } } }', id="wide"
        ),
        pytest.param("[]", Insertion(ROOT, 1), "[1]", id="into an empty list"),
        pytest.param(
            '{"a": [\n  {"x": 1}\n]}',
            Insertion(("a",), {"x": 2}),
            '{"a": [\n  {"x": 1},\n  {"x": 2}\n]}',
            id="an entry",
        ),
        pytest.param(
            '{"a": 1}',
            Insertion(("b", "c"), 2, "d"),
            '{"a": 1, "b": {"c": {"d": 2}}}',
            id="with what is around it",
        ),
        pytest.param('{"a": 1}', Insertion(("b",), 2), '{"a": 1, "b": [2]}', id="with a list around it"),
        pytest.param('{"a": 1}', Insertion(ROOT, 2, "a"), None, id="what is there"),
        pytest.param(
            '{\n "a": {"b": 1,\n   "c": 2},\n "d": {"e": 3}\n}',
            Move(("a",), ("d", "a")),
            '{\n "d": {"e": 3, "a": {"b": 1,\n   "c": 2}}\n}',
            id="moved into a line",
        ),
        pytest.param(
            '{\n "a": {\n  "b": 1\n },\n "d": {\n  "e": 3\n }\n}',
            Move(("a",), ("d", "a")),
            '{\n "d": {\n  "e": 3,\n  "a": {\n   "b": 1\n  }\n }\n}',
            id="moved into lines",
        ),
        pytest.param(
            '{\n  "a": {\n    "b": 1\n  }\n}',
            Move(("a",), ("d", "a")),
            '{\n  "d": {\n    "a": {\n      "b": 1\n    }\n  }\n}',
            id="moved where nothing was",
        ),
    ],
)
def test_insertions_into_json(text: str, edit: Edit, expected: str | None) -> None:
    assert made(text, edit) == expected


S: tuple[str | int, ...] = ("loadouts", "L", "sockets", "a")


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        pytest.param(
            "loadout L { a: M -> b }",
            Insertion((*S, "edges", 0), 2, "maxTraversals"),
            "loadout L { a: M -> b max 2 }",
            id="a budget",
        ),
        pytest.param(
            'loadout L { a: M -> "b" @label "x" }',
            Insertion((*S, "edges", 0), "satisfied", "when"),
            'loadout L { a: M satisfied -> "b" @label "x" }',
            id="a guard",
        ),
        pytest.param(
            "loadout L {\n  a: M json\n    satisfied -> b  # why\n}\n",
            Insertion((*S, "edges"), {"when": "not_satisfied", "to": "end"}),
            "loadout L {\n  a: M json\n    satisfied -> b  # why\n    not_satisfied -> end\n}\n",
            id="an edge in lines",
        ),
        pytest.param(
            "loadout L { a: M json satisfied -> b }",
            Insertion((*S, "edges"), {"when": "not_satisfied", "to": "end"}),
            "loadout L { a: M json satisfied -> b not_satisfied -> end }",
            id="an edge in a line",
        ),
        pytest.param(
            "loadout L { a: M }",
            Insertion((*S, "edges"), {"to": "end"}),
            "loadout L { a: M -> end }",
            id="the first edge",
        ),
        pytest.param(
            "loadout L { a: M -> b }",
            Insertion(S, "json", "parse"),
            "loadout L { a: M json -> b }",
            id="parse",
        ),
        pytest.param(
            "loadout L { a: M json -> b }",
            Insertion((*S, "limits"), 3, "maxVisits"),
            "loadout L { a: M json visits 3 -> b }",
            id="a limit",
        ),
        pytest.param(
            "loadout L { a: M bytes 9 -> b }",
            Insertion((*S, "limits"), 3, "maxVisits"),
            "loadout L { a: M visits 3 bytes 9 -> b }",
            id="another limit",
        ),
        pytest.param(
            "loadout L { a: -> b }",
            Insertion(S, "M N", "materia"),
            'loadout L { a: "M N" -> b }',
            id="a materia",
        ),
        pytest.param(
            "loadout L { a: M loop l (a) }",
            Insertion(("loadouts", "L", "loops", "l", "exits"), {"from": "a", "targetSocketId": "end"}),
            "loadout L { a: M loop l (a) { exit a -> end } }",
            id="an exit",
        ),
        pytest.param(
            'materia M {\n  prompt "x"\n}',
            Insertion(("materia", "M"), "none", "tools"),
            'materia M {\n  prompt "x"\n  tools none\n}',
            id="in braces",
        ),
        pytest.param(
            'materia M { prompt "x" }',
            Insertion(("materia", "M"), 5000, "timeoutMs"),
            'materia M { prompt "x"  timeout 5s }',
            id="in braces in a line",
        ),
        pytest.param(
            'materia M { prompt "x" }\n\nloadout L { a: M }\n',
            Insertion(("materia",), {"prompt": "y"}, "N"),
            'materia M { prompt "x" }\nmateria N { prompt "y" }\n\nloadout L { a: M }\n',
            id="a statement",
        ),
        pytest.param(
            "loadout L { a: M }\n",
            Insertion(("materia",), {"prompt": "y"}, "M"),
            'loadout L { a: M }\n\nmateria M { prompt "y" }\n',
            id="the first of its kind",
        ),
        pytest.param(
            "limits { maxItems 3 }",
            Insertion(("limits",), 2, "maxPromptBytes"),
            "limits { maxItems 3  maxPromptBytes 2 }",
            id="a setting",
        ),
        pytest.param(
            '@pipeline { "entry": "a" }',
            Move(("pipeline",), ("loadouts", "pipeline")),
            'loadout pipeline = { "entry": "a" }',
            id="moved",
        ),
        pytest.param(
            '@roles { "A": { "prompt": "x" }, "B": {} }\nmateria C { prompt "y" }\n',
            Move(("roles", "A"), ("materia", "A")),
            '@roles { "B": {} }\nmateria C { prompt "y" }\nmateria A = { "prompt": "x" }\n',
            id="moved into a statement",
        ),
    ],
)
def test_insertions_into_the_dsl(text: str, edit: Edit, expected: str | None) -> None:
    assert made(text, edit, language="dsl") == expected
