"""The real agent programs, where `make agents` has installed them, pointed at fake models.

pi = program("pi")
with FakeModels(["done"]) as fake:
    run([*pi.argv, "-p"], env=aim(pi.name, fake, tmp_path / "home"), …)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from agent_programs.aim import KEY, aim
from agent_programs.install import BIN, pins

__all__ = ["BIN", "KEY", "NAMES", "Program", "aim", "program"]

NAMES: Final = tuple(name for name in pins() if name != "node")


@dataclass(frozen=True, slots=True)
class Program:
    """An installed program. It needs the folder `BIN` in its PATH, as `aim` gives it, for its Node."""

    name: str
    version: str
    path: Path

    @property
    def argv(self) -> tuple[str, ...]:
        return (str(self.path),)


def program(name: str) -> Program:
    """An installed program; without it the test is skipped, or fails where all have to be there.

    All have to be there where `REQUIRE_AGENT_PROGRAMS` is 1.
    """
    pin = pins()[name]
    if not pin.here:
        reason = f"{name} {pin.version} is not installed: run make agents"
        if os.environ.get("REQUIRE_AGENT_PROGRAMS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return Program(name, pin.version, pin.link)
