"""State charts: elements, attributes and references that the W3C allows, and the way that they go."""

from __future__ import annotations

import shutil
from xml.etree import ElementTree as ET

import pytest
from chart_player import play
from recorded import Recorded, random, shipped
from samples import FEATURES, compiled, loadout, socket

from materiac.export import scxml

# From sections 3 to 6 of the recommendation: what may have which attributes, and what may be in what.
ATTRIBUTES: dict[str, set[str]] = {
    "scxml": {"initial", "name", "version", "datamodel", "binding"},
    "state": {"id", "initial"},
    "final": {"id"},
    "onentry": set(),
    "transition": {"event", "cond", "target", "type"},
    "datamodel": set(),
    "data": {"id", "src", "expr"},
    "assign": {"location", "expr"},
    "script": {"src"},
    "invoke": {"type", "typeexpr", "src", "srcexpr", "id", "idlocation", "namelist", "autoforward"},
    "param": {"name", "expr", "location"},
}
CHILDREN: dict[str, set[str]] = {
    "scxml": {"state", "final", "datamodel", "script"},
    "state": {"onentry", "transition", "state", "final", "datamodel", "invoke"},
    "onentry": {"assign", "script"},
    "transition": {"assign", "script"},
    "datamodel": {"data"},
    "invoke": {"param"},
}
NAMES = {
    "end": loadout(
        {"failed": socket(edges=[{"to": "a.route"}]), "a.route": socket(edges=[{"to": "a"}]), "a": socket()}
    ),
    "digits": loadout(
        {"1": socket(edges=[{"to": "_1"}]), "_1": socket(edges=[{"to": "-é"}]), "-é": socket()}
    ),
}
ALL = FEATURES | NAMES


def chart(name: str) -> ET.Element:
    text = scxml.render(compiled(ALL[name]))
    return ET.fromstring(text)  # noqa: S314 (made here)


def bare(element: ET.Element) -> str:
    assert element.tag.startswith(f"{{{scxml.NAMESPACE}}}")
    return element.tag.partition("}")[2]


@pytest.mark.parametrize("name", ALL)
def test_elements_and_attributes_are_those_of_the_recommendation(name: str) -> None:
    for element in chart(name).iter():
        kind = bare(element)
        assert element.attrib.keys() <= ATTRIBUTES[kind]
        assert {bare(child) for child in element} <= CHILDREN.get(kind, set())


@pytest.mark.parametrize("name", ALL)
def test_ids_are_names_given_once_and_targets_lead_to_states(name: str) -> None:
    root = chart(name)
    ids = [element.get("id", "") for element in root.iter() if element.get("id") is not None]
    assert len(ids) == len(set(ids))
    assert all(scxml._NAME.fullmatch(id_) for id_ in ids)
    states = {e.get("id"): e for e in root.iter() if bare(e) in ("state", "final")}
    for element in root.iter():
        if "target" in element.attrib:
            assert element.get("target") in states
        if bare(element) == "state" and "initial" in element.attrib:
            assert states[element.get("initial")] in list(element)
    assert root.get("initial") in states


def test_verdicts_are_conditions_and_budgets_are_counted() -> None:
    text = scxml.render(compiled(FEATURES["work"]))
    assert '<transition cond="verdict === true" target="build"' in text
    assert "&gt;= 2" in text


@pytest.mark.skipif(shutil.which("node") is None, reason="the datamodel is ECMAScript, which Node runs")
def test_charts_go_the_way_of_the_casts() -> None:
    recorded = [r for r in (*shipped(), *random(range(40))) if r.result["status"] != "waiting"]
    bounded = [r for r in recorded if r.kind not in ("stalled", "output", "output-limit")]
    assert len(bounded) > 10
    played = play([(scxml.render(r.image), r.outputs) for r in bounded])
    for one, result in zip(bounded, played, strict=True):
        assert (one.name, result["status"], result["path"]) == (one.name, *_went(one))
        assert result["state"].get("workItems") == one.result["data"].get("workItems"), one.name


def _went(recorded: Recorded) -> tuple[str, list[str]]:
    return recorded.result["status"], recorded.result["path"]
