"""How programs that are agents stand here: real ones, in a folder of the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from materiac.agents import choose
from materiac.agents.protocol import Abilities, Standing
from materiac.agents.standing import of_program


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that programs are looked for in."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(path: Path, text: str) -> None:
    (path / "helper").write_text(f"#!/bin/sh\n{text}\n")
    (path / "helper").chmod(0o755)


@pytest.mark.parametrize(
    ("text", "version", "why_not"),
    [
        ("echo; echo ' helper 1.2 '; echo more", "helper 1.2", None),
        ("exit 0", None, None),
        ("echo no luck >&2; exit 1", None, "'helper --version' failed: no luck"),
        ("exit 1", None, "'helper --version' failed"),
        ('test "$HELPER_KEY" || echo without', "without", None),
        ("read line || echo 'nothing to read'", "nothing to read", None),
    ],
    ids=["a version", "none", "it says why not", "it does not", "without secrets", "without input"],
)
def test_a_program(
    path: Path, monkeypatch: pytest.MonkeyPatch, text: str, version: str | None, why_not: str | None
) -> None:
    monkeypatch.setenv("HELPER_KEY", "hunter2-hunter2")
    program(path, text)
    can = Abilities(frozenset({"none"}), sessions=True)
    standing = of_program("helper", keys=("HELPER_KEY",), abilities=can)
    assert standing == Standing(True, version, why_not, ("HELPER_KEY",), can)
    assert standing.usable is (why_not is None)


def test_no_program(path: Path) -> None:
    standing = of_program("helper")
    assert (standing.installed, standing.usable) == (False, False)
    assert standing.why_not == "there is no 'helper' on the PATH"
    assert standing.abilities.scopes == frozenset()
    assert path.exists()


def test_a_program_that_cannot_be_started(path: Path) -> None:
    (path / "helper").write_text("#!/nowhere/sh\n")
    (path / "helper").chmod(0o755)
    standing = of_program("helper")
    assert (standing.installed, standing.usable) == (True, False)
    assert "the interpreter in the first line of" in str(standing.why_not)


@pytest.mark.parametrize("name", choose.FORMS)
def test_every_back_end_tells_how_it_stands(name: str) -> None:
    standing = choose.inspect(name)
    assert standing.usable or standing.why_not


def test_what_is_known_of_abilities(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text("{}")
    assert choose.abilities_of(choose.make(f"scripted:{script}")).scopes >= {"none", "coding"}
    assert choose.abilities_of(choose.make("command:cat")).scopes == frozenset()
