"""What is said of properties: the shortest way that breaks one, or nothing where every cast keeps it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from materiac import pipeline
from materiac.diagnostic import Severity
from materiac.report import as_json

MATERIA = """
materia Plan { generator prompt "p" }
materia Streams { generator parallel prompt "p" }
materia Do { parallelSafe prompt "p" }
materia Judge { parse json parallelSafe prompt "p" }
materia Patch { command ["true"] parse json }
materia Known { command ["true"] parse json writes [other] }
"""

REVIEW = "entry make make: Do -> look look: Judge satisfied -> ship not_satisfied -> make max 2 ship: Do"
ITEMS = """
entry plan
plan: Plan -> build
build: Do -> check
check: Judge advance workItemIndex over state.workItems satisfied -> build not_satisfied -> build max 1
tell: Do
loop work (build, check) over plan { exit check -> tell }
"""
EACH = "advance {0}Index over state.workItems"
LATER = ITEMS.replace(
    "tell: Do", f"tell: Do -> again again: Do -> again foreach state.workItems {EACH.format('again')}"
)
STREAMS = """
entry plan
plan: Streams -> prep
prep: Do -> build
build: Do -> check
check: Judge advance workItemIndex over state.workItems satisfied -> build not_satisfied -> build max 1
tell: Do
loop work (build, check) over plan { exit check -> tell }
"""
TWICE = f"""
entry plan
plan: Plan -> one
one: Do foreach state.workItems done send -> one {EACH.format("one")} done send
send: {{0}} -> two
two: Do foreach state.workItems -> two {EACH.format("two")}
"""
COUNTED = STREAMS.replace("prep: Do -> build", "prep: Do -> build max 1")
BODIES = {"counted": COUNTED, "review": REVIEW, "items": ITEMS, "later": LATER, "streams": STREAMS}


def said(body: str, *rules: str, cycles: int = 3) -> list[tuple[Severity, str]]:
    """What is found of properties in a loadout."""
    text = f"limits {{ maxNoAdvanceCycles {cycles} }} loadout L {{ {body} {' '.join(rules)} }} {MATERIA}"
    located = pipeline.check([pipeline.Text("l.materia", text.encode())])
    errors = [part.finding for part in located if part.finding.severity is Severity.ERROR]
    assert {finding.rule for finding in errors} <= {"broken-property"}, errors
    return [(f.severity, f.message) for f in errors] + [
        (part.finding.severity, part.finding.message)
        for part in located
        if part.finding.rule == "broken-property" and part.finding not in errors
    ]


def way(body: str, rule: str, cycles: int = 3) -> str | None:
    """The way that breaks a property, without quotation marks; None where none does."""
    found = said(body, rule, cycles=cycles)
    if not found:
        return None
    ((severity, message),) = found
    assert severity is Severity.ERROR
    return message.rpartition(" a cast may go ")[2].replace("'", "")


@pytest.mark.parametrize(
    ("body", "rule", "expected"),
    [
        ("review", "never ship before look", None),
        ("review", "never look before ship", "make → look"),
        ("review", "never ship before end", "make → look → ship"),
        ("review", "never end before look", None),
        ("review", "every path make to ship passes look", None),
        ("review", "every path look to look passes ship", "make → look → make → look"),
        ("review", "after every look comes ship", None),
        ("review", "after every ship comes look", "make → look → ship → end"),
        ("review", "at most 3 of make between make and ship", None),
        ("review", "at most 2 of make between make and ship", "make → look → make → look → make"),
        ("review", "at most 0 of ship between make and end", "make → look → ship"),
        ("items", "every path plan to tell passes build", "plan → (empty: loop work) → tell"),
        ("items", "every path build to tell passes check", None),
        ("items", "at most 2 of build between plan and check", None),
        ("items", "at most 1 of build between tell and end", None),
        ("later", "never again before build", None),
        ("later", "every path build to end passes again", None),
        ("streams", "at most 1 of prep between plan and end", "plan → prep → build → check → prep"),
        (
            "counted",
            "at most 2 of prep between plan and end",
            "plan → prep → build → check → prep → build → check → prep",
        ),
        ("streams", "never prep before build", "plan → prep"),
        ("streams", "every path prep to tell passes check", None),
        ("streams", "every path check to prep passes plan", None),
        ("streams", "every path plan to tell passes prep", "plan → (empty: loop work) → tell"),
    ],
)
def test_the_shortest_way_is_shown(body: str, rule: str, expected: str | None) -> None:
    assert way(BODIES[body], rule) == expected


@pytest.mark.parametrize(
    ("materia", "is_broken"), [("Patch", True), ("Known", False), ("Do", False), ("Plan", True)]
)
def test_who_may_send_another_list(materia: str, *, is_broken: bool) -> None:
    # The lists of both are one, so it is empty for both or for none, but for what is sent between.
    assert (way(TWICE.format(materia), "never two before one") is not None) is is_broken


def test_what_the_stall_guard_allows_is_no_more_than_that() -> None:
    body = "entry a a: Do -> b b: Judge satisfied -> end not_satisfied -> a"
    rules = {
        cycles: [way(body, f"at most {n} of a between a and end", cycles) for n in range(1, 8)]
        for cycles in (0, 3)
    }
    broken = {cycles: sum(found is not None for found in ways) for cycles, ways in rules.items()}
    assert broken == {0: 0, 3: 3}


def test_branches_in_a_cycle_that_the_stall_guard_ends_are_no_trouble() -> None:
    parts = [
        f"a{n}: Judge satisfied -> b{n} not_satisfied -> c{n} b{n}: Do -> a{n + 1} c{n}: Do -> a{n + 1}"
        for n in range(30)
    ]
    body = f"entry a0 {' '.join(parts)} a30: Judge satisfied -> end not_satisfied -> a0"
    assert way(body, "at most 4 of a0 between a0 and end") is None
    assert way(body, "at most 3 of a0 between a0 and end") is not None


def test_what_is_too_much_to_look_at_is_bounded() -> None:
    body = "entry a a: Judge satisfied -> end not_satisfied -> a max 90000"
    assert said(body, "at most 90001 of a between a and end") == []
    assert [severity for severity, _ in said(body, "at most 80000 of a between a and end")] == [
        Severity.WARNING
    ]


def test_what_is_not_found_out_is_a_warning() -> None:
    """Each socket may send the work back twice: who does so when has too many answers to try them all."""
    sockets = [f"s{n}: Judge satisfied -> s{n + 1} not_satisfied -> s0 max 2" for n in range(60)]
    ((severity, message),) = said(
        f"entry s0 {' '.join(sockets)} s60: Do", "at most 100 of s0 between s0 and end"
    )
    assert severity is Severity.WARNING
    words = "at most 100 of 's0' between 's0' and 'end' cannot be proved: there are too many ways to look at"
    assert message == words


def test_the_order_of_a_file_does_not_matter() -> None:
    data = json.loads(SHUFFLED)
    seen = set()
    for seed in range(50):
        mixed = shuffled(data, random.Random(seed))  # noqa: S311 (no secret depends on it)
        located = pipeline.check([pipeline.Text("l.json", json.dumps(mixed).encode())])
        seen.add(tuple(sorted((part.finding.rule, part.finding.message) for part in located)))
    assert len(seen) == 1
    assert sum(rule == "broken-property" for rule, _ in seen.pop()) == 2


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same value, with the keys of its objects in another order."""
    if isinstance(value, list):
        return [shuffled(entry, chance) for entry in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    chance.shuffle(keys)
    return {key: shuffled(value[key], chance) for key in keys}


SHUFFLED = """
{
  "loadouts": {
    "L": {
      "entry": "a",
      "sockets": {
        "a": { "materia": "J", "edges": [
          { "when": "satisfied", "to": "b" },
          { "when": "not_satisfied", "to": "c" }
        ] },
        "b": { "materia": "M", "edges": [{ "to": "d" }] },
        "c": { "materia": "M", "edges": [{ "to": "d" }] },
        "d": { "materia": "J", "edges": [
          { "when": "satisfied", "to": "end" },
          { "when": "not_satisfied", "to": "a", "maxTraversals": 2 }
        ] }
      },
      "properties": [
        { "at most": 2, "of": "d", "between": ["a", "end"] },
        { "never": "d", "before": "b" },
        { "every path": ["b", "end"], "passes": "d" }
      ]
    }
  },
  "materia": { "M": { "prompt": "p" }, "J": { "prompt": "p", "parse": "json" } }
}
"""


def test_unknown_names_are_looked_for() -> None:
    entry = {"entry": "make", "sockets": {"make": {"materia": "M"}}}
    names = {"never": "meke", "before": "make"}, {"at most": 1, "of": "make", "between": ["make", "ned"]}
    data = {"loadouts": {"L": {**entry, "properties": names}}, "materia": {"M": {"prompt": "p"}}}
    found = [part.finding for part in pipeline.check([pipeline.Text("l.json", json.dumps(data).encode())])]
    assert [(f.rule, f.message, f.at[3:], f.help) for f in found] == [
        (
            "unknown-target",
            "a property names 'meke', which is no socket",
            (0, "never"),
            "did you mean 'make'?",
        ),
        (
            "unknown-target",
            "a property names 'ned', which is no socket",
            (1, "between", 1),
            "did you mean 'end'?",
        ),
    ]


def test_a_long_way_is_whole_for_programs() -> None:
    row = " ".join(f"s{i}: Do -> s{i + 1}" for i in range(30))
    text = f"loadout L {{ entry s0 {row} s30: Do never s30 before stray stray: Do -> s0 }} {MATERIA}"
    found = pipeline.check([pipeline.Text("l.materia", text.encode())])
    (broken,) = [part.finding for part in found if part.finding.rule == "broken-property"]
    assert "…" in broken.message
    shown = json.loads(as_json.render(found))["findings"]
    (whole,) = [part["way"] for part in shown if part["rule"] == "broken-property"]
    assert whole == [{"socket": f"s{i}"} for i in range(31)]
    assert all("way" not in part for part in shown if part["rule"] != "broken-property")


def test_empty_loops_and_the_end_are_steps() -> None:
    text = f"loadout L {{ {ITEMS} never end before build }} {MATERIA}"
    found = pipeline.check([pipeline.Text("l.materia", text.encode())])
    (broken,) = [part.finding for part in found if part.finding.rule == "broken-property"]
    steps = [("socket", "plan"), ("empty", "work"), ("socket", "tell"), ("socket", "end")]
    assert [tuple(step) for step in broken.way] == steps
