"""docs/commands.md has every command, with the help that it really gives."""

from __future__ import annotations

import re

import pytest
from doc_pages import Block, Page, read

from materiac.cli import COMMANDS, main

PAGE: Page = read("docs/commands.md")
HELPS: dict[str, Block] = {block.options["help"]: block for block in PAGE.blocks if "help" in block.options}
NAMES = [command.name for command in COMMANDS]


def test_every_command_has_a_section() -> None:
    assert re.findall(r"^## (.*)$", PAGE.prose, re.MULTILINE)[: len(NAMES)] == NAMES


@pytest.mark.parametrize("name", ["materiac", *NAMES])
def test_the_help_is_the_real_one(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, bless: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*([name] if name in NAMES else []), "--help"])
    said = capsys.readouterr().out
    if bless:
        PAGE.bless(HELPS[name], said)
    else:
        assert words(HELPS[name].text) == words(said)


def words(text: str) -> list[str]:
    """The words of a help; versions of Python wrap it differently, and say `-o, --output FILE`."""
    return re.sub(r"(-\w) ([A-Z]+), (--\w+) \2", r"\1, \3 \2", text).split()
