"""Which findings a suppression takes away, and what is said of those that take nothing away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from samples import AGENT, STEP, Json, loadout, socket

from materiac import formatting
from materiac.diagnostic import Severity
from materiac.pipeline import Checked, Text, compile_loadout, examine
from materiac.rules import RULES
from materiac.source import Language

Way = tuple[str | int, ...]

EDGE: Way = ("loadouts", "L", "sockets", "b", "edges", 1)
SOCKET: Way = EDGE[:4]
LOADOUT: Way = EDGE[:2]
ITERATOR: Json = {"items": "state.workItems"}
STEPPING = socket(advance=STEP, edges=[{"to": "b"}])


def ignoring(*rules: str, reason: str = "known") -> Json:
    return {"ignore": [{"rule": rule, "reason": reason} for rule in rules]}


def unbounded(**marks: Any) -> Json:
    """A loadout with a cycle that only the stall guard ends, said of the second edge of `b`."""
    back = {"when": "not_satisfied", "to": "a"}
    edges = [{"when": "satisfied", "to": "end"}, back]
    return loadout({"a": socket(edges=[{"to": "b"}]), "b": socket(parse="json", edges=edges)}, **marks)


def marked(data: Json, at: Sequence[str | int], mark: Any) -> Json:
    """The data with a mark on the object at a pointer."""
    copy: Json = json.loads(json.dumps(data))
    value: Any = copy
    for part in at:
        value = value[part]
    value["x-materiac"] = mark
    return copy


def looked(data: Json, language: Language = "json", asked: str | None = None) -> Checked:
    return examine([Text("x", formatting.written(data, language).encode(), language=language)], asked)


def names(checked: Checked) -> list[str]:
    return sorted(part.finding.rule for part in checked.findings)


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize("at", [EDGE, SOCKET, LOADOUT], ids=["edge", "socket", "loadout"])
def test_a_finding_within_a_part_is_suppressed(at: Way, language: Language) -> None:
    assert names(looked(unbounded(), language)) == ["unbounded-loop"]
    checked = looked(marked(unbounded(), at, ignoring("unbounded-loop")), language)
    assert names(checked) == []
    assert [part.finding.rule for part in checked.suppressed] == ["unbounded-loop"]


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        pytest.param((*SOCKET, "edges", 0), "unbounded-loop", id="another edge"),
        pytest.param((*SOCKET[:-1], "a"), "unbounded-loop", id="another socket"),
        pytest.param(("materia", "Agent"), "unbounded-loop", id="the materia"),
        pytest.param(EDGE, "missing-route", id="another rule"),
    ],
)
@pytest.mark.parametrize("language", ["json", "dsl"])
def test_elsewhere_it_stays(at: Way, rule: str, language: Language) -> None:
    checked = looked(marked(unbounded(), at, ignoring(rule)), language)
    assert names(checked) == ["unbounded-loop", "unused-suppression"]
    assert checked.suppressed == ()


@pytest.mark.parametrize(
    ("data", "at", "rule"),
    [
        pytest.param(
            loadout({"a": socket()}, materia={"A": {**AGENT, "tools": {"type": "custom", "tools": ["x"]}}}),
            ("materia", "A"),
            "unknown-tool",
            id="a materia that no socket uses",
        ),
        pytest.param(
            loadout({"a": socket(), "b": STEPPING}, loops={"l": {"sockets": ["b"], "iterator": ITERATOR}}),
            ("loadouts", "L", "loops", "l"),
            "unreachable-loop",
            id="a loop",
        ),
        pytest.param(
            loadout(
                {"a": socket(edges=[{"to": "b"}]), "b": socket()},
                properties=[{"never": "b", "before": "end"}],
            ),
            ("loadouts", "L", "properties", 0),
            "broken-property",
            id="a property",
        ),
        pytest.param(
            {"loadouts": {"L": {"entry": "a", "sockets": {"a": {"prompt": "x"}}}}},
            ("loadouts", "L", "sockets", "a"),
            "legacy-form",
            id="a socket in an early form",
        ),
        pytest.param(
            {"pipeline": {"entry": "a", "sockets": {"a": {"prompt": "x"}}}},
            ("pipeline",),
            "legacy-form",
            id="a loadout in an early form, by its key",
        ),
    ],
)
def test_what_can_carry_one(data: Json, at: Way, rule: str) -> None:
    before = [part.finding.rule for part in looked(data).findings]
    checked = looked(marked(data, at, ignoring(rule)))
    assert rule in before
    assert rule not in names(checked)
    assert "unused-suppression" not in names(checked)


def test_of_two_the_inner_one_counts() -> None:
    both = marked(marked(unbounded(), EDGE, ignoring("unbounded-loop")), LOADOUT, ignoring("unbounded-loop"))
    (unused,) = looked(both).findings
    assert unused.finding.rule == "unused-suppression"
    assert unused.finding.at == (*LOADOUT, "x-materiac", "ignore", 0)


def test_of_two_in_one_place_the_first_counts() -> None:
    (unused,) = looked(marked(unbounded(), EDGE, ignoring("unbounded-loop", "unbounded-loop"))).findings
    assert unused.finding.at == (*EDGE, "x-materiac", "ignore", 1)


def test_one_may_suppress_many_findings() -> None:
    sockets = {"a": socket(), "b": socket(), "c": socket()}
    checked = looked(marked(loadout(sockets), LOADOUT, ignoring("unreachable-socket")))
    assert names(checked) == []
    assert len(checked.suppressed) == 2


KNOWN = {"rule": "unbounded-loop", "reason": "known"}


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        pytest.param({"ignore": {}}, "'ignore' is no list of suppressions", id="no list"),
        pytest.param({"ignore": ["unbounded-loop"]}, "an entry of 'ignore' names no rule", id="no object"),
        pytest.param({"ignore": [{"reason": "x"}]}, "an entry of 'ignore' names no rule", id="no rule"),
        pytest.param(
            {"ignore": [{"rule": "unbounded-loop"}]},
            "nothing says why 'unbounded-loop' is ignored here",
            id="no reason",
        ),
        pytest.param(
            {"ignore": [{**KNOWN, "reason": " \t"}]},
            "nothing says why 'unbounded-loop' is ignored here",
            id="a blank reason",
        ),
        pytest.param(
            {"ignore": [{**KNOWN, "reason": 3}]},
            "nothing says why 'unbounded-loop' is ignored here",
            id="a reason that is no text",
        ),
        pytest.param(
            {"ignore": [{**KNOWN, "until": "x"}]}, "unknown key 'until' in a suppression", id="another key"
        ),
        pytest.param(
            {"ignore": [{**KNOWN, "rule": "unbounded-lop"}]},
            "there is no rule 'unbounded-lop'",
            id="no such rule",
        ),
        pytest.param(
            {"ignore": [{**KNOWN, "rule": "dead-edge"}]},
            "'dead-edge' cannot be ignored: no cast could run with it",
            id="an error",
        ),
        pytest.param(
            {"ignore": [{**KNOWN, "rule": "unused-suppression"}]},
            "'unused-suppression' cannot be ignored: it is about suppressions",
            id="of itself",
        ),
    ],
)
def test_one_that_cannot_count(mark: Json, message: str) -> None:
    checked = looked(marked(unbounded(), EDGE, mark))
    assert names(checked) == ["invalid-suppression", "unbounded-loop"]
    assert [part.finding.message for part in checked.findings if part.finding.rule.startswith("inv")] == [
        message
    ]


@pytest.mark.parametrize("at", [(), ("limits",), ("loadouts", "L", "loops", "l", "exits", 0)])
def test_where_none_can_stand(at: Way) -> None:
    loops = {"l": {"sockets": ["a"], "exits": [{"from": "a", "targetSocketId": "end"}]}}
    data = loadout({"a": socket()}, loops=loops, limits={})
    assert names(looked(marked(data, at, ignoring("unbounded-loop")))) == ["invalid-suppression"]


def test_other_marks_are_left_alone() -> None:
    params = {"x-materiac": {"ignore": 1}}
    materia = {"U": {"type": "utility", "utility": "echo", "params": params}}
    data = loadout({"a": {"materia": "U", "x-materiac": {"note": 1}}}, materia=materia)
    assert names(looked(data)) == []


@pytest.mark.parametrize("reason", ["a # in it", "Grüße 🙂", 'a "quote"', "]"])
def test_reasons_in_both_languages(reason: str) -> None:
    data = marked(unbounded(), EDGE, ignoring("unbounded-loop", reason=reason))
    assert names(looked(data, "json")) == names(looked(data, "dsl")) == []


# Errors.

NEVER_ENDS = loadout({"a": socket(edges=[{"to": "a", "maxTraversals": 2}])})


def test_a_tolerable_error_can_be_suppressed_and_the_cast_runs() -> None:
    raw = json.dumps(NEVER_ENDS).encode()
    assert compile_loadout([Text("x", raw)]).image is None
    raw = json.dumps(marked(NEVER_ENDS, LOADOUT, ignoring("never-ends"))).encode()
    compiled = compile_loadout([Text("x", raw)])
    assert compiled.image is not None
    assert not any(part.finding.severity is Severity.ERROR for part in compiled.findings)


def test_which_errors_are_tolerable() -> None:
    tolerable = {rule.name for rule in RULES if rule.severity is Severity.ERROR and rule.may_be_suppressed}
    assert tolerable <= {"broken-property", "never-ends", "secret-literal", "undefined-state"}
    assert "never-ends" in tolerable


# What is not said to be unused.


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        pytest.param(
            {"sockets": {"a": socket(edges=[{"to": "nowhere"}])}}, None, id="beside an error of names"
        ),
        pytest.param({"entry": 3}, None, id="beside an error of shape"),
        pytest.param({}, "M", id="in a loadout that nobody looked at"),
    ],
)
def test_not_judged(change: Json, asked: str | None) -> None:
    data = marked(loadout({"a": socket()}), LOADOUT, ignoring("unbounded-loop"))
    data["loadouts"]["L"] |= change
    data["loadouts"]["M"] = {"entry": "a", "sockets": {"a": socket()}}
    assert "unused-suppression" not in names(looked(data, asked=asked))


def test_a_materia_that_nobody_uses_is_not_judged_by_what_its_use_would_show() -> None:
    of_use = next(rule.name for rule in RULES if rule.check is not None and rule.may_be_suppressed)
    data = {"materia": {"A": {**AGENT, "x-materiac": ignoring(of_use)}}}
    assert names(looked(data)) == []
    data = {"materia": {"A": {**AGENT, "x-materiac": ignoring("legacy-form")}}}
    assert names(looked(data)) == ["unused-suppression"]


def test_layers_below_are_not_judged_and_do_not_suppress() -> None:
    below = json.dumps(marked(unbounded(), LOADOUT, ignoring("unbounded-loop", "missing-route"))).encode()
    above = json.dumps(unbounded()).encode()
    checked = examine([Text("below", below), Text("above", above)])
    assert names(checked) == ["unbounded-loop"]


def test_compiling_judges_the_loadout_that_runs_alone() -> None:
    data = unbounded()
    data["loadouts"]["M"] = {
        "entry": "a",
        "sockets": {"a": socket()},
        "x-materiac": ignoring("missing-route"),
    }
    compiled = compile_loadout([Text("x", json.dumps(data).encode())], "L")
    assert [part.finding.rule for part in compiled.findings] == ["unbounded-loop"]
    compiled = compile_loadout([Text("x", json.dumps(data).encode())], "M")
    assert [part.finding.rule for part in compiled.findings] == ["unused-suppression"]


@pytest.mark.parametrize(
    ("comment", "help_"),
    [
        pytest.param("# materiac: ignore[dead-edge, x] why", "write '# materiac: ignore[", id="no directive"),
        pytest.param("## materiac: ignore[dead-edge] why", "write '# materiac: ignore[", id="almost one"),
        pytest.param("# materiac: ignore[dead-edge] why", "it stands before a socket", id="at no statement"),
    ],
)
def test_a_directive_that_says_nothing_keeps_no_file_from_being_read(comment: str, help_: str) -> None:
    text = f'loadout L {{ a: A }}\nmateria A {{ prompt "x" }}\n{comment}'
    checked = examine([Text("x.materia", text.encode())])
    assert names(checked) == ["invalid-suppression", "missing-entry"]
    (wrong,) = (part for part in checked.findings if part.finding.rule == "invalid-suppression")
    assert wrong.finding.severity is Severity.WARNING
    assert wrong.help is not None
    assert wrong.help.startswith(help_)
    assert wrong.place is not None
    assert text[slice(*wrong.place.span)] == comment
    assert compile_loadout([Text("x.materia", text.encode())]).image is not None
