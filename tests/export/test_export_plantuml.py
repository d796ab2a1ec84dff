"""State diagrams in PlantUML: every node and arrow, boxes that close, texts that are only texts."""

from __future__ import annotations

import re

import pytest
from samples import FEATURES, compiled, loadout, socket

from materiac.export import plantuml
from materiac.render import diagram

STATE = re.compile(r'^ *state "[^"\n]*" as (\w+)( #line:\w+)?( \{)?$')
ARROW = re.compile(r"^(\[\*\]|\w+) (-->|-\[\w+\]->) (\[\*\]|\w+)( : .+)?$")


@pytest.mark.parametrize("name", FEATURES)
def test_every_line_is_a_state_an_arrow_or_a_brace(name: str) -> None:
    image = compiled(FEATURES[name])
    first, hide, title, *lines, last = plantuml.render(image).splitlines()
    assert (first, hide, last) == ("@startuml", "hide empty description", "@enduml")
    assert title.startswith("title ")
    states = [match for line in lines if (match := STATE.match(line))]
    arrows = [match for line in lines if (match := ARROW.match(line))]
    closing = [line for line in lines if line.strip() == "}"]
    assert len(states) + len(arrows) + len(closing) == len(lines)
    assert len(closing) == sum(match[3] is not None for match in states)
    picture = diagram.make(image)
    named = [match[1] for match in states]
    assert sorted(named) == sorted([*(n.id for n in picture.nodes), *(b.id for b in picture.boxes)])
    assert len(arrows) == len(picture.arrows)
    assert {m[1] for m in arrows} | {m[3] for m in arrows} <= {*named, "[*]"}


def test_a_text_cannot_end_its_quotes_or_begin_markup() -> None:
    said = '"x" <b>**bold**</b> \\n // -- {'
    config = loadout({"a": {**socket(), "materia": "T"}}, materia={"T": {"command": ["echo", said]}})
    [line] = [line for line in plantuml.render(compiled(config)).splitlines() if "runs" in line]
    assert STATE.match(line)
    text = line.split('"')[1]
    assert not re.search(r"[<>*/{}]|--", re.sub(r"<U\+[0-9A-F]{4}>", "", text))
    assert text.count("\\") == text.count("\\n") == line.count("\\n")
