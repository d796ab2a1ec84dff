"""The agent programs are installed whole or not at all, and what is there is left alone."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from agent_programs import install
from agent_programs.install import pins

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="needs Linux on x86-64",
)

NPM = """#!/bin/sh
echo "$@" >> "$LOG"
case "$*" in *"$BROKEN"*) [ -z "$BROKEN" ] || { echo "no such package" >&2; exit 1; };; esac
for last; do :; done
mkdir -p node_modules/.bin
for name in node pi codex claude opencode gemini qwen; do
    printf '#!/bin/sh\\necho version %s\\n' "${SAYS:-${last##*@}}" > node_modules/.bin/$name
    chmod +x node_modules/.bin/$name
done
"""


class Place:
    """A cache, and a stand-in for npm that writes down how it was called."""

    def __init__(self, folder: Path) -> None:
        self.cache, self.log, self._bin = folder / "cache", folder / "log", folder / "bin"
        self._bin.mkdir()
        (self._bin / "npm").write_text(NPM, encoding="utf-8")
        (self._bin / "npm").chmod(0o755)

    def install(self, path: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        environ = {
            "MATERIAC_AGENT_CACHE": str(self.cache),
            "PATH": path or f"{self._bin}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "LOG": str(self.log),
            "BROKEN": "",
            **more,
        }
        command = [sys.executable, install.__file__]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)

    @property
    def calls(self) -> int:
        return len(self.log.read_text(encoding="utf-8").splitlines()) if self.log.exists() else 0

    @property
    def inside(self) -> set[str]:
        return {path.name for path in self.cache.iterdir()} if self.cache.exists() else set()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_every_program_is_installed_once(place: Place) -> None:
    first, second = place.install(), place.install(path="/nowhere")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert place.calls == len(pins())
    for name, pin in pins().items():
        link = place.cache / "bin" / name
        assert f"{pin.version:<9} {link}" in second.stdout
        assert pin.version in subprocess.run([link], capture_output=True, text=True, check=True).stdout
    assert not [name for name in place.inside if name.startswith(".")]


def test_a_lost_link_is_made_again(place: Place) -> None:
    place.install()
    (place.cache / "bin" / "pi").unlink()
    assert place.install().returncode == 0
    assert (place.cache / "bin" / "pi").exists()
    assert place.calls == len(pins())


def test_without_npm_it_says_what_to_do(place: Place) -> None:
    ran = place.install(path="/nowhere")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        "error: there is no npm: install it (on Debian and Ubuntu: apt install npm), and try again\n"
    )


def test_what_npm_cannot_install_is_named_and_leaves_nothing(place: Place) -> None:
    ran = place.install(BROKEN="codex")
    assert ran.returncode == 1
    assert (
        f"error: npm cannot install @openai/codex@{pins()['codex'].version}:\nno such package" in ran.stderr
    )
    assert not [name for name in place.inside if name.startswith((".", "codex"))]
    assert place.install().returncode == 0


def test_a_program_that_is_not_what_was_wanted_is_not_kept(place: Place) -> None:
    ran = place.install(SAYS="0.0.0")
    assert ran.returncode == 1
    assert f"error: node says no version {pins()['node'].version}, but: version 0.0.0" in ran.stderr
    assert place.inside == set()
