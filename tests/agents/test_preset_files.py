"""Preset files: what is in the shipped ones, and what is wrong in others."""

from __future__ import annotations

from pathlib import Path

import pytest

from materiac.agents import choose, preset
from materiac.agents.preset.agent import abilities
from materiac.agents.preset.shape import read_file
from materiac.agents.protocol import AgentError
from materiac.shipped import BACK_ENDS

LEAST = 'program = "helper"\nargv = []\n'


def test_the_shipped_ones_are_listed_with_what_they_promise() -> None:
    listed = {name for name, one in BACK_ENDS.items() if one.module == "preset"} - {"preset"}
    assert listed == set(preset.SHIPPED) - {"pi"}, "the name 'pi' is that of another agent"
    for name in listed:
        assert BACK_ENDS[name].scopes == abilities(preset.shipped(name)).scopes


def test_what_the_shipped_ones_can_do() -> None:
    can = {name: abilities(preset.shipped(name)) for name in preset.SHIPPED}
    assert all(one.sessions and one.usage for one in can.values())
    assert {name for name, one in can.items() if one.schema} == {"claude", "codex", "qwen"}
    assert {name for name, one in can.items() if one.tool_server} == {"claude", "codex", "opencode", "qwen"}
    assert {name for name, one in can.items() if "custom" not in one.scopes} == {"codex"}


def test_the_least_that_a_preset_has(tmp_path: Path) -> None:
    file = tmp_path / "helper.toml"
    file.write_text(LEAST)
    can = abilities(read_file(file))
    assert (can.scopes, can.sessions, can.schema, can.tool_server, can.usage) == (frozenset(), *[False] * 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "program: it is missing", id="empty"),
        pytest.param("argv = []", "program: it is missing", id="no program"),
        pytest.param(
            'program = ""\nargv = []', 'program: found "", expected a text that is not empty', id="blank"
        ),
        pytest.param('program = "a"\nargv = "b"', 'argv: found "b", expected a list', id="no list"),
        pytest.param('program = "a"\nargv = [["b", 1]]', "argv.0.1: found 1, expected a text", id="no text"),
        pytest.param(f"{LEAST}promise = []", "unknown key 'promise': did you mean 'promises'?", id="key"),
        pytest.param(
            f"{LEAST}zzz = 1", "unknown key 'zzz': there are about, install, program, ", id="far key"
        ),
        pytest.param(
            f'{LEAST}promises = ["all"]',
            "promises.0: found \"all\", expected 'none', 'readOnly', 'coding' or 'custom'",
            id="scope",
        ),
        pytest.param(
            f"{LEAST}[scopes]\nreadonly = []",
            "scopes.readonly: found \"readonly\", expected 'none', 'readOnly', 'coding' or 'custom'",
            id="scopes",
        ),
        pytest.param(
            'program = "a"\nargv = ["-m", "{modle}"]',
            "argv.1.0: '{modle}' stands for nothing: did you mean 'model'?",
            id="placeholder",
        ),
        pytest.param(
            'program = "a"\nargv = ["{zzzzzz}"]',
            "argv.0.0: '{zzzzzz}' stands for nothing: there are model, thinking, ",
            id="far placeholder",
        ),
        pytest.param(
            'program = "a"\nargv = ["{prompt}"]',
            "argv.0.0: '{prompt}' cannot stand here: a prompt goes to the standard input",
            id="prompt",
        ),
        pytest.param(
            'program = "a"\nargv = ["{tools:yaml}"]',
            "argv.0.0: '{tools:yaml}' asks for an unknown form: expected json or toml",
            id="form",
        ),
        pytest.param(f'{LEAST}prompt = "do it"', "prompt: it has no '{prompt}' in it", id="no prompt"),
        pytest.param(
            f'{LEAST}[env]\nA = {{ b = ["{{modle}}"] }}',
            "env.A.b.0: '{modle}' stands for nothing: did you mean 'model'?",
            id="in a table",
        ),
        pytest.param(
            f'{LEAST}[files]\n"../a.json" = ""',
            "files: '../a.json' is no name of a file: expected one like 'settings.json'",
            id="file name",
        ),
        pytest.param(f"{LEAST}[env]\nA = 1", "env.A: found 1, expected a text or a table", id="variable"),
        pytest.param(
            f"{LEAST}[env]\nA = {{ b = 1979-05-27 }}",
            "env.A: it has a date, a time or a number in it that JSON does not have",
            id="date",
        ),
        pytest.param(
            f'{LEAST}[output]\nformat = "xml"',
            "output.format: found \"xml\", expected 'text', 'json' or 'lines'",
            id="format",
        ),
        pytest.param(
            f'{LEAST}[output]\nformat = "json"',
            "output: it does not say where the 'text' is",
            id="no text at",
        ),
        pytest.param(
            f'{LEAST}[output]\ntext = "a"',
            "output: a plain text has no places in it: the 'format' is missing, 'json' or 'lines'",
            id="no format",
        ),
        pytest.param(
            f'{LEAST}[output]\nformat = "json"\ntext = "a..b"',
            "output.text.0.at.0: 'a..b' is no path: expected names and indexes with dots between, '*', or ",
            id="path",
        ),
        pytest.param(
            f'{LEAST}[output]\nformat = "json"\ntext = 3',
            "output.text.0: found 3, expected a table",
            id="no pick",
        ),
        pytest.param(
            f'{LEAST}[output]\nformat = "json"\ntext = {{ att = "a" }}',
            "output.text.0: unknown key 'att': did you mean 'at'?",
            id="key of a pick",
        ),
        pytest.param(
            f'{LEAST}[output]\nformat = "json"\ntext = {{ at = "a", where = "b" }}',
            'output.text.0.where: found "b", expected a table of values by path',
            id="where",
        ),
        pytest.param(
            f'{LEAST}[usage]\ncache = "a"',
            "usage: unknown key 'cache': did you mean 'cacheRead'?",
            id="usage",
        ),
        pytest.param(
            f'{LEAST}[faults]\nrate = ["("]',
            'faults.rate.0: "(" is no regular expression: missing ), unterminated subpattern',
            id="pattern",
        ),
        pytest.param(
            f'{LEAST}[[progress]]\nkind = "noise"\nat = "a"',
            "progress.0.kind: found \"noise\", expected 'text', 'thinking', 'tool', ",
            id="progress",
        ),
        pytest.param(f"{LEAST}[", "invalid initial character for a key part (at end of document)", id="TOML"),
    ],
)
def test_what_is_wrong_in_a_preset(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(AgentError) as caught:
        read_file(file)
    assert any(line.startswith(f"{file}: {message}") for line in str(caught.value).splitlines()), caught.value


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("argv = 1\nzzz = 2")
    with pytest.raises(AgentError) as caught:
        read_file(file)
    assert len(str(caught.value).splitlines()) == 3


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"cannot read the preset '/nowhere/a\.toml': No such file"):
        choose.make("preset:/nowhere/a.toml")
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xff")
    with pytest.raises(AgentError, match=r"mine\.toml: the preset is no UTF-8: invalid start byte at byte 0"):
        choose.make(f"preset:{file}")


# How one is chosen


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only program on the PATH."""
    program = tmp_path / "helper"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "mine.toml").write_text(LEAST)
    return program


@pytest.mark.parametrize(
    "spec",
    [
        "codex:{0}",
        "claude?model=m&thinking=high:{0}",
        'qwen:["{0}", "cli.js"]',
        "preset:{1}",
        "preset?env=A_KEY:{1}",
    ],
)
def test_a_spec_leads_to_its_program(helper: Path, spec: str) -> None:
    spec = spec.format(helper, helper.with_name("mine.toml"))
    agent = choose.make(spec)
    assert agent.spec == spec
    agent.close()
    agent.close()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "codex",
            "'codex' is not on the PATH: npm install -g @openai/codex, or say where it is: 'codex:/path/to/",
        ),
        (
            "codex:other",
            "'other' is not on the PATH: npm install -g @openai/codex, or say where it is: 'codex:/pa",
        ),
        (
            "preset:pi",
            "'pi' is not on the PATH: npm install -g @earendil-works/pi-coding-agent, or give its path in",
        ),
        (
            "preset",
            "'preset' names no file, expected 'preset:FILE' or one of claude, codex, gemini, opencode, pi, q",
        ),
        ("preset:", "'preset:' names no file, expected "),
        ("codex?modell=m", "a codex has no option 'modell': did you mean 'model'?"),
        ("codex?model=a&model=b", "the option 'model' is there twice"),
        ('codex:["a"', "the program cannot be read: Expecting ',' delimiter: "),
        ("codex:[]", "the program is no list of texts: []"),
        ("codex:[1]", "the program is no list of texts: [1]"),
    ],
)
def test_what_is_no_spec(helper: Path, spec: str, message: str) -> None:
    assert helper.exists()
    with pytest.raises(AgentError) as caught:
        choose.make(spec)
    assert str(caught.value).startswith(message)


def test_how_it_stands_here(helper: Path) -> None:
    standing = choose.inspect("codex")
    assert not standing.installed
    assert standing.why_not == "there is no 'codex' on the PATH: npm install -g @openai/codex"
    assert standing.keys == ("OPENAI_API_KEY", "CODEX_API_KEY")
    helper.with_name("codex").write_text("#!/bin/sh\necho codex-cli 1.2\n")
    helper.with_name("codex").chmod(0o755)
    standing = choose.inspect("codex")
    assert (standing.usable, standing.version) == (True, "codex-cli 1.2")
    assert standing.abilities.scopes == {"none", "readOnly", "coding"}
    assert choose.inspect("preset").installed


def test_a_preset_of_ones_own_is_checked_when_it_is_chosen(helper: Path) -> None:
    file = helper.with_name("mine.toml")
    file.write_text(f"{LEAST}prompt = 'x'")
    with pytest.raises(AgentError, match=r"mine\.toml: prompt: it has no"):
        choose.make(f"preset:{file}")
