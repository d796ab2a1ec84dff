"""What pieces of the DSL on the pages stand for: each is read inside of what it is a piece of."""

from __future__ import annotations

from typing import Any, Final

from materiac import dsl_text
from materiac.source import Source

WRAPPERS: Final = {
    "file": ("{}", ()),
    "loadout": ("loadout L {{ {} }}", ("loadouts", "L")),
    "socket": ("loadout L {{ a: A {} }}", ("loadouts", "L", "sockets", "a")),
    "loop": ("loadout L {{ a: A loop w (a) {{ {} }} }}", ("loadouts", "L", "loops", "w")),
    "materia": ("materia M {{ {} }}", ("materia", "M")),
}
"""What each piece may be a piece of: the text around it, and where in the file its value is."""


def dsl_value(text: str, part: str) -> Any:
    """The value of the file, or of the other `part`, that a text is all of; a text that is wrong fails."""
    around, way = WRAPPERS[part]
    document, findings = dsl_text.read(Source("piece.materia", around.format(f"\n{text}\n")))
    assert document is not None, [finding.message for finding in findings]
    value = document.data
    for key in way:
        value = value[key]
    return value


def dsl_values(text: str) -> list[Any]:
    """The values of all parts that a text can be a piece of."""
    values = []
    for part in WRAPPERS:
        try:
            values.append(dsl_value(text, part))
        except AssertionError:
            continue
    return values
