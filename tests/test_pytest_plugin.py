"""The plugin for pytest, as a project has it: scenario files among its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
HELLO = {"name": "a greeting", "loadout": "Hello", "expect": {"path": ["greet"]}}


def ran(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "materiac.pytest_plugin", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def write(folder: Path, *scenarios: Any) -> None:
    (folder / "x.scenario.json").write_text(json.dumps({"scenarios": scenarios}, indent=1))


def test_each_scenario_is_an_item(project: Path) -> None:
    wrong = {**HELLO, "name": "a farewell", "expect": {"path": ["part"], "turns": 0}}
    write(project, HELLO, {**HELLO, "name": "too many", "expect": {"turns": 0}}, wrong)
    code, out = ran(project, "-v")
    assert code == 1
    assert "x.scenario.json::a greeting PASSED" in out
    assert "x.scenario.json::too many FAILED" in out
    assert "x.scenario.json:16:14: agents took 1 turn, expected at most 0" in out
    assert "error[unknown-target]: there is no socket 'part' in the loadout" in out
    assert "Traceback" not in out


def test_items_are_chosen_by_name(project: Path) -> None:
    write(project, HELLO, {**HELLO, "name": "too many", "expect": {"turns": 0}})
    code, out = ran(project, "-k", "greeting")
    assert (code, "1 passed, 1 deselected" in out) == (0, True)


def test_a_file_that_is_not_sound(project: Path) -> None:
    write(project, {"nam": "x"})
    code, out = ran(project)
    assert code == 2
    assert "x.scenario.json:4:4: error[unknown-key]: unknown key 'nam'" in out


def test_other_files_are_left_alone(project: Path) -> None:
    (project / "x.json").write_text("{")
    code, _ = ran(project)
    assert code == int(pytest.ExitCode.NO_TESTS_COLLECTED)


def test_scenarios_in_the_language_of_our_own(project: Path) -> None:
    scenario = 'scenario "a greeting" { loadout Hello expect complete { path greet } }\n'
    (project / "x.materia").write_text(
        f"{scenario}{scenario.replace('a greeting', 'late').replace('> ', '')}"
    )
    (project / "y.materia").write_text("loadout L { a: A }")
    (project / "z.materia").write_text('scenario "x" { loadot L }')
    code, out = ran(project, "-v", "--continue-on-collection-errors")
    assert code == 1
    assert "x.materia::a greeting PASSED" in out
    assert "z.materia:1:16: error[syntax]: found 'loadot'" in out
    assert "y.materia" not in out


def test_a_file_without_scenarios_is_passed_over_unless_it_is_named(project: Path) -> None:
    (project / "x.materia").write_text(
        '\ufeffabout "x" scenario # which\n"a greeting" { loadout Hello expect complete }\n'
    )
    (project / "y.materia").write_text('materia A { prompt "a scenario" }')
    code, out = ran(project, "-v")
    assert (code, "x.materia::a greeting PASSED" in out, "y.materia" in out) == (0, True, False)
    code, out = ran(project, "y.materia")
    assert (code, "there is no scenario in 'y.materia'" in out) == (2, True)


def test_the_plugin_is_declared() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["entry-points"]["pytest11"] == {"materiac": "materiac.pytest_plugin"}
