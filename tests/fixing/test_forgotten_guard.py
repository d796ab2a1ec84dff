"""An edge before a guarded one, of which nobody has said what it is for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from samples import loadout, socket

from materiac import pipeline
from materiac.diagnostic import Located
from materiac.fixing.rounds import mend
from materiac.source import Source

Edges = list[dict[str, Any]]
BACK = {"when": "not_satisfied", "to": "write", "maxTraversals": 2}


def mended(edges: Edges, *, unsafe: bool) -> Edges:
    """The edges of a socket behind the fixes."""
    config = loadout({"write": socket(edges=[{"to": "look"}]), "look": socket(parse="json", edges=edges)})

    def look(text: str) -> Sequence[Located]:
        return pipeline.check([pipeline.Text("x.json", text.encode())])

    text = mend(Source("x.json", json.dumps(config)), look, unsafe=unsafe).text
    found: Edges = json.loads(text)["loadouts"]["L"]["sockets"]["look"]["edges"]
    return found


@pytest.mark.parametrize(
    ("edges", "after"),
    [
        ([{"to": "end"}, BACK], [{"to": "end", "when": "satisfied"}, BACK]),
        (
            [{"to": "write", "maxTraversals": 2}, {"when": "satisfied", "to": "end"}],
            [
                {"to": "write", "maxTraversals": 2, "when": "not_satisfied"},
                {"when": "satisfied", "to": "end"},
            ],
        ),
    ],
    ids=["satisfied", "not-satisfied"],
)
def test_it_gets_the_other_guard_where_that_may_be_guessed(edges: Edges, after: Edges) -> None:
    assert mended(edges, unsafe=False) == edges
    assert mended(edges, unsafe=True) == after


@pytest.mark.parametrize(
    "edges",
    [
        [{"when": "always", "to": "end"}, BACK],
        [{"when": "satisfied", "to": "end"}, {"to": "end"}, BACK],
        [{"to": "end"}, {"to": "write"}],
    ],
    ids=["always-is-said", "the-other-guard-is-there", "no-guard"],
)
def test_else_the_edge_that_is_never_taken_goes(edges: Edges) -> None:
    assert mended(edges, unsafe=False) == edges[:-1]
