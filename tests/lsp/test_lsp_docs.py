"""The settings of editors that the docs show."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## The language server")[2]
COMMAND = ["materiac", "lsp"]


def block(language: str) -> str:
    [text] = re.findall(rf"```{language}[^\n]*\n(.*?)```", SECTION, re.DOTALL)
    assert isinstance(text, str)
    return text


def test_helix() -> None:
    settings = tomllib.loads(block("toml"))
    server = settings["language-server"]["materiac"]
    assert [server["command"], *server["args"]] == COMMAND
    assert [language["name"] for language in settings["language"]] == ["materia", "json"]
    assert all("materiac" in language["language-servers"] for language in settings["language"])


def test_visual_studio_code() -> None:
    settings = json.loads(block("json"))
    assert [settings["glspc.server.command"], *settings["glspc.server.commandArguments"]] == COMMAND
    assert "materia" in settings["glspc.server.languageId"]


def test_neovim() -> None:
    lua = block("lua")
    [words] = re.findall(r"cmd = \{ (.*?) \}", lua)
    assert json.loads(f"[{words}]") == COMMAND
