"""What tests of several rooms share: blessing of expectations, and a check as a user has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from materiac import pipeline
from materiac.cli.importing import follow
from materiac.report.text import render
from materiac.resources import folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write what came out as what is expected")


@pytest.fixture(scope="session")
def bless(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--bless"))


@pytest.fixture(scope="session")
def checked() -> Callable[[bytes], str]:
    """The text report on a file, called `loadout.json`, above the bundled loadouts and its imports."""
    below = [
        pipeline.Text(str(path), path.read_bytes()) for path in sorted(folder("loadouts").glob("*.json"))
    ]

    def report(raw: bytes) -> str:
        texts = follow(pipeline.Text("loadout.json", raw), allow_outside=False)
        return render(pipeline.check([*below, *texts]), colour=False)

    return report
