"""What tests of several rooms share: blessing of expectations, and a check as a user has it."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from materiac import pipeline
from materiac.cli.importing import follow
from materiac.cli.loading import bundled
from materiac.report.text import render

# A run in the background ignores Ctrl-C, and so would all that its tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The plugin of this project would play the scenarios in texts that are there to be read.
collect_ignore = ["corpus", "fuzz/corpus"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write what came out as what is expected")


@pytest.fixture(scope="session")
def bless(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--bless"))


@pytest.fixture(scope="session")
def checked() -> Callable[..., str]:
    """The text report on a file, by bytes and name, above the bundled loadouts and what it imports."""
    below = bundled()

    def report(raw: bytes, name: str = "loadout.json") -> str:
        texts = follow(pipeline.Text(name, raw), allow_outside=False)
        return render(pipeline.check([*below, *texts]), colour=False)

    return report
