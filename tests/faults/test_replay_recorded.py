"""What `materiac replay` says of the casts of the shipped loadouts, whatever the seed of hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from samples import SHIPPED, Json

WAITING = 4


def materiac(cwd: Path, seed: str, *words: str) -> bytes:
    finished = subprocess.run(
        [sys.executable, "-m", "materiac", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": seed, "HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd)},
        capture_output=True,
        check=False,
    )
    assert finished.returncode in (0, WAITING), finished.stderr.decode()
    return finished.stdout


def recorded(cwd: Path, file: Path) -> Json:
    """What `run --json` says of a cast that is complete; a talk is had first."""
    agent = ("--agent", "scripted:answers.json", "--json")
    ran: Json = json.loads(
        materiac(cwd, "7", "run", str(file), "--request", "greet", *agent, "--no-interactive")
    )
    if ran["status"] == "waiting":
        materiac(cwd, "7", "say", ran["castId"], "more of it", "--json")
    while ran["status"] == "waiting":
        ran = json.loads(materiac(cwd, "7", "continue", ran["castId"], "--json"))
    return ran


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_replay_is_the_same_under_two_seeds(file: Path, tmp_path: Path) -> None:
    script = file.parent / "scripts" / f"{file.stem}.agent.json"
    answers = script.read_text(encoding="utf-8") if script.exists() else '{"sockets": {}}'
    (tmp_path / "answers.json").write_text(answers, encoding="utf-8")
    ran = recorded(tmp_path, file)
    before = {path: path.read_bytes() for path in Path(ran["artifacts"]).rglob("*") if path.is_file()}
    told = [materiac(tmp_path, seed, "replay", ran["castId"], "--json") for seed in ("0", "1")]
    assert told[0] == told[1]
    replayed = json.loads(told[0])
    assert (replayed["status"], replayed["path"]) == ("complete", ran["path"])
    assert {path: path.read_bytes() for path in before} == before
