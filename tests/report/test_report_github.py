from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from materiac.diagnostic import Finding, Located, Place, Severity
from materiac.report.github import render
from materiac.source import Source, Span

FOLDER = Path("/shed/it")
SOURCE = Source("/shed/it/a.json", '{\n "日\U0001f469": "x"\n}')
SPAN = Span(8, 11)
_COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)\n")


class Command(NamedTuple):
    """A command, read as the runner of GitHub reads it."""

    name: str
    properties: dict[str, str]
    message: str


def command_of(found: Located) -> Command:
    match = _COMMAND.fullmatch(render([found], FOLDER))
    assert match is not None
    pairs = (part.split("=", 1) for part in match[2].split(","))
    return Command(match[1], {key: unescaped(value) for key, value in pairs}, unescaped(match[3]))


def unescaped(text: str) -> str:
    return re.sub("%(0A|0D|25|2C|3A)", lambda match: chr(int(match[1], 16)), text)


def located(
    span: Span = SPAN, *, name: str = SOURCE.name, message: str = "m", severity: Severity = Severity.ERROR
) -> Located:
    return Located(Finding("dead-edge", severity, message, span), Place(Source(name, SOURCE.text), span))


def test_a_command() -> None:
    assert render([located()], FOLDER) == (
        "::error file=a.json,line=2,endLine=2,col=7,endColumn=10,title=dead-edge::m\n"
    )


def test_commands_come_in_the_order_of_the_findings() -> None:
    assert render([located(message="b"), located(message="a")], FOLDER).splitlines() == [
        f"::error file=a.json,line=2,endLine=2,col=7,endColumn=10,title=dead-edge::{message}"
        for message in "ba"
    ]
    assert render([], FOLDER) == ""


@pytest.mark.parametrize(
    ("severity", "name"), list(zip(Severity, ("notice", "warning", "error"), strict=True))
)
def test_severities(severity: Severity, name: str) -> None:
    assert command_of(located(severity=severity)).name == name


def test_a_place_of_several_lines_has_no_columns() -> None:
    found = command_of(located(Span(0, 14)))
    assert found.properties == {"file": "a.json", "line": "1", "endLine": "3", "title": "dead-edge"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("/shed/it/b/c.json", "b/c.json", id="below"),
        pytest.param("/shed/it/./b/../c.json", "c.json", id="roundabout"),
        pytest.param("/shed/a b.json", "/shed/a b.json", id="elsewhere"),
        pytest.param("/shed/it/a,b:c%2C\r\n=.json", "a,b:c%2C\r\n=.json", id="odd"),
    ],
)
def test_files(name: str, shown: str) -> None:
    assert command_of(located(name=name)).properties["file"] == shown


@pytest.mark.parametrize("name", ["<stdin>", "bundled:a.json"])
def test_a_text_that_is_no_file_is_named_in_the_message(name: str) -> None:
    assert command_of(located(name=name)) == ("error", {"title": "dead-edge"}, f"{name}:2:7: m")


def test_without_a_place() -> None:
    found = Located(Finding("unknown-loadout", Severity.ERROR, "m", ()), None)
    assert render([found], FOLDER) == "::error title=unknown-loadout::m\n"


@pytest.mark.parametrize("message", ["100%", "%0A%25", "a\nb\r\nc", "::error::x", "é, 日: =", ""])
def test_a_message_comes_back_as_it_was(message: str) -> None:
    assert command_of(located(message=message)).message == message


def test_help_and_related_places_are_lines_of_the_message() -> None:
    finding = Finding("dead-edge", Severity.ERROR, "m", SPAN, help="50%")
    found = Located(finding, Place(SOURCE, SPAN), ((Place(SOURCE, Span(0, 1)), "in here"),))
    assert command_of(found).message == "m\nhelp: 50%\na.json:1:1: note: in here"


def test_no_control_character_reaches_a_terminal() -> None:
    shown = render([located(message="a\x1b[31m\x07\u202e\x85", name="/shed/it/\x1b.json")], FOLDER)
    assert shown.removesuffix("\n").isprintable()
