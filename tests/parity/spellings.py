"""Reading the language of our own, and telling whether two values are the same."""

from __future__ import annotations

import json
from typing import Any

from materiac import dsl_text
from materiac.source import Source


def read(text: str) -> Any:
    document, findings = dsl_text.read(Source("x.materia", text))
    assert document is not None, (findings, text)
    return document.data


def same(one: Any, other: Any) -> bool:
    """Equal, and of equal kinds: true is not 1, and 2.0 is not 2."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
