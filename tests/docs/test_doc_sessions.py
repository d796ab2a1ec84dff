"""Every session of the pages, typed into a shell in a scratch folder: commands and what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from doc_pages import PAGES, Block, Page

_COMMAND: Final = re.compile(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", re.MULTILINE)
_VOLATILE: Final = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{4}|\b[0-9a-f]{12}\b|\b\d+\.\d s\b")
"""Ids of casts, hashes, times."""


@dataclass(frozen=True)
class Desk:
    """A scratch folder, and how a command finds itself there."""

    folder: Path
    home: Path

    def type(self, command: str) -> str:
        """What a person sees of a command; one that fails has to say so with `|| echo …`."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"'{command}' ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("MATERIA")}
        # A `pi` that is installed would answer where the pages say that nobody does.
        folders = [folder for folder in os.get_exec_path() if not Path(folder, "pi").exists()]
        path = ":".join([str(Path(sys.executable).parent), *folders])
        own = {"HOME": str(self.home), "PATH": path, "COLUMNS": "80", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        return {**inherited, **own, "XDG_CONFIG_HOME": str(self.home / ".config")}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path / "shed", tmp_path / "home")
    desk.folder.mkdir()
    desk.home.mkdir()
    return desk


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name)
        for page in PAGES
        if any(block.language == "console" for block in page.blocks)
    ],
)
def test_the_sessions_of_a_page(page: Page, desk: Desk, *, bless: bool) -> None:
    for block in page.blocks:
        if "file" in block.options:
            file = desk.folder / block.options["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            played = "".join(play(block, desk, bless=bless))
            if bless:
                page.bless(block, played)


def play(block: Block, desk: Desk, *, bless: bool) -> Iterator[str]:
    """The session as it is now; what is shown of it and still holds stays as it is."""
    for typed, shown in _COMMAND.findall(block.text):
        printed = desk.type(re.sub(r"^> ", "", typed, flags=re.MULTILINE))
        if not pattern(shown).fullmatch(printed):
            assert bless, f"$ {typed}{printed}\n--- the page shows\n{shown}"
            shown = _VOLATILE.sub("…", printed.replace(str(desk.folder), "…"))  # noqa: PLW2901
        yield f"$ {typed}{shown}"


def pattern(shown: str) -> re.Pattern[str]:
    """What a shown output stands for: `…` is any text in a line, and alone in a line any lines."""
    lines = shown.splitlines(keepends=True)
    parts = (r"(?:.*\n)*" if line == "…\n" else re.escape(line).replace("…", ".*") for line in lines)
    return re.compile("".join(parts))


def test_a_pattern_is_no_wider_than_it_says() -> None:
    wide = pattern("took … s\n…\nend\n")
    assert wide.fullmatch("took 0.1 s\nend\n")
    assert wide.fullmatch("took 12 s\none\ntwo\nend\n")
    assert not wide.fullmatch("took 0.1 s\nthe end\n")
    assert not wide.fullmatch("took 0.1\nend\n")
