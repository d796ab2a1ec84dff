"""The kept inputs hold the promises, and the runner that finds new ones works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import CORPUS, SLOWEST_S, corpus
from mutations import LARGEST
from promises import hold

from materiac.languages import LANGUAGES
from materiac.source import Language

KEPT = [(language, path) for language in LANGUAGES for path in corpus(language)]
RUNNER = CORPUS.parent / "fuzz.py"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports of the inputs lead into an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("language", "path"), KEPT, ids=[path.name for _, path in KEPT])
def test_kept_inputs(language: Language, path: Path) -> None:
    raw = path.read_bytes()
    assert len(raw) <= LARGEST
    hold(raw, language)


def test_kept_inputs_are_distinct() -> None:
    inputs = [(language, path.read_bytes()) for language, path in KEPT]
    assert len(set(inputs)) == len(inputs)


@pytest.mark.parametrize("language", LANGUAGES)
def test_runner(language: Language, tmp_path: Path) -> None:
    """None of the kept inputs and of some new ones crashes the process or holds it up."""
    options = ["--language", language, "--seconds", "0.5", "--seed", "1", "--failures", str(tmp_path)]
    done = run(*options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{language}: " in done.stdout
    assert "0 broken promises" in done.stdout
    assert not [*tmp_path.iterdir()]


def test_runner_on_files() -> None:
    done = run(str(CORPUS / "dsl" / "review.materia"), "--language", "dsl")
    assert done.returncode == 0, done.stderr
    assert "dsl: 1 inputs, 1 of them files" in done.stdout


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUNNER), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=SLOWEST_S * 12, check=False)
