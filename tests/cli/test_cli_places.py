from __future__ import annotations

from pathlib import Path

import pytest
from looking import Shed


@pytest.fixture
def shed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shed:
    (tmp_path / ".materia").mkdir()
    return Shed(tmp_path, capsys)


def where(shed: Shed, *words: str, **env: str) -> str:
    shown = shed.look("casts", "--json", *words, env=env)
    assert (shown.code, shown.err) == (0, "")
    return str(shown.data["artifacts"])


def test_the_default(shed: Shed) -> None:
    assert where(shed) == f"{shed.folder}/.materia/casts"


def test_a_folder_that_is_named(shed: Shed) -> None:
    (shed.folder / ".materia/loadout.json").write_text('{"artifactDir": "mine"}', encoding="utf-8")
    assert where(shed, "--artifacts", "there") == f"{shed.folder}/there"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"artifactDir": "mine/casts"}', "mine/casts"),
        ('{"artifactDir": 5}', ".materia/casts"),
        ('{"artifactDir": ""}', ".materia/casts"),
        ('{"artifactDir": null}', ".materia/casts"),
        ("{}", ".materia/casts"),
        ("{", ".materia/casts"),
        ("[]", ".materia/casts"),
    ],
)
def test_the_file_of_the_project(shed: Shed, text: str, found: str) -> None:
    (shed.folder / ".materia/loadout.json").write_text(text, encoding="utf-8")
    assert where(shed) == f"{shed.folder}/{found}"


def test_a_folder_from_the_root(shed: Shed) -> None:
    (shed.folder / ".materia/loadout.materia").write_text(f'artifacts "{shed.folder}/far"', encoding="utf-8")
    assert where(shed) == f"{shed.folder}/far"


def test_the_layers(shed: Shed) -> None:
    user = shed.folder / ".config/materiac/materia.json"
    user.parent.mkdir(parents=True)
    user.write_text('{"artifactDir": "users"}', encoding="utf-8")
    home = {"XDG_CONFIG_HOME": str(shed.folder / ".config")}
    assert where(shed, **home) == f"{shed.folder}/users"
    (shed.folder / ".materia/loadout.json").write_text('{"artifactDir": "projects"}', encoding="utf-8")
    assert where(shed, **home) == f"{shed.folder}/projects"
    (shed.folder / "named.json").write_text('{"artifactDir": "named"}', encoding="utf-8")
    assert where(shed, **home, MATERIA_CONFIG="named.json") == f"{shed.folder}/named"


def test_a_configuration_that_is_gone(shed: Shed) -> None:
    assert where(shed, MATERIA_CONFIG="gone.json") == f"{shed.folder}/.materia/casts"
