"""Findings of every phase stand at the right words of a text of the language."""

from __future__ import annotations

import pytest

from materiac.pipeline import Text, check

MATERIA = """
materia A { prompt "Do it." }
materia J { prompt "Judge it."  parse json }
materia G generator { prompt "Plan it." }
"""
ITEMS = "advance workItemIndex over state.workItems"


def found(loadout: str, rest: str = "") -> dict[str, list[str]]:
    """The words at the place of each finding, by rule."""
    text = f"loadout L {{\n{loadout}\n}}\n{MATERIA}{rest}"
    places: dict[str, list[str]] = {}
    for part in check([Text("x.materia", text.encode())]):
        assert part.place is not None
        span = part.place.span
        places.setdefault(part.finding.rule, []).append(text[span.start : span.end])
    return places


@pytest.mark.parametrize(
    ("loadout", "rest", "rule", "words"),
    [
        pytest.param("entry a a: A -> b", "", "unknown-target", "b", id="target of an edge"),
        pytest.param("entry b a: A", "", "unknown-target", "b", id="entry"),
        pytest.param("entry a a: Nobody", "", "unknown-materia", "Nobody", id="materia"),
        pytest.param("a: A", "", "missing-entry", None, id="no entry"),
        pytest.param("entry a a: A -> end -> end", "", "dead-edge", "-> end", id="dead edge"),
        pytest.param(
            "entry a a: A satisfied -> end", "", "unread-verdict", "satisfied", id="verdict of a text"
        ),
        pytest.param("entry a a: J satisfied -> end", "", "missing-route", None, id="missing route"),
        pytest.param("entry a a: A b: A", "", "unreachable-socket", "b", id="unreachable"),
        pytest.param("entry a a: A -> a", "", "never-ends", None, id="never ends"),
        pytest.param("entry a a: A -> end max 0", "", "invalid-limit", "0", id="edge budget"),
        pytest.param("entry a a: A visits 1.5", "", "invalid-limit", "1.5", id="visits"),
        pytest.param("entry a a: A @colour 1", "", "unknown-key", "colour", id="unknown attribute"),
        pytest.param("entry a a: A @edges 5", "", "invalid-value", "5", id="wrong shape"),
        pytest.param('entry "a b" "a b": A', "", "invalid-name", '"a b"', id="name"),
        pytest.param("entry a a: A A: A -> end", "", "case-clash", "a", id="case"),
        pytest.param("entry a a: A assign item = $.x", "", "reserved-key", "item", id="assigned key"),
        pytest.param("entry a a: J assign x = $..y", "", "invalid-path", "$..y", id="path"),
        pytest.param("entry a a: A loop w (a, b)", "", "unknown-target", "b", id="member"),
        pytest.param(
            f"entry g g: G -> a a: A {ITEMS} -> a loop w (a) over a",
            "",
            "loop-source",
            "a",
            id="source of a loop",
        ),
        pytest.param(
            f"entry g g: G -> a a: A {ITEMS} -> a loop w (a) over g {{ exit g -> end }}",
            "",
            "foreign-exit",
            "g",
            id="source of an exit",
        ),
        pytest.param('entry a a: A @prompt "x"', "", "unknown-key", "prompt", id="early key"),
        pytest.param(
            "entry a a: A",
            'materia X { tools everything prompt "x" }',
            "invalid-value",
            "everything",
            id="tools",
        ),
        pytest.param(
            "entry a a: A", "materia X { timeout 0s utility noop }", "invalid-limit", "0s", id="timeout"
        ),
        pytest.param(
            "entry a a: A", 'materia X { command "ls -l" }', "shell-string", '"ls -l"', id="shell string"
        ),
        pytest.param("entry a a: A", "materia X { utility nop }", "unknown-utility", "nop", id="utility"),
        pytest.param("entry a a: A", "budget { maxToken 5 }", "unknown-key", "maxToken", id="setting"),
        pytest.param("entry a a: A", "active M", "unknown-loadout", "M", id="active loadout"),
        pytest.param(
            "entry a a: A", '@roles { "R": { "systemPrompt": "x" } }', "legacy-form", "roles", id="roles"
        ),
    ],
)
def test_places(loadout: str, rest: str, rule: str, words: str | None) -> None:
    places = found(loadout, rest)
    assert rule in places, places
    assert words is None or words in places[rule], places
