"""The extension for Visual Studio Code: its files, and the colours of the language."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from textmate import Grammar

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "vscode"
GRAMMAR = Grammar.read(FOLDER / "syntaxes" / "materia.tmLanguage.json")
LANGUAGE = (ROOT / "grammar" / "materia.lark").read_text(encoding="utf-8")

TEXT = '''import "other.materia"  # materiac: ignore[case-clash] on purpose
budget { maxTokens 200000 }

loadout "Full Auto" {
  entry plan
  plan: Auto-Plan -> build
  check: Auto-Eval json
    visits 10  bytes 65536
    assign lastCheck = $.context
    satisfied     -> end
    not_satisfied -> build max 3
  each: Water foreach state.plants as plant cursor plantIndex done tell
  always: Keep
    advance workItemIndex over state.workItems when satisfied
    @color "red"
  loop work (build, check) over plan.workItems {
    exit check satisfied -> tell
    parallel 2
  }
  after every build comes check
}

materia Auto-Plan agent generator {
  tools readOnly
  timeout 30s
  prompt """
    entry {{request}} loadout \\{{
    """
  params { "deep": [true, "a\\n"] }
}

materia Next utility { command ["python3", "x"] }

about "both ways"
scenarios of "Full Auto" in "./x.json"

scenario "sent back" {
  loadout "Full Auto"  # the one above
  agent {
    plan: { "workItems": [{ "title": "loadout" }] }
    check: item WI-1 fails "no disk" after 20ms
    default "ok"
  }
  expect failed with edge-limit {
    path plan -> state
    prompt build 2 has "too short"
    no file out.md
  }
}
'''


def scoped(text: str, word: str) -> frozenset[str]:
    """The scopes that all characters of a word have; the word is between bars in the text."""
    before, _, after = TEXT.partition(text)
    assert after, text
    start = len(before) + text.index(word)
    marked = [scopes for _, scopes in GRAMMAR.scopes(TEXT)]
    return frozenset.intersection(*marked[start : start + len(word)])


def test_every_expression_compiles() -> None:
    expressions = list(GRAMMAR.expressions())
    assert len(expressions) > 30
    for expression in expressions:
        re.compile(expression)


def test_includes_lead_to_rules() -> None:
    text = json.dumps(GRAMMAR.data)
    assert set(re.findall(r'"include": "#(\w+)"', text)) <= GRAMMAR.data["repository"].keys()


@pytest.mark.parametrize(
    ("text", "word", "scope"),
    [
        ('import "other.materia"', "import", "keyword.control.import"),
        ("# materiac: ignore[case-clash] on", "# ", "comment.line"),
        ("# materiac: ignore[case-clash] on", "materiac: ignore[case-clash]", "keyword.other.ignore"),
        ("budget {", "budget", "keyword.other.frame"),
        ("200000", "200000", "constant.numeric"),
        ('loadout "Full Auto"', "loadout", "storage.type.loadout"),
        ('loadout "Full Auto"', '"Full Auto"', "entity.name.type.loadout"),
        ("entry plan", "entry", "keyword.control.entry"),
        ("entry plan", "plan", "variable.other.socket"),
        ("plan: Auto-Plan", "plan", "entity.name.function.socket"),
        ("plan: Auto-Plan", "Auto-Plan", "support.type.materia"),
        ("-> build\n  check", "->", "keyword.operator.arrow"),
        ("-> build\n  check", "build", "variable.other.socket"),
        ("Auto-Eval json", "json", "keyword.other.part"),
        ("visits 10", "visits", "keyword.other.part"),
        ("bytes 65536", "65536", "constant.numeric"),
        ("assign lastCheck", "lastCheck", "variable.other.state"),
        ("satisfied     ->", "satisfied", "constant.language.verdict"),
        ("max 3", "max", "keyword.other.part"),
        ("done tell", "done", "keyword.other.step"),
        ("always: Keep", "always", "entity.name.function.socket"),
        ("when satisfied", "satisfied", "constant.language.verdict"),
        ("@color", "@color", "entity.other.attribute-name"),
        ("loop work", "work", "entity.name.type.loop"),
        ("over plan", "over", "keyword.other.step"),
        ("exit check satisfied -> tell", "exit", "keyword.control.exit"),
        ("exit check satisfied -> tell", "tell", "variable.other.socket"),
        ("parallel 2", "parallel", "keyword.other.loop"),
        ("after every build", "after every", "keyword.control.property"),
        ("comes check", "comes", "keyword.control.property"),
        ("materia Auto-Plan agent", "Auto-Plan", "entity.name.type.materia"),
        ("agent generator", "generator", "storage.modifier"),
        ("tools readOnly", "tools", "support.variable.setting"),
        ("timeout 30s", "30s", "constant.numeric"),
        ("    entry {{request}}", "entry ", "string.quoted.triple"),
        ("{{request}}", "{{request}}", "variable.parameter.reference"),
        ("loadout \\{{", "loadout ", "string.quoted.triple"),
        ("loadout \\{{", "\\{{", "constant.character.escape"),
        ('"deep"', '"deep"', "string.quoted.double"),
        ("[true", "true", "constant.language"),
        ("a\\n", "\\n", "constant.character.escape"),
        ("materia Next utility", "Next", "entity.name.type.materia"),
        ("materia Next utility", "utility", "storage.modifier"),
        ("{ command [", "command", "support.variable.setting"),
        ('about "both', "about", "keyword.other.frame"),
        ("scenarios of", "scenarios", "keyword.control.import"),
        ('scenario "sent', "scenario", "storage.type.scenario"),
        ('scenario "sent back"', '"sent back"', "entity.name.type.scenario"),
        ('loadout "Full Auto"  #', "loadout", "keyword.control.import"),
        ("agent {", "agent", "keyword.control.answers"),
        ('plan: { "work', "plan", "entity.name.function.socket"),
        ('"title": "loadout"', '"loadout"', "string.quoted.double"),
        ("item WI-1 fails", "WI-1", "variable.other.socket"),
        ("item WI-1 fails", "fails", "keyword.other.told"),
        ("after 20ms", "20ms", "constant.numeric"),
        ("expect failed with", "expect", "keyword.control.expect"),
        ("expect failed with", "failed", "constant.language.outcome"),
        ("path plan -> state", "plan", "variable.other.socket"),
        ("path plan -> state", "state", "variable.other.socket"),
        ("prompt build 2 has", "has", "keyword.other.told"),
        ("no file out.md", "out.md", "variable.other.state"),
    ],
)
def test_words_have_their_scopes(text: str, word: str, scope: str) -> None:
    assert any(name.startswith(scope) for name in scoped(text, word))


@pytest.mark.parametrize(
    ("text", "word"),
    [("not_satisfied -> build max", "build"), ("  each: Water foreach", "Water"), ("maxTokens", "maxTokens")],
)
def test_names_are_no_keywords(text: str, word: str) -> None:
    assert not any(name.startswith("keyword") for name in scoped(text, word))


def test_every_keyword_of_the_language_is_coloured() -> None:
    keywords = set(re.findall(r'^[A-Z_]+: "(\w+)"$', LANGUAGE, re.MULTILINE))
    assert len(keywords) > 50
    known = set(re.findall(r"\w+", " ".join(GRAMMAR.expressions())))
    assert keywords - known == set()


@pytest.mark.parametrize("file", sorted((ROOT / "loadouts").rglob("*.materia")), ids=lambda file: file.stem)
def test_blocks_of_shipped_loadouts_close(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    marked = [scopes for _, scopes in GRAMMAR.scopes(text)]
    for match in re.finditer(r"^(?:loadout|materia) ", text, re.MULTILINE):
        assert {name.partition(".")[0] for name in marked[match.start()]} == {"meta", "storage"}
        assert sum(name.startswith("meta.") for name in marked[match.start()]) == 1


def test_the_files_that_the_extension_names_are_there() -> None:
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["contributes"]
    [language], [grammar], [validation] = (
        package[key] for key in ("languages", "grammars", "jsonValidation")
    )
    assert language["extensions"] == [".materia"]
    assert grammar["scopeName"] == GRAMMAR.data["scopeName"]
    for name in (language["configuration"], grammar["path"], validation["url"]):
        json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert (FOLDER / validation["url"]).resolve() == ROOT / "docs" / "loadout.schema.json"
