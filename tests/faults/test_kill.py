"""Casts that are killed for real, wherever they write: what goes on ends like a cast that nothing befell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from world import LOG, SAMPLES, log

WAITING = 4
HERE = Path(__file__).parent


def killed(folder: Path, **order: Any) -> int:
    """Have casts killed as `killing` is told to; gives how many were."""
    finished = subprocess.run(
        [sys.executable, str(HERE / "killing.py"), json.dumps(order | {"folder": str(folder)})],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["points"] > 300
    assert found["faults"] == []
    return int(found["killed"])


@pytest.mark.parametrize("sample", SAMPLES)
def test_killed_here_and_there(sample: str, tmp_path: Path) -> None:
    assert killed(tmp_path, sample=sample, part=1, parts=2, stride=43) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1])
def test_killed_at_every_point(part: int, tmp_path: Path) -> None:
    """Before, after and in the midst of every write, between asking and writing down what was answered."""
    assert killed(tmp_path, sample="long", part=part, parts=2, stride=1) > 200


@pytest.mark.slow
@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "long"])
def test_killed_at_many_points(sample: str, tmp_path: Path) -> None:
    assert killed(tmp_path, sample=sample, part=0, parts=1, stride=31) > 10


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_killed_again_while_it_goes_on(sample: str, tmp_path: Path) -> None:
    assert killed(tmp_path, sample=sample, part=1, parts=3, stride=61, again=47) > 6


def materiac(cwd: Path, *words: str) -> int:
    command = [sys.executable, "-m", "materiac", *words, "--json"]
    return subprocess.run(command, cwd=cwd, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    ("harmless", "codes", "runs"),
    [
        pytest.param(False, [WAITING, WAITING], 1, id="not idempotent"),
        pytest.param(True, [0], 2, id="idempotent"),
    ],
)
def test_a_command_that_kills_its_cast(harmless: bool, codes: list[int], runs: int, tmp_path: Path) -> None:
    """It has been started and nobody knows what it did: by itself it runs again only if that does no harm."""
    script = f"echo ran >> {LOG}; [ -e done ] || {{ touch done; kill -9 $PPID; }}; echo fine"
    utility = {"command": ["sh", "-c", script], "idempotent": harmless}
    sockets = {"work": {"materia": "Work"}}
    config = {"loadouts": {"L": {"entry": "work", "sockets": sockets}}, "materia": {"Work": utility}}
    (tmp_path / "loadout.json").write_text(json.dumps(config), encoding="utf-8")
    assert materiac(tmp_path, "run", "loadout.json", "--request", "r") == -signal.SIGKILL
    assert [materiac(tmp_path, "resume") for _ in codes] == codes
    assert log(tmp_path) == ["ran"] * runs
    if not harmless:
        assert materiac(tmp_path, "resume", "--rerun") == 0
        assert log(tmp_path) == ["ran", "ran"]
