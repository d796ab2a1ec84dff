"""What is said about an export: what the language has no words for, and nothing that is not there."""

from __future__ import annotations

import pytest
from samples import FEATURES, Json, compiled, loadout, socket, working

from materiac.export import FORMATS
from materiac.export.feature import features

ITEM_LOOP = working()


def kinds(config: Json) -> set[str]:
    return {feature.kind for feature in features(compiled(config))}


def test_a_loadout_without_anything_has_a_prompt_alone() -> None:
    assert kinds(FEATURES["hello"]) == {"prompts"}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("budget", {**loadout({"a": socket()}), "budget": {"maxTokens": 5}}),
        ("edge-budgets", ITEM_LOOP),
        ("item-budgets", ITEM_LOOP),
        ("loops", ITEM_LOOP),
        ("rework", ITEM_LOOP),
        ("stall-guard", ITEM_LOOP),
        ("multi-turn", FEATURES["scopes"]),
        ("tools", FEATURES["scopes"]),
        ("references", FEATURES["scopes"]),
        ("visit-limits", FEATURES["exits"]),
        ("output-limits", FEATURES["exits"]),
        ("properties", FEATURES["exits"]),
        ("timeouts", FEATURES["foreach"]),
        ("patches", FEATURES["foreach"]),
        ("assign", FEATURES["exits"]),
        ("handoff", ITEM_LOOP),
        ("repair", ITEM_LOOP),
    ],
)
def test_features_are_seen_where_they_are(kind: str, config: Json) -> None:
    assert kind in kinds(config)
    assert kind not in kinds(FEATURES["hello"])


def test_a_loss_names_the_places_and_not_too_many() -> None:
    many = loadout(
        {f"s{n}": socket(limits={"maxVisits": 2}, edges=[{"to": f"s{n + 1}"}]) for n in range(9)}
        | {"s9": socket()}
    )
    [loss] = [f.words for f in features(compiled(many)) if f.kind == "visit-limits"]
    assert loss == "the limits of visits of: 's0', 's1', 's2', 's3', 's4', 's5', 3 more"


@pytest.mark.parametrize("name", FORMATS)
def test_an_acyclic_program_of_one_agent_loses_no_more_than_its_prompt(name: str) -> None:
    losses = FORMATS[name].losses(compiled(FEATURES["hello"]))
    assert {loss.kind for loss in losses} <= {"prompts"}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("sample", FEATURES)
def test_every_sample_can_be_written_and_is_the_same_twice(name: str, sample: str) -> None:
    image = compiled(FEATURES[sample])
    assert FORMATS[name].write(image) == FORMATS[name].write(image) != ""
