"""Which language a text is in, and that advice is given in it."""

from __future__ import annotations

import pytest

from materiac.languages import may_hold_scenarios
from materiac.pipeline import Text, check
from materiac.report import as_json, text
from materiac.source import Language

JSON = b'{"loadouts": {"L": {"sockets": {"a": {"materia": "M"}}}}, "materia": {"M": {"prompt": "p"}}}'
DSL = b'loadout L { a: M } materia M { prompt "p" }'
ADVICE = {"json": 'add "entry": "a"', "dsl": "add 'entry a'"}


@pytest.mark.parametrize(
    ("name", "raw", "said", "language"),
    [
        ("x.json", JSON, None, "json"),
        ("x.materia", DSL, None, "dsl"),
        ("<stdin>", JSON, None, "json"),
        ("<stdin>", DSL, None, "dsl"),
        ("x.materia", JSON, "json", "json"),
        ("x.json", DSL, "dsl", "dsl"),
    ],
)
def test_advice_is_in_the_language_of_the_text(
    name: str, raw: bytes, said: Language | None, language: Language
) -> None:
    found = check([Text(name, raw, language=said)])
    assert [(part.finding.rule, part.help) for part in found] == [("missing-entry", ADVICE[language])]
    assert ADVICE[language] in text.render(found, colour=False)
    assert ADVICE[language].replace('"', '\\"') in as_json.render(found)


@pytest.mark.parametrize(
    "text",
    [
        'scenario "x" { }',
        '\ufeffscenario "x" { }',
        'scenario # which\n"x" { }',
        '@layout 1 scenario "x" { }',
        'artifacts "x" scenario "x" { }',
        "scenario größe { }",
        "scenario élan { }",
        '@scenarios [{"name": "x"}]',
        '@"scenarios" [{"name": "x"}]',
    ],
)
def test_whatever_has_the_word_may_hold_scenarios(text: str) -> None:
    assert may_hold_scenarios("x.materia", text.encode)
    assert not may_hold_scenarios("x.json", text.encode)


@pytest.mark.parametrize("text", ["loadout L { a: A }", "loadout scenarious { a: A }", "active my_scenario"])
def test_what_lacks_the_word_holds_none(text: str) -> None:
    assert not may_hold_scenarios("x.materia", text.encode)


def test_an_entry_with_a_colon_is_a_socket_and_hardly_meant_as_one() -> None:
    slip = 'loadout Slip { entry: plan  plan: Writer }\nmateria Writer { prompt "Write." }\n'
    helps = [part.help for part in check([Text("a.materia", slip.encode())])]
    assert "write 'entry plan', without a colon" in helps
