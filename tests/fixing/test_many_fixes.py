"""Many fixes of one file are made from few readings of it, also where some of them do not hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from samples import AGENT, Json

from materiac.cli.loading import bundled
from materiac.diagnostic import Fix, Insertion, Located, Removal
from materiac.fixing import text_edits, together
from materiac.fixing.pieces import edited
from materiac.fixing.rounds import Mended, mend
from materiac.pipeline import Text, check
from materiac.source import Language, Source

MANY = 400
BELOW = bundled()
LOOKS = 12
"""More looks than this are not needed, however many fixes there are."""


def sockets(**fields: Any) -> Json:
    return {
        f"s{index}": {**fields, "edges": [{"to": f"s{index + 1}" if index + 1 < MANY else "end"}]}
        for index in range(MANY)
    }


def in_dsl(edge: str) -> str:
    lines = [f"  s{index}: M\n    -> {to}\n    {edge}\n" for index, to in enumerate(targets())]
    return f'loadout L {{\n  entry s0\n{"".join(lines)}}}\nmateria M {{ prompt "x" }}\n'


def targets() -> list[str]:
    return [*(f"s{index}" for index in range(1, MANY)), "end"]


def loadout(data: Json) -> Json:
    return {"loadouts": {"L": {"entry": "s0", "sockets": data}}, "materia": {"M": AGENT}}


EARLY: Json = {"pipeline": {"entry": "s0", "sockets": sockets(prompt="x")}}


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        pytest.param(json.dumps(EARLY, indent=2), "json", MANY + 1, id="early sockets"),
        pytest.param(json.dumps(EARLY), "json", MANY + 1, id="early sockets on one line"),
        pytest.param(
            json.dumps(
                {
                    "loadouts": {
                        f"L{i}": {"entry": "s", "sockets": {"s": {"prompt": "x"}}} for i in range(MANY)
                    }
                }
            ),
            "json",
            MANY,
            id="sockets of one name that have nothing else",
        ),
        pytest.param(
            json.dumps(loadout(sockets(materia="M", type="agent", central=1)), indent=1),
            "json",
            2 * MANY,
            id="keys that stand side by side",
        ),
        pytest.param(
            json.dumps(loadout({"s0": {"materia": "M", "edges": [{"to": to} for to in ["end"] * MANY]}})),
            "json",
            MANY - 1,
            id="entries of one list",
        ),
        pytest.param(in_dsl("-> s0 max 2"), "dsl", MANY, id="edges in the DSL"),
        pytest.param(
            in_dsl("# materiac: ignore[case-clash] why\n    -> s0 max 2"),
            "dsl",
            MANY,
            id="edges in the DSL with directives above",
        ),
        pytest.param(
            in_dsl("-> s0 max 2  # materiac: ignore[case-clash] why"),
            "dsl",
            MANY,
            id="edges in the DSL with directives",
        ),
    ],
)
def test_many_fixes(text: str, language: Language, count: int) -> None:
    result, looks = mended(Source(f"x.{language}", text, language))
    assert (len(result.mended), result.left_out) == (count, ())
    assert looks <= LOOKS


def mended(source: Source) -> tuple[Mended, int]:
    looks = 0

    def look(text: str) -> Sequence[Located]:
        nonlocal looks
        looks += 1
        return check([*BELOW, Text(source.name, text.encode(), language=source.language)])

    return mend(source, look, unsafe=False), looks


def test_new_materia_come_in_the_order_of_their_sockets() -> None:
    result, _ = mended(Source("x.json", json.dumps(EARLY)))
    assert list(json.loads(result.text)["materia"]) == list(EARLY["pipeline"]["sockets"])


@pytest.mark.parametrize(
    ("fixes", "holds"),
    [
        pytest.param([Fix("", (Removal(("a", 0)),)), Fix("", (Removal(("a", 1)),))], True, id="of one list"),
        pytest.param([Fix("", (Removal(("a", 0)),)), Fix("", (Removal(("b",)),))], True, id="apart"),
        pytest.param([Fix("", (Removal(("b",)),)), Fix("", (Removal(("b",)),))], False, id="twice the same"),
        pytest.param(
            [Fix("", (Insertion((), 1, "c"),)), Fix("", (Insertion((), 2, "c"),))], False, id="one key twice"
        ),
    ],
)
def test_fixes_hold_together_where_the_text_says_what_they_say(fixes: Sequence[Fix], holds: bool) -> None:
    source = Source("x", '{"a": [1, 2, 3], "b": 4}')
    edits = sorted((edit for fix in fixes for edit in text_edits(source, fix) or ()), key=together.place)
    assert together.hold(source, fixes, edited(source.text, edits)) is holds
