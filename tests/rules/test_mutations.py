"""Sound loadouts, damaged in the way that a rule is for: the rule finds it, there, and nothing else does."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from random import Random

import damage_data
import damage_loops
import damage_names
import damage_text
import pytest
from damage import Case, check, damaged
from sound_loadouts import Sound, sound

from materiac.resources import folder
from materiac.rules import RULES

DAMAGES = {
    **damage_text.DAMAGES,
    **damage_names.DAMAGES,
    **damage_loops.DAMAGES,
    **damage_data.DAMAGES,
}
SEEDS = range(20)

LOOP = {"plan": "plan", "work build": "build", "work check": "check", "tell": "report"}
SHIPPED: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "full-auto.json": ({"work build": "build", "tell": "narrate"}, {}),
    "templates/plan-build-check.json": (LOOP, {}),
    "templates/parallel.json": (
        {"split": "plan", "streams build": "build", "streams check": "check", "tell": "report"},
        {"streams": "work", "work": "none", "rooms": "none"},
    ),
    "templates/review-loop.json": ({"aside": "write", "review": "review"}, {}),
    "text-consumption.json": ({"first": "narrate", "count": "consume"}, {}),
    "hello-utility.json": ({"count": "greet"}, {}),
}
"""What ships, with the names of what a sound loadout has."""

EVERYWHERE = frozenset(
    {"syntax", "encoding", "duplicate-key", "unknown-key", "legacy-form", "import-missing"}
)


@lru_cache(maxsize=len(SEEDS))
def _sound(seed: int) -> Sound:
    return sound(seed)


def _shipped(name: str) -> Sound:
    roles, loops = SHIPPED[name]
    config = json.loads((folder("loadouts") / name).read_text(encoding="utf-8"))
    return Sound(config, roles, Random(name), loops)  # noqa: S311 (no secret depends on it)


def test_every_rule_has_its_damage() -> None:
    assert DAMAGES.keys() == {rule.name for rule in RULES}


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_found_before(seed: int) -> None:
    assert check(Case(_sound(seed))) == ()


@pytest.mark.parametrize("rule", DAMAGES)
def test_damage_is_found(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in SEEDS:
        damaged(rule, DAMAGES[rule], _sound(seed))


@pytest.mark.parametrize("name", SHIPPED)
def test_damage_to_what_ships_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as it has what is damaged."""
    monkeypatch.chdir(tmp_path)
    done = set()
    for rule, damage in DAMAGES.items():
        try:
            damaged(rule, damage, _shipped(name))
        except LookupError:  # there is no such socket
            continue
        done.add(rule)
    assert done >= EVERYWHERE
