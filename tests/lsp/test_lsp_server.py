"""`materiac lsp` with an editor at the other end of its pipes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from talk import Talk, applied, rules, talking

from materiac.lsp.features import FIX_ALL

SOUND = """loadout Work {
  entry build
  build: Builder -> check
  check: Critic json
    satisfied     -> end
    not_satisfied -> build max 2
}

materia Builder { prompt "Build." }
materia Critic { prompt "Is it good?" }
"""
BROKEN = SOUND.replace("-> check", "-> chekc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


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


def place(text: str, word: str) -> tuple[int, int]:
    """Line and column of a word in a text of ASCII."""
    before = text[: text.index(word)]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def whole(text: str) -> dict[str, Any]:
    return {"text": text}


def test_findings_as_one_types(talk: Talk) -> None:
    uri = talk.open("a.materia", BROKEN)
    [finding] = talk.findings(uri, 1)
    assert finding.pop("codeDescription")["href"].endswith("/unknown-target.md")
    assert finding == {
        "range": {"start": {"line": 2, "character": 20}, "end": {"line": 2, "character": 25}},
        "message": "edge of 'build' leads to 'chekc', which is no socket\ndid you mean 'check'?",
        "severity": 1,
        "code": "unknown-target",
        "source": "materiac",
    }
    ends = {"start": {"line": 2, "character": 20}, "end": {"line": 2, "character": 25}}
    talk.change(uri, 2, {"range": ends, "text": "che"}, {"range": {**ends, "start": ends["end"]}, "text": ""})
    assert rules(talk.findings(uri, 2)) == ["unknown-target"]
    talk.change(uri, 3, whole(SOUND))
    assert talk.findings(uri, 3) == []
    talk.change(uri, 4, whole("loadout {"))
    assert rules(talk.findings(uri, 4)) == ["syntax"]
    talk.close(uri)
    assert talk.findings(uri) == []


def test_findings_tell_of_other_places_and_of_what_is_not_needed(talk: Talk) -> None:
    text = (
        SOUND.replace("-> check\n", "-> check\n    -> end\n")
        + "loadout Rest { entry a  a: Builder  a: Builder }"
    )
    uri = talk.open("a.materia", text)
    [repeated] = talk.findings(uri, 1)
    [related] = repeated["relatedInformation"]
    assert related["message"] == "first written here"
    assert related["location"]["uri"] == uri
    talk.change(uri, 2, whole(text.replace("  a: Builder }", " }")))
    [dead] = talk.findings(uri, 2)
    assert (dead["code"], dead["tags"], dead["severity"]) == ("dead-edge", [1], 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encodings", "chosen", "column", "line_break", "mark"),
    [
        (None, "utf-16", 7, "\r\n", ""),
        (["utf-8", "utf-16"], "utf-8", 11, "\n", "\ufeff"),
        (["utf-32"], "utf-32", 6, "\r", ""),
        (["utf-7"], "utf-16", 7, "\r\n", "\ufeff"),
    ],
)
def test_columns_in_the_units_of_the_editor(
    folder: Path, encodings: list[str] | None, chosen: str, column: int, line_break: str, mark: str
) -> None:
    text = f'{mark}loadout L {{ entry a a: B -> end }}\n materia "B" {{ prompt "x" }}\n"漢😀" -> x'
    with talking(folder, general={"positionEncodings": encodings}) as talk:
        assert talk.server["capabilities"]["positionEncoding"] == chosen
        uri = talk.open("a.materia", text.replace("\n", line_break))
        [finding] = talk.findings(uri, 1)
        assert finding["range"]["start"] == {"line": 2, "character": 0}
        text = text.replace('"漢😀" -> x', '@"漢😀" oops')
        talk.change(uri, 2, whole(text.replace("\n", line_break)))
        [finding] = talk.findings(uri, 2)
        assert finding["range"]["start"] == {"line": 2, "character": column}


def test_open_buffers_win_over_the_disk(talk: Talk) -> None:
    (talk.folder / ".materia").mkdir()
    (talk.folder / ".materia" / "loadout.json").write_text('{"materia": {"Low": {"prompt": "x"}}}')
    (talk.folder / "lib.materia").write_text('materia Far { prompt "x" }')
    text = 'import "lib.materia"\nloadout L { entry a  a: Low -> b  b: Far -> end }'
    uri = talk.open("main.materia", text)
    assert talk.findings(uri, 1) == []
    lib = talk.open("lib.materia", 'materia Near { prompt "x" }')
    assert rules(talk.findings(uri)) == ["unknown-materia"]
    talk.change(lib, 2, whole('materia Far { prompt "" }'))
    [finding] = [part for part in talk.findings(uri) if part["code"] == "invalid-value"]
    assert finding["message"].startswith("in 'lib.materia': ")
    assert finding["range"]["start"] == {"line": 0, "character": 7}
    assert finding["relatedInformation"][0]["location"]["uri"] == lib
    low = talk.open(".materia/loadout.json", '{"materia": {}}')
    assert "unknown-materia" in rules(talk.findings(uri))
    talk.close(low)
    talk.close(lib)
    for _ in range(20):
        if talk.findings(uri) == []:
            break
    else:
        raise AssertionError("the files on the disk do not count again")


def test_other_json_is_left_alone(talk: Talk) -> None:
    uri = talk.open("package.json", '{"name": "x", "version": 1}')
    assert talk.findings(uri, 1) == []
    uri = talk.open("any.json", '{"loadouts": 1}')
    assert rules(talk.findings(uri, 1)) == ["invalid-value"]


def test_scenarios_are_checked_too(talk: Talk) -> None:
    uri = talk.open("a.scenario.json", '{"name": "x", "expekt": {}}')
    assert rules(talk.findings(uri, 1)) == ["unknown-key"]


def test_hovers(talk: Talk) -> None:
    uri = talk.open("a.materia", BROKEN)
    talk.findings(uri, 1)
    shown = talk.at("hover", uri, *place(BROKEN, "chekc"))["contents"]["value"]
    assert shown.startswith("**unknown-target** *error*: a socket is named that is not there\n")
    assert "Breaks it" not in shown
    shown = talk.at("hover", uri, *place(BROKEN, "Critic json"))["contents"]["value"]
    assert shown == "agent **Critic**\n\n```text\nIs it good?\n```"
    talk.change(uri, 2, whole(SOUND))
    talk.findings(uri, 2)
    found = talk.at("hover", uri, *place(SOUND, "check\n"))
    assert found["range"]["start"] == {"line": 2, "character": 20}
    lines = found["contents"]["value"].splitlines()
    parts = ["- materia `Critic`", "- output read as json", "- visited at most 3 times"]
    assert lines[:5] == ["socket **check**", "", *parts]
    assert talk.at("hover", uri, 0, 1) is None


def test_definitions_and_references(talk: Talk) -> None:
    text = SOUND + 'materia Fast { prompt "x" }\nloadout More { a: Build -> end }\nimport "lib.materia"\n'
    (talk.folder / "lib.materia").write_text("")
    uri = talk.open("a.materia", text)
    talk.findings(uri, 1)
    for word, line in (("check\n", 3), ("Builder ->", 8), ("build max", 2)):
        target = talk.at("definition", uri, *place(text, word))
        assert (target["uri"], target["range"]["start"]["line"]) == (uri, line)
    assert talk.at("definition", uri, *place(text, "Build -> end"))["uri"].endswith("/full-auto.json")
    assert talk.at("definition", uri, *place(text, "lib."))["uri"] == talk.uri("lib.materia")
    assert talk.at("definition", uri, *place(text, "max")) is None
    line, column = place(text, "build: ")
    all_places = talk.at("references", uri, line, column, context={"includeDeclaration": True})
    used = talk.at("references", uri, line, column, context={"includeDeclaration": False})
    assert [found["range"]["start"]["line"] for found in all_places] == [1, 2, 5]
    assert [found["range"]["start"]["line"] for found in used] == [1, 5]


def test_the_outline(talk: Talk) -> None:
    uri = talk.open("a.materia", SOUND)
    talk.findings(uri, 1)
    asked = {"textDocument": {"uri": uri}}
    for _ in range(2):
        symbols = talk.ask("textDocument/documentSymbol", asked)
        assert [symbol["name"] for symbol in symbols] == ["Work", "Builder", "Critic"]
        assert [part["name"] for part in symbols[0]["children"]] == ["build", "check"]
        talk.change(uri, 2, whole("loadout {"))  # it stays as it was while the text is not sound


def test_a_rename_and_its_refusal(folder: Path) -> None:
    edit = {"workspaceEdit": {"documentChanges": True}}
    with talking(folder, workspace=edit, textDocument={"rename": {"prepareSupport": True}}) as talk:
        assert talk.server["capabilities"]["renameProvider"] == {"prepareProvider": True}
        uri = talk.open("a.materia", SOUND, 7)
        at = place(SOUND, "build max")
        assert talk.at("prepareRename", uri, *at)["placeholder"] == "build"
        [change] = talk.at("rename", uri, *at, newName="make")["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 7}
        after = SOUND.replace(" build", " make")
        assert applied(SOUND, change["edits"]) == after
        refused = {"code": -32803, "message": "loadout 'Work' has a socket 'check'"}
        assert talk.at("rename", uri, *at, newName="check") == refused
        told = talk.at("prepareRename", uri, 0, 0)
        assert told == {"code": -32803, "message": "there is no name here"}
        talk.change(uri, 8, whole("loadout {"))
        told = talk.at("rename", uri, 0, 0, newName="x")
        assert told["message"] == "nothing can be renamed while there are errors of syntax"


def test_completion_while_the_text_is_not_sound(talk: Talk) -> None:
    uri = talk.open("a.materia", SOUND)
    talk.findings(uri, 1)
    text = SOUND.replace("-> check", "-> ")
    talk.change(uri, 2, whole(text))
    line, column = place(text, "-> \n")
    items = talk.at("completion", uri, line, column + 3)["items"]
    assert [item["label"] for item in items] == ["build", "check", "end"]
    assert [item["textEdit"]["newText"] for item in items] == ["build", "check", "end"]


def test_fixes_are_actions(talk: Talk) -> None:
    text = SOUND.replace("-> check\n", "-> check\n    -> end\n")
    uri = talk.open("a.materia", text)
    [dead] = talk.findings(uri, 1)
    asked = {"textDocument": {"uri": uri}, "range": dead["range"], "context": {"diagnostics": [dead]}}
    actions = talk.ask("textDocument/codeAction", asked)
    fix = actions[0]
    assert (fix["kind"], fix["diagnostics"]) == ("quickfix", [dead])
    assert applied(text, fix["edit"]["changes"][uri]) == SOUND
    for only, kinds in ((["quickfix"], {"quickfix"}), (["source"], {FIX_ALL}), (["refactor"], set[str]())):
        found = talk.ask(
            "textDocument/codeAction", {**asked, "context": {"diagnostics": [dead], "only": only}}
        )
        assert {action["kind"] for action in found} <= kinds


def test_the_layout(talk: Talk) -> None:
    for name, text in (
        ("a.materia", "loadout L { entry a a: Builder\n-> end }\n"),
        ("b.json", json.dumps({"loadouts": {}, "materia": {}})),
    ):
        uri = talk.open(name, text)
        asked = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
        after = applied(text, talk.ask("textDocument/formatting", asked))
        assert after.splitlines()[0] in ("loadout L {", "{")
        talk.change(uri, 2, whole(after))
        assert talk.ask("textDocument/formatting", asked) == []
        talk.change(uri, 3, whole("{"))
        assert talk.ask("textDocument/formatting", asked) == []
