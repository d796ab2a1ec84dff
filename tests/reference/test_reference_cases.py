"""The interpreter keeps to the cases of the language, those that agents alone can play."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interpreter import Outcome, interpret

from materiac.runtime import handoff

CASES = Path(__file__).parent.parent / "conformance" / "cases"
FOLLOW_UP = "Runtime follow-up context"
Case = dict[str, Any]


def _playable() -> Iterator[Case]:
    """Sound cases in the forms of today whose loadout has no utility in it."""
    for file in sorted(CASES.glob("*.json")):
        case: Case = json.loads(file.read_text(encoding="utf-8"))
        loadouts = case.get("config", {}).get("loadouts")
        if case["expect"]["status"] == "invalid" or not loadouts:
            continue
        materia = case["config"]["materia"]
        used = [materia[socket["materia"]] for socket in loadouts[_chosen(case)]["sockets"].values()]
        if all(part.get("type", "agent") == "agent" for part in used):
            yield case


def _chosen(case: Case) -> str:
    loadouts, asked = case["config"]["loadouts"], case.get("loadout")
    return str(next(name for name, loadout in loadouts.items() if asked in (None, name, loadout.get("id"))))


PLAYABLE = list(_playable())


def test_most_cases_are_playable() -> None:
    assert len(PLAYABLE) > 80


@pytest.mark.parametrize("case", PLAYABLE, ids=lambda case: case["name"])
def test_case(case: Case) -> None:
    got = interpret(case["config"], _chosen(case), case.get("agent") or {}, _object)
    expect = {key: value for key, value in case["expect"].items() if key != "prompts"}
    have: Case = {key: getattr(got, key) for key in expect}
    if "data" in expect:
        have["data"] = {key: got.data[key] for key in expect["data"]}
    assert have == expect
    assert list(_misfits(case["expect"].get("prompts", {}), got)) == []


def _object(text: str) -> Case | None:
    """The object in an answer: how it is found is no matter of the interpreter."""
    try:
        return handoff.find_object(text)
    except handoff.HandoffError:
        return None


def _misfits(prompts: Case, got: Outcome) -> Iterator[str]:
    """What prompts should say of rework, and do not."""
    for visit, wanted in prompts.items():
        rework = got.rework.get(visit)
        said = "" if rework is None else "\n".join([FOLLOW_UP, *rework])
        yield from (f"{visit} has {text!r}" for text in wanted.get("lacks", []) if text in said)
        if FOLLOW_UP in wanted.get("has", []) or rework:
            yield from (f"{visit} lacks {text!r}" for text in wanted["has"] if text not in said)
