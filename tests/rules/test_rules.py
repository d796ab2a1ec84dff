"""The list of rules, and which of them look at what."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from materiac import pipeline
from materiac.rules import RULES
from materiac.rules.rule import Rule, Stage


def found(sockets: dict[str, Any]) -> set[str]:
    """The rules that a loadout of these sockets breaks."""
    materia = {"Plain": {"prompt": "p"}, "Odd": {"prompt": "p", "tools": 1}}
    data = {"loadouts": {"L": {"entry": "a", "sockets": sockets}}, "materia": materia}
    located = pipeline.check([pipeline.Text("loadout.json", json.dumps(data).encode())])
    return {part.finding.rule for part in located}


ALONE = {"materia": "Plain"}


@pytest.mark.parametrize(
    ("sockets", "rules"),
    [
        ({"a": ALONE, "b": ALONE}, {"unreachable-socket"}),
        ({"a": {**ALONE, "edges": [{"to": "x"}]}, "b": ALONE}, {"unknown-target"}),
        (
            {"a": {**ALONE, "parse": 1, "edges": [{"to": "x"}]}, "b": ALONE},
            {"invalid-value", "unknown-target"},
        ),
        ({"a": {"materia": "Plan"}, "b": ALONE}, {"unknown-materia", "unreachable-socket"}),
        ({"a": {**ALONE, "edges": [{"to": "b"}]}, "b": {"materia": "Odd"}, "c": ALONE}, {"invalid-value"}),
        ({"a": {**ALONE, "edges": [{"to": "b"}]}, "b": 1}, {"invalid-value"}),
    ],
    ids=[
        "sound names",
        "an error in names hides the meaning",
        "one in the shape hides no names",
        "an unknown materia hides nothing",
        "a materia without a shape is not unknown",
        "nor is a socket without one",
    ],
)
def test_what_is_looked_at(sockets: dict[str, Any], rules: set[str]) -> None:
    assert found(sockets) >= rules
    assert found(sockets) - {"invalid-value"} == rules - {"invalid-value"}


def test_names_are_in_kebab_case_and_once() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_summary_is_a_line_without_a_full_stop(rule: Rule) -> None:
    assert re.fullmatch(r"[^\n]{10,80}[^.]", rule.summary)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_of_the_shape_have_no_check_of_their_own(rule: Rule) -> None:
    looks = rule.check is not None or rule.check_file is not None
    assert looks == (rule.stage is not Stage.SHAPE and rule.name != "unknown-loadout")
