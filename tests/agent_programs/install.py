"""Install the agent programs that tests run into a cache, each in a folder of its own.

    python tests/agent_programs/install.py

The cache is `$MATERIAC_AGENT_CACHE`, else `~/.cache/materiac-agents`. Its folder `bin` has a link to each
program, and the Node that they run on. What is there is left alone. This file needs nothing but Python and
npm, so that it can run before anything else is installed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CACHE: Final = Path(os.environ.get("MATERIAC_AGENT_CACHE") or Path.home() / ".cache" / "materiac-agents")
BIN: Final = CACHE / "bin"

_TRIES: Final = 3
_AT_ONCE: Final = 2
_LONG_S: Final = 600.0


class InstallError(Exception):
    """A program could not be installed."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A program at a version: the package it is in, and what it is called there."""

    name: str
    package: str
    version: str
    command: str

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name.partition('-')[0]}-{self.version}"

    @property
    def target(self) -> Path:
        return self.folder / "node_modules" / ".bin" / self.command

    @property
    def link(self) -> Path:
        """Where the program is called."""
        return BIN / self.name

    @property
    def here(self) -> bool:
        """Whether this very version is installed, and the link leads to it."""
        return self.link.exists() and self.link.resolve() == self.target.resolve()


def pins() -> dict[str, Pin]:
    """The programs by name; Node, which the others run on, is the first."""
    text = Path(__file__).with_name("programs.toml").read_text(encoding="utf-8")
    return {name: Pin(name, **fields) for name, fields in tomllib.loads(text).items()}


def main() -> int:
    node, *others = pins().values()
    try:
        if not all(pin.here for pin in (node, *others)):
            _check_machine()
        _install(node)
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(_install, others))
    except InstallError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for pin in (node, *others):
        print(f"{pin.name:<9} {pin.version:<9} {pin.link}")
    return 0


def _check_machine() -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise InstallError("the versions of the agent programs are those for Linux on x86-64")
    if shutil.which("npm") is None:
        raise InstallError(
            "there is no npm: install it (on Debian and Ubuntu: apt install npm), and try again"
        )


def _install(pin: Pin) -> None:
    if pin.here:
        return
    if not pin.target.exists():
        print(f"installing {pin.package}@{pin.version} …", flush=True)
        _fetch(pin)
    BIN.mkdir(exist_ok=True)
    new = BIN / f".{pin.name}.{os.getpid()}"
    new.symlink_to(os.path.relpath(pin.target, BIN))
    new.replace(pin.link)


def _fetch(pin: Pin) -> None:
    """Install into a folder beside the right one and move it there whole: half a program is none."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix=f".{pin.name}.") as scratch:
        folder = Path(scratch) / "program"
        folder.mkdir()
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        _npm_install(pin, folder)
        _check_version(pin, folder / "node_modules" / ".bin" / pin.command, scratch)
        if not pin.folder.exists():
            folder.rename(pin.folder)


def _npm_install(pin: Pin, folder: Path) -> None:
    options = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    command = ["npm", "install", *options, f"{pin.package}@{pin.version}"]
    for _ in range(_TRIES):
        ran = _run(command, folder, os.environ)
        if ran.returncode == 0:
            return
    raise InstallError(f"npm cannot install {pin.package}@{pin.version}:\n{ran.stdout}{ran.stderr}")


def _check_version(pin: Pin, program: Path, home: str) -> None:
    """Some packages install without a word where what they fetch afterwards did not come."""
    ran = _run([str(program), "--version"], Path(home), {"HOME": home, "LANG": "C.UTF-8"})
    if pin.version not in ran.stdout + ran.stderr:
        raise InstallError(f"{pin.name} says no version {pin.version}, but: {ran.stdout}{ran.stderr}")


def _run(command: list[str], folder: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])
    environ = {**environ, "PATH": path, "PWD": str(folder)}
    return subprocess.run(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=_LONG_S,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
