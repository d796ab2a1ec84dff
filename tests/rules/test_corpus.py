"""Whole files: those in `ok` are silent, those in `err` have the report on them beside them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from materiac import pipeline
from materiac.diagnostic import Located

CORPUS = Path(__file__).parents[1] / "corpus"
OK = sorted((CORPUS / "ok").glob("*.json"))
ERR = sorted((CORPUS / "err").glob("*.json"))


@pytest.mark.parametrize("path", OK, ids=lambda path: path.stem)
def test_sound_file_is_silent(path: Path, checked: Callable[[bytes], str]) -> None:
    assert checked(path.read_bytes()) == ""


@pytest.mark.parametrize("path", ERR, ids=lambda path: path.stem)
def test_report_on_a_file_with_faults(path: Path, checked: Callable[[bytes], str], *, bless: bool) -> None:
    report = checked(path.read_bytes())
    assert report
    expected = path.with_suffix(".txt")
    if bless:
        expected.write_text(report, encoding="utf-8")
    assert report == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ERR, ids=lambda path: path.stem)
def test_findings_do_not_depend_on_the_order_of_sockets(path: Path) -> None:
    data = json.loads(path.read_bytes())
    written = _findings(data)
    for seed in range(3):
        for loadout in data["loadouts"].values():
            loadout["sockets"] = _shuffled(loadout["sockets"], seed)
        assert _findings(data) == written


def _shuffled(sockets: dict[str, Any], seed: int) -> dict[str, Any]:
    chance = random.Random(seed)  # noqa: S311 (an order, no secret)
    return dict(chance.sample(list(sockets.items()), k=len(sockets)))


def _findings(data: Any) -> list[str]:
    found = pipeline.check([pipeline.Text("loadout.json", json.dumps(data).encode())])
    return sorted(map(_without_place, found))


def _without_place(located: Located) -> str:
    """Pointers do not say in which order keys are written."""
    return repr(located.finding)
