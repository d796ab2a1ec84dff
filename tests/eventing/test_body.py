from __future__ import annotations

import json
from typing import Any

import pytest

from materiac.eventing.body import encoded

EVENT = {"id": "c:1", "type": "a.b", "message": "hi {{type}}", "payload": {"n": [1, 2.5]}, "n": 7}

FORMS: dict[str, tuple[Any, Any]] = {
    "none": (None, EVENT),
    "nothing": ({}, {}),
    "a text": ({"text": "{{type}}: {{ message }}"}, {"text": "a.b: hi {{type}}"}),
    "a value of its own type": ({"p": "{{payload}}", "n": "{{ n }}"}, {"p": EVENT["payload"], "n": 7}),
    "an entry of a list": ({"x": "{{payload.n.1}}"}, {"x": 2.5}),
    "a value in a text": ({"x": "is {{n}}"}, {"x": "is 7"}),
    "what this event lacks": ({"x": "{{source}}", "y": "by {{source}}"}, {"x": None, "y": "by "}),
    "what no event has": ({"x": "{{wibble}}", "y": "a {{wibble}}"}, {"x": "{{wibble}}", "y": "a {{wibble}}"}),
    "braces as they are": ({"x": r"\{{type}}"}, {"x": "{{type}}"}),
    "below others": ({"a": [{"b": "{{type}}"}, 1, None]}, {"a": [{"b": "a.b"}, 1, None]}),
}


@pytest.mark.parametrize(("form", "body"), FORMS.values(), ids=FORMS)
def test_a_body(form: Any, body: Any) -> None:
    assert json.loads(encoded(EVENT, form)) == body


def test_a_body_is_utf8() -> None:
    assert encoded({"message": "ü \ud800"}, None) == b'{"message":"\xc3\xbc \\ud800"}'
